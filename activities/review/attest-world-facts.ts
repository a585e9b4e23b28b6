import type { JsonObject, JsonValue } from '../../policy/contracts/canonical-json';
import { MAX_EVIDENCE_REFS, type ValidatorResult } from '../../policy/contracts/finding';
import { CIRCUIT_OPEN } from '../../policy/decide/breaker-samples';
import { errorResult } from '../../policy/decide/findings';
import type { Plan, PlanValidator } from '../../policy/contracts/plan';
import { givenToWorldFact } from '../../policy/evidence/attested-given';
import type { Ledger, LedgerEntry, StandingReject } from '../../policy/evidence/ledger-port';
import { attest, type Attestor } from '../attestation';
import type { ChangeRef } from '../review-types';
import { MAX_REASON_LENGTH } from '../../policy/contracts/limits';
import { cutText } from '../../policy/text/cut-text';

/** State of the circuit breaker of one validator, as read from its workflow. */
export interface BreakerReading {
  readonly key: string;
  readonly open: boolean;
  /** Evidence references of the reviews that opened it; at least one if it is open. */
  readonly samples: readonly string[];
}

/**
 * Attempts to read the breakers before a change is opened without them. With the retry policy of the opening and the reader's
 * timeout they take half a minute, which is longer than a Temporal server routes queries to a worker that died.
 */
export const BREAKER_ATTEMPTS = 6;

/**
 * Reads the circuit breakers of the plan's validators for (tenant, sourceTool). May let this change pass as the probe of a
 * half-open breaker, with the same result for each retry. An absent breaker is closed; throws a retryable error if the breakers
 * cannot be reached. Null if none are configured.
 */
export type ReadBreakers =
  ((ref: ChangeRef, validatorIds: readonly string[]) => Promise<readonly BreakerReading[]>) | null;

export interface WorldFactsDeps {
  readonly ledger: Pick<Ledger, 'rejectedInputs'>;
  readonly attestor: Attestor;
  readonly readBreakers: ReadBreakers;
  /** Number of the current attempt of the opening, from 1. */
  readonly attempt: () => number;
}

export interface WorldFacts {
  readonly results: Readonly<Record<string, ValidatorResult>>;
  readonly rows: readonly LedgerEntry[];
}

/** Evaluates and signs the attested built-ins: earlier rejects from the ledger, and the circuit breakers. */
export async function attestWorldFacts(
  deps: WorldFactsDeps,
  plan: Plan,
  ref: ChangeRef,
  at: string,
): Promise<WorldFacts> {
  const results: Record<string, ValidatorResult> = {};
  const rows: LedgerEntry[] = [];
  for (const validator of plan.validators) {
    if (validator.kind !== 'attested' || validator.unit !== 'builtin') continue;
    const { kind, result, record } = await read(deps, plan, validator, ref);
    results[validator.id] = result;
    const attestation = {
      kind,
      subject: validator.id,
      logicHash: validator.logic_hash,
      stagingSha: null,
      given: givenToWorldFact(ref),
      result: result as unknown as JsonValue,
      record,
    };
    rows.push(attest(deps.attestor, ref, attestation, at));
  }
  return { results, rows };
}

async function read(
  deps: WorldFactsDeps,
  plan: Plan,
  validator: PlanValidator,
  ref: ChangeRef,
): Promise<{ kind: 'previously_rejected' | 'breaker'; result: ValidatorResult; record: JsonObject }> {
  switch (validator.implementation) {
    case 'previously_rejected': {
      const rejects = await deps.ledger.rejectedInputs({ inputSha: ref.inputSha, factsSha: null }, ref.changeId);
      return {
        kind: 'previously_rejected',
        result: rejectedResult(validator.id, rejects),
        record: { rejects: rejects.map((r) => ({ ...r })) },
      };
    }
    case 'circuit_open': {
      const open = await openBreakers(deps, plan, ref);
      return {
        kind: 'breaker',
        result: open === 'unread' ? unreadResult(validator.id, ref) : breakerResult(validator.id, open),
        record: { open: open === 'unread' ? null : open.map((b) => ({ key: b.key, samples: [...b.samples] })) },
      };
    }
    default:
      throw new TypeError(`${validator.id}: this worker cannot attest "${validator.implementation}"`);
  }
}

/** After the last attempt the opening proceeds without the breakers, and a person must confirm, instead of waiting forever. */
async function openBreakers(
  { readBreakers, attempt }: WorldFactsDeps,
  plan: Plan,
  ref: ChangeRef,
): Promise<readonly BreakerReading[] | 'unread'> {
  if (readBreakers === null) return [];
  try {
    return (await readBreakers(ref, sampledIds(plan))).filter((b) => b.open);
  } catch (error) {
    if (attempt() < BREAKER_ATTEMPTS) throw error;
    return 'unread';
  }
}

function unreadResult(validatorId: string, { changeId }: ChangeRef): ValidatorResult {
  return errorResult(validatorId, changeId, {
    errorClass: 'ErrValidatorBackend',
    reason: `The circuit breakers did not answer in ${BREAKER_ATTEMPTS} attempts, so it is unknown whether one is open`,
    reasonCode: 'breakers_unread',
    reproducible: false,
  });
}

function rejectedResult(validatorId: string, rejects: readonly StandingReject[]): ValidatorResult {
  if (rejects.length === 0) return { validator_id: validatorId, status: 'ALLOW', reason: '', evidenceRefs: [] };
  return {
    validator_id: validatorId,
    status: 'BLOCK',
    reason: `The same change was rejected ${rejects.length === 1 ? 'before' : `${rejects.length} times before`}, last at ${rejects[0]?.at ?? ''}`,
    reasonCode: 'previously_rejected',
    evidenceRefs: rejects.map((r) => `review:${r.changeId}`),
  };
}

function breakerResult(validatorId: string, open: readonly BreakerReading[]): ValidatorResult {
  if (open.length === 0) return { validator_id: validatorId, status: 'ALLOW', reason: '', evidenceRefs: [] };
  return {
    validator_id: validatorId,
    status: 'BLOCK',
    reason: cutText(`The circuit breaker is open: ${open.map((b) => b.key).join(', ')}`, MAX_REASON_LENGTH),
    reasonCode: 'circuit_open',
    evidenceRefs: [...new Set(open.flatMap((b) => b.samples))].slice(0, MAX_EVIDENCE_REFS),
  };
}

function sampledIds(plan: Plan): string[] {
  return plan.validators.map((v) => v.id).filter((id) => id !== CIRCUIT_OPEN);
}

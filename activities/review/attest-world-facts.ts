import type { JsonObject, JsonValue } from '../../policy/contracts/canonical-json';
import type { ValidatorResult } from '../../policy/contracts/finding';
import { MAX_EVIDENCE_REFS, MAX_REASON_LENGTH } from '../../policy/contracts/limits';
import { CIRCUIT_OPEN } from '../../policy/decide/breaker-samples';
import type { Plan, PlanValidator } from '../../policy/contracts/plan';
import { givenToWorldFact } from '../../policy/evidence/attested-given';
import type { Ledger, LedgerEntry, StandingReject } from '../../policy/evidence/ledger-port';
import type { Blocked, BreakerStore } from '../../storage/breakers/breakers';
import { attest, type Attestor } from '../attestation';
import type { OpenedChange } from './opened-change';
import { cutText } from '../../policy/text/cut-text';

export interface WorldFactsDeps {
  readonly ledger: Pick<Ledger, 'rejectedInputs'>;
  readonly attestor: Attestor;
  /** Null: circuit breakers are off. */
  readonly breakers: Pick<BreakerStore, 'pass'> | null;
}

/** `factsSha`: null if the facts could not be read. */
type OpenedRef = OpenedChange & { readonly factsSha: string | null };

interface WorldFacts {
  readonly results: Readonly<Record<string, ValidatorResult>>;
  readonly rows: readonly LedgerEntry[];
}

/** Evaluates and signs the attested built-ins: earlier rejects from the ledger, and the circuit breakers. */
export async function attestWorldFacts(
  deps: WorldFactsDeps,
  plan: Plan,
  ref: OpenedRef,
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
  ref: OpenedRef,
): Promise<{ kind: 'previously_rejected' | 'breaker'; result: ValidatorResult; record: JsonObject }> {
  switch (validator.implementation) {
    case 'previously_rejected': {
      const rejects = await deps.ledger.rejectedInputs(ref, ref.changeId);
      return {
        kind: 'previously_rejected',
        result: rejectedResult(validator.id, rejects),
        record: { rejects: rejects.map((r) => ({ ...r })) },
      };
    }
    case 'circuit_open': {
      const blocked = deps.breakers === null ? [] : await deps.breakers.pass(ref, ref.changeId, sampledIds(plan));
      return {
        kind: 'breaker',
        result: breakerResult(validator.id, ref, blocked),
        record: { open: blocked === 'unknown' ? null : blocked.map((b) => ({ ...b, evidence: [...b.evidence] })) },
      };
    }
    default:
      throw new TypeError(`${validator.id}: this worker cannot attest "${validator.implementation}"`);
  }
}

function rejectedResult(validatorId: string, rejects: readonly StandingReject[]): ValidatorResult {
  if (rejects.length === 0) return { validator_id: validatorId, status: 'ALLOW', reason: '', evidenceRefs: [] };
  // A review can have several rejects, one for each violation.
  const reviews = [...new Set(rejects.map(({ changeId }) => changeId))];
  return {
    validator_id: validatorId,
    status: 'BLOCK',
    reason: `The same change was rejected ${reviews.length === 1 ? 'before' : `in ${reviews.length} reviews before`}, last at ${rejects[0]?.at ?? ''}`,
    reasonCode: 'previously_rejected',
    evidenceRefs: reviews.map((id) => `review:${id}`),
  };
}

/** No text of a row reaches the result: validator ids are those of the plan, change ids are hashes. */
function breakerResult(
  validatorId: string,
  { changeId, tenant, sourceTool }: OpenedChange,
  blocked: Blocked,
): ValidatorResult {
  if (blocked.length === 0) return { validator_id: validatorId, status: 'ALLOW', reason: '', evidenceRefs: [] };
  const pair = `${tenant}/${sourceTool}`;
  const own = [`review:${changeId}`];
  if (blocked === 'unknown')
    return {
      validator_id: validatorId,
      status: 'BLOCK',
      reason: `The circuit breakers of ${pair} have a row that cannot be read, so all of them count as open until an operator resets them`,
      reasonCode: 'breakers_unreadable',
      evidenceRefs: own,
    };
  const refs = [...new Set(blocked.flatMap((b) => b.evidence.map((id) => `review:${id}`)))].slice(0, MAX_EVIDENCE_REFS);
  return {
    validator_id: validatorId,
    status: 'BLOCK',
    reason: cutText(
      `The circuit breaker is open: ${blocked.map((b) => `${pair}/${b.validatorId}`).join(', ')}`,
      MAX_REASON_LENGTH,
    ),
    reasonCode: 'circuit_open',
    evidenceRefs: refs.length === 0 ? own : refs,
  };
}

function sampledIds(plan: Plan): string[] {
  return plan.validators.map((v) => v.id).filter((id) => id !== CIRCUIT_OPEN);
}

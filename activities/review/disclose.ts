import { isStatic } from '../../policy/contracts/readings';
import {
  canonicalJson,
  canonicalJsonOrNull,
  type JsonObject,
  type JsonValue,
} from '../../policy/contracts/canonical-json';
import type { ValidatorFinding } from '../../policy/contracts/finding';
import type { Plan, PlanValidator } from '../../policy/contracts/plan';
import { StagingRecord } from '../../policy/contracts/staging-record';
import { z } from 'zod';
import { invalid, misconfigured } from '../../policy/contracts/failure';
import type { LedgerRow } from '../../policy/contracts/ledger';
import type { PolicyCallbackResult } from '../../policy/contracts/violation';
import { isHardBlock, type RawOutcome } from '../../policy/decide/findings';
import {
  buildViolations,
  callbackKey,
  cardinalityOf,
  fingerprintOf,
  matchPolicies,
  type TriggeredPolicy,
} from '../../policy/decide/violations';
import { givenToCallback } from '../../policy/evidence/attested-given';
import type { ByteStore } from '../../policy/evidence/byte-store';
import type { StoredRow } from '../../policy/evidence/chain';
import type { KeyRegistry } from '../../policy/evidence/key-registry';
import type { Ledger, LedgerEntry } from '../../policy/evidence/ledger-port';
import { writeDisclosed, DisclosedRow } from '../../policy/evidence/disclosed-findings';
import { findingsToDisclose } from '../../policy/evidence/recorded-findings';
import { evaluateCallback, type CallbackRegistry } from '../../policy/rules/callback';
import { outcomesWithoutRow } from '../../signing/verify-review/outcomes-without-row';
import { attest, type UsableAttestor } from '../attestation';
import { loadDiff } from './derivation';
import { readInput } from '../inputs';
import { requesterIn, rowOf } from '../rows';
import { assertPlanOf, isEnding, openedChange, type OpenedChange } from './opened-change';
import { recordRefusal } from './refused-entry';
import { readFacts, type DerivationDeps } from './derive';
import { whoCanAnswer, type Answerers } from './who-can-answer';
import type { WithChangeLock } from '../../storage/ledger/with-change-lock';
import type { PlanSource } from '../../storage/plans/plan-source';
import type { Disclosed, ReviewActivities } from '../review-types';

export interface DisclosureDeps extends DerivationDeps {
  readonly store: ByteStore;
  readonly ledger: Ledger;
  readonly withChangeLock: WithChangeLock;
  readonly plans: PlanSource;
  readonly callbacks: CallbackRegistry;
  readonly keys: KeyRegistry;
  readonly attestor: UsableAttestor;
  readonly now: () => Date;
  /** The clock of the database, with which deadlines begin. */
  readonly databaseNow: () => Promise<Date>;
}

/**
 * Reads the findings from the rows of the change, runs the callbacks, builds the violations and records what approvers will be
 * shown: findings, callback results and fingerprint. Idempotent: a retry returns the row that was written first and runs no callback,
 * so that all approvers see the same disclosure and no later result contradicts it.
 */
export function createDisclosureActivities(deps: DisclosureDeps): Pick<ReviewActivities, 'disclose'> {
  return {
    async disclose(input) {
      const asked = readInput('disclose', input);
      const { changeId, stagingSha } = asked;
      const rows = await deps.ledger.read(changeId);
      const change = openedChange(changeId, rows);
      if (isEnding(rows))
        throw await recordRefusal(
          deps,
          changeId,
          { check: 'disclose: ended', of: asked },
          invalid('changeId', 'a change that is open', changeId, 'It ends or has ended, so nothing is disclosed'),
        );
      const { plan } = await deps.plans.byHash(change.planHash);
      assertPlanOf(change, plan);
      const unrecorded = possibleWithoutRow(plan, changeId, asked.unrecorded);
      const findings = findingsToDisclose({ plan, changeId, rows: rows.map(({ row }) => row) }, stagingSha, unrecorded);
      const forbidding = findings.find(isHardBlock);
      if (forbidding !== undefined)
        throw await recordRefusal(
          deps,
          changeId,
          { check: 'disclose: findings', of: asked },
          invalid(
            'changeId',
            'a change with all findings and without a SAFETY BLOCK',
            forbidding.validator_id,
            'No person can confirm it',
          ),
        );
      const first = rowOf(rows, 'disclosed');
      if (first !== undefined) return toDisclosed(first, await whoCanAnswer(deps.keys, plan, change.tenant));
      const triggered = matchPolicies(plan, findings, cardinalityOf(stagedIn(rows, stagingSha)));
      return recordDisclosure(deps, plan, { ...change, stagingSha, requester: requesterIn(rows), findings, triggered });
    },
  };
}

/** The outcomes that a workflow may give a validator without a row. All others are ignored: that validator then has no result. */
function possibleWithoutRow(plan: Plan, changeId: string, said: unknown): Record<string, RawOutcome> {
  const outcomes = new Map(Object.entries(typeof said === 'object' && said !== null ? said : {}));
  const possible = plan.validators.flatMap((validator): (readonly [string, RawOutcome])[] => {
    const outcome: unknown = outcomes.get(validator.id);
    if (outcome === undefined) return [];
    const text = canonicalJsonOrNull(outcome);
    if (text === null) return [];
    const known = possibleOutcomes(plan, validator, changeId, outcome).find((other) => canonicalJson(other) === text);
    return known === undefined ? [] : [[validator.id, known]];
  });
  return Object.fromEntries(possible);
}

/** Validators of the dry run have rows: the committer writes them with the row of the dry run itself. */
function possibleOutcomes(plan: Plan, validator: PlanValidator, changeId: string, said: unknown): RawOutcome[] {
  if (validator.kind === 'derived' && !isStatic(validator)) return [];
  return outcomesWithoutRow(plan, validator, changeId, JudgeSaid.safeParse(said).data?.result);
}

const JudgeSaid = z.object({ result: z.unknown() });

/** The record of the dry run that the findings are on. */
function stagedIn(rows: readonly StoredRow[], stagingSha: string | null): StagingRecord | null {
  const staged = rows.find(({ row }) => row.kind === 'staged' && row.body['stagingSha'] === stagingSha);
  return StagingRecord.safeParse(staged?.row.body['record']).data ?? null;
}

/** What is disclosed of a change. */
export interface DisclosureInput extends OpenedChange {
  readonly stagingSha: string | null;
  readonly requester: string | null;
  readonly findings: readonly ValidatorFinding[];
  readonly triggered: readonly TriggeredPolicy[];
}

/**
 * Runs the callbacks and writes the row `disclosed`, or returns what the first one says. Attempts can overlap: a local activity that
 * takes too long is repeated while it runs. Only the results of the attempt that discloses become records: one from another attempt
 * would contradict what approvers are shown.
 */
export async function recordDisclosure(deps: DisclosureDeps, plan: Plan, input: DisclosureInput): Promise<Disclosed> {
  const { changeId } = input;
  const { results, rows } = await runCallbacks(deps, plan, input);
  const answerers = await whoCanAnswer(deps.keys, plan, input.tenant);
  const now = await deps.databaseNow();
  const at = now.toISOString();
  const violations = buildViolations({ ...input, plan, callbackResults: results });
  const pending = violations.filter((v) => v.need === 'human');
  const deadlineMs = Math.min(...pending.map((v) => v.deadlineMs));
  const body = {
    findings: writeDisclosed(plan, input.findings),
    callbackResults: results,
    violations,
    fingerprint: fingerprintOf(input, input.findings, results, violations),
    stagingSha: input.stagingSha,
    reachable: answerers.reachable,
  };
  const disclosed: LedgerEntry = { kind: 'disclosed', at, factKey: 'disclosed', body: body as unknown as JsonObject };
  const append = async (ledger: Ledger): Promise<LedgerRow | undefined> => {
    const appended = await ledger.append(changeId, [...rows, disclosed], {
      state: 'INTERVENTION_REQUIRED',
      pending: pending.length,
      highestSeverity: input.findings.some((f) => f.status === 'BLOCK') ? 'BLOCK' : 'WARN',
      deadlineAt: pending.length === 0 ? null : new Date(now.getTime() + deadlineMs).toISOString(),
    });
    return appended.at(-1)?.stored?.row;
  };
  const row =
    rows.length === 0
      ? await append(deps.ledger) // its fact key is enough
      : await deps.withChangeLock(
          changeId,
          async (ledger) => rowOf(await ledger.readKinds(changeId, ['disclosed']), 'disclosed') ?? append(ledger),
        );
  return toDisclosed(row ?? disclosed, answerers);
}

function toDisclosed({ body, at }: Pick<LedgerEntry, 'body' | 'at'>, { keyOwners }: Answerers): Disclosed {
  const { callbackResults, fingerprint, reachable } = disclosedOf(body);
  return { callbackResults, fingerprint, disclosedAt: at, reachable, keyOwners };
}

/** What the row says. Fails with CONFIGURATION_ERROR, not retried, if it is not a row that this activity wrote. */
function disclosedOf(body: unknown): z.infer<typeof DisclosedRow> {
  const parsed = DisclosedRow.safeParse(body);
  if (parsed.success) return parsed.data;
  throw misconfigured('The row `disclosed` of this change cannot be read; submit the change again');
}

/**
 * Runs all callbacks at once, regardless of the results of the others. Each result becomes an attested record. In turn, a few that hang
 * would take longer than an attempt of the activity may.
 */
async function runCallbacks(
  deps: DisclosureDeps,
  plan: Plan,
  input: DisclosureInput,
): Promise<{ results: Record<string, PolicyCallbackResult>; rows: LedgerEntry[] }> {
  const calling = input.triggered.filter((t) => t.callback !== null);
  if (calling.length === 0) return { results: {}, rows: [] };
  const attestor = await deps.attestor();
  const at = (await deps.databaseNow()).toISOString();
  const facts = await readFacts(deps, await loadDiff(deps.store, deps.tools, input));
  const called = calling.map(async (triggered) => {
    const policy = plan.policies.find((p) => p.key === triggered.policyKey);
    const finding = input.findings[triggered.findingIndex];
    const validator = plan.validators[triggered.findingIndex];
    if (policy === undefined || policy.callback === null || finding === undefined || validator === undefined) return [];
    const { callback } = policy;
    const context = {
      finding,
      policy,
      facts,
      metadata: input.metadata,
      requester: input.requester,
      tenant: input.tenant,
      target: input.target,
      sourceTool: input.sourceTool,
    };
    const result = await callInTime((timeout) => evaluateCallback(deps.callbacks, callback, context, timeout));
    const key = callbackKey(triggered);
    const attestation = {
      kind: 'callback' as const,
      subject: key,
      logicHash: validator.logic_hash,
      stagingSha: input.stagingSha,
      given: givenToCallback(finding, triggered, input.inputSha),
      result: result as unknown as JsonValue,
    };
    return [{ key, result, row: attest(attestor, input, attestation, at) }];
  });
  const all = (await Promise.all(called)).flat();
  return { results: Object.fromEntries(all.map(({ key, result }) => [key, result])), rows: all.map(({ row }) => row) };
}

/** All callbacks have this time together. With reads and the append it must be less than one attempt may take (`patient`, proxies.ts). */
const CALLBACK_MS = 10_000;

/** A callback that hangs is treated as unevaluable after CALLBACK_MS. */
async function callInTime<T>(call: (timeout: Promise<void>) => Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<void>((resolve) => (timer = setTimeout(resolve, CALLBACK_MS)));
  try {
    return await call(timeout);
  } finally {
    clearTimeout(timer);
  }
}

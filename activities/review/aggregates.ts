import type { PlanValidator, Plan } from '../../policy/contracts/plan';
import type { LedgerReader, Ledger, LedgerEntry } from '../../policy/evidence/ledger-port';
import {
  sumChanges,
  UNCOUNTED_REASONS,
  windowStart,
  aggregateResult,
  type AggregateRecord,
  type SummedChange,
} from '../../policy/rules/aggregate/aggregate';
import { AggregateConfig, MAX_COUNTED } from '../../policy/rules/aggregate/config';
import { misconfigured } from '../../policy/contracts/failure';
import { isAggregate } from '../../policy/contracts/readings';
import type { JsonObject, JsonValue } from '../../policy/contracts/canonical-json';
import type { ValidatorResult } from '../../policy/contracts/finding';
import { givenToAggregate } from '../../policy/evidence/attested-given';
import type { Measure } from '../../policy/rules/aggregate/measure';
import { attest, type Attestor } from '../attestation';
import type { OpenedChange } from './opened-change';

/** Fails with CONFIGURATION_ERROR, not retried, if the plan was compiled with another version of the schema. */
export function aggregateConfigOf(validator: PlanValidator): AggregateConfig {
  const parsed = AggregateConfig.safeParse(validator.config);
  if (parsed.success) return parsed.data;
  throw misconfigured(
    `${validator.id}: its settings are not valid for a limit over many changes in this version; compile the policy again`,
  );
}

/**
 * The sum of a change and the changes before it, read from the ledger. `supersedes`: an open change that this one replaces and
 * that is therefore not counted; the committer checks that it has ended. Throws STORE_UNAVAILABLE, retryable.
 */
export async function readAggregateRecord(
  ledger: Pick<LedgerReader, 'openedBefore'>,
  changeId: string,
  config: AggregateConfig,
  change: SummedChange,
  supersedes: string | null,
): Promise<AggregateRecord> {
  const { tenant, target, sourceTool, requester, openedAt } = change;
  const by = new Set(config.by);
  const others = await ledger.openedBefore({
    changeId,
    tenant: by.has('tenant') ? tenant : null,
    target: by.has('target') ? target : null,
    sourceTool: by.has('sourceTool') ? sourceTool : null,
    requester: by.has('agent') ? requester : null,
    unknownOnlyCommitted: requester !== null,
    since: windowStart(config, openedAt),
    except: UNCOUNTED_REASONS,
    // One more than MAX_COUNTED shows that there are more, and the superseded change may be among them.
    limit: MAX_COUNTED + 2,
  });
  return sumChanges(
    change,
    config,
    others.filter((other) => other.changeId !== supersedes || other.state !== null),
  );
}

interface AggregateDeps {
  /** Must belong to the transaction under the advisory locks of opening-locks.ts (G1). */
  readonly ledger: Pick<Ledger, 'openedBefore' | 'readKinds'>;
  readonly attestor: Attestor;
}

/**
 * Evaluates and signs each of the plan's limits over many changes. Returns nothing if the plan has no such limit and the change
 * was therefore not measured.
 *
 * G1 Runs under the same locks as the append of the row `submitted`: of two concurrent changes, the second counts the first.
 * G2 Runs once for each change: a retry of the opening returns the results that were recorded first.
 */
export async function attestAggregates(
  { ledger, attestor }: AggregateDeps,
  plan: Plan,
  ref: OpenedChange,
  change: { readonly requester: string | null; readonly own: Measure | null; readonly supersedes: string | null },
  at: string,
): Promise<{ readonly results: Readonly<Record<string, ValidatorResult>>; readonly rows: readonly LedgerEntry[] }> {
  const { own } = change;
  if (own === null) return { results: {}, rows: [] };
  const results: Record<string, ValidatorResult> = {};
  const rows: LedgerEntry[] = [];
  const { changeId, inputSha, tenant, target, sourceTool } = ref;
  for (const validator of plan.validators.filter(isAggregate)) {
    const summed = { tenant, target, sourceTool, requester: change.requester, openedAt: at, own };
    const config = aggregateConfigOf(validator);
    const record = await readAggregateRecord(ledger, changeId, config, summed, change.supersedes);
    const result = aggregateResult(validator.id, changeId, config, record);
    results[validator.id] = result;
    const attestation = {
      kind: 'aggregate' as const,
      subject: validator.id,
      logicHash: validator.logic_hash,
      stagingSha: null,
      given: givenToAggregate({ changeId, inputSha, record }),
      result: result as unknown as JsonValue,
      record: record as unknown as JsonObject,
    };
    rows.push(attest(attestor, ref, attestation, at));
  }
  return { results, rows };
}

import type { PlanValidator } from '../../policy/contracts/plan';
import type { LedgerReader } from '../../policy/evidence/ledger-port';
import {
  sumChanges,
  UNCOUNTED_REASONS,
  windowStart,
  type AggregateRecord,
  type SummedChange,
} from '../../policy/rules/aggregate/aggregate';
import { AggregateConfig, MAX_COUNTED } from '../../policy/rules/aggregate/config';
import { misconfigured } from '../../policy/contracts/failure';

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

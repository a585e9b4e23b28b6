import type { PlanValidator } from '../../policy/contracts/plan';
import type { LedgerReader } from '../../policy/evidence/ledger-port';
import {
  addUp,
  TAKEN_BACK,
  windowStart,
  type AggregateRecord,
  type SummedChange,
} from '../../policy/rules/aggregate/aggregate';
import { AggregateConfig, MAX_COUNTED } from '../../policy/rules/aggregate/config';
import { misconfigured } from '../../policy/contracts/failure';

/** Fails with CONFIGURATION_ERROR, not retried, where the plan was compiled by another schema. */
export function configOf(validator: PlanValidator): AggregateConfig {
  const parsed = AggregateConfig.safeParse(validator.config);
  if (parsed.success) return parsed.data;
  throw misconfigured(`${validator.id}: its settings are not those of a limit over many changes here`);
}

/**
 * What a change and those before it come to, read from the ledger. `supersedes`: an open change that this one takes the place
 * of, so that the two count once; whether it has really gone, the committer asks. Throws STORE_UNAVAILABLE, retryable: a sum
 * that cannot be read is none.
 */
export async function recordFor(
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
    since: windowStart(config, openedAt),
    except: TAKEN_BACK,
    // One that says that there are more, and the superseded one.
    limit: MAX_COUNTED + 2,
  });
  return addUp(
    change,
    config,
    others.filter((other) => other.changeId !== supersedes || other.state !== null),
  );
}

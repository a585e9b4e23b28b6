import { WorkflowNotFoundError, type Client, type WorkflowHandle } from '@temporalio/client';
import { CountersignFailure } from '../policy/contracts/failure';
import type { RecordVerdicts } from '../activities/review/record-verdicts';
import type { BreakerReading, ReadBreakers } from '../activities/review/world-facts';
import { FailureType } from '../policy/contracts/failure-type';
import { BREAKER_PARAMETERS, type BreakerParameters } from '../policy/decide/breaker';
import { phaseOf, type BreakerView } from '../policy/decide/breakers';
import {
  BREAKER_WORKFLOW,
  breakerWorkflowId,
  BREAKER_MESSAGES,
  type BreakerInput,
  type BreakersReading,
  type ProbeMessage,
  type ProbeResult,
  type ReadArgument,
  type SamplesMessage,
} from '../policy/decide/breaker-messages';
import { CountersignSourceTool, CountersignTenant } from '../policy/contracts/search-attributes';

export interface TemporalBreakersDeps {
  readonly temporal: Client;
  /** The review queue: breakers run where reviews run. */
  readonly taskQueue: string;
  /** Of breakers that are started here; one that runs keeps its own. */
  readonly parameters?: BreakerParameters;
  readonly continueAfter?: number;
}

const PATIENCE_MS = 2_000;

/** Reads and feeds the breaker workflows. */
export function temporalBreakers({
  temporal,
  taskQueue,
  parameters = BREAKER_PARAMETERS,
  continueAfter,
}: TemporalBreakersDeps): {
  readonly read: NonNullable<ReadBreakers>;
  readonly record: RecordVerdicts;
} {
  const handleOf = (pair: { readonly tenant: string; readonly sourceTool: string }) =>
    temporal.workflow.getHandle(breakerWorkflowId(pair, taskQueue));
  return {
    async read({ changeId, tenant, sourceTool }, validatorIds) {
      const handle = handleOf({ tenant, sourceTool });
      const reading = await asked(temporal, handle, () =>
        handle.query<BreakersReading, [ReadArgument]>(BREAKER_MESSAGES.read, 'not_closed'),
      );
      const met = (reading?.breakers ?? []).filter((b) => validatorIds.includes(b.validatorId));
      if (met.length === 0) return [];
      const toReading = (b: BreakerView): BreakerReading => ({
        key: `${tenant}/${sourceTool}/${b.validatorId}`,
        open: true,
        samples: b.state === 'open' ? b.evidence.map((id) => `review:${id}`) : [],
      });
      const open = met.filter((b) => phaseOf(b, Date.now()) === 'open');
      if (open.length > 0) return open.map(toReading);
      // All half-open: the workflow alone says who is the probe, so that two reviews at once are not both.
      const probe = { changeId, validatorIds: met.map((b) => b.validatorId) };
      const answer = await asked(temporal, handle, () =>
        handle.executeUpdate<ProbeResult, [ProbeMessage]>(BREAKER_MESSAGES.probe, { args: [probe] }),
      );
      if (answer === null) return [];
      if (answer.code === 'malformed') throw CountersignFailure.retryable(answer.message, FailureType.Backend);
      return met.filter((b) => answer.blocked.includes(b.validatorId)).map(toReading);
    },

    async record({ changeId, tenant, sourceTool, samples }) {
      const input: BreakerInput = {
        tenant,
        sourceTool,
        parameters,
        ...(continueAfter === undefined ? {} : { continueAfter }),
      };
      await temporal.withDeadline(Date.now() + PATIENCE_MS * 2, () =>
        temporal.workflow.signalWithStart(BREAKER_WORKFLOW, {
          workflowId: breakerWorkflowId({ tenant, sourceTool }, taskQueue),
          taskQueue,
          args: [input],
          signal: BREAKER_MESSAGES.samples,
          signalArgs: [[{ changeId, samples }]] satisfies [SamplesMessage[]],
          workflowIdReusePolicy: 'ALLOW_DUPLICATE',
          workflowIdConflictPolicy: 'USE_EXISTING',
          staticSummary: `circuit breakers · ${sourceTool} of ${tenant}`,
          staticDetails:
            'One breaker for each validator. An open one adds a violation that a person answers; query `read`, update `reset`.',
          typedSearchAttributes: [
            { key: CountersignTenant, value: tenant },
            { key: CountersignSourceTool, value: sourceTool },
          ],
        }),
      );
    },
  };
}

/**
 * Null where no breaker runs under the id: no samples yet, or somebody ended it; so closed. Whatever else goes wrong is no
 * answer, and is asked again. A query may still be answered by a run that was ended: its breakers are open no longer than
 * they would have been.
 */
async function asked<T>(temporal: Client, handle: WorkflowHandle, call: () => Promise<T>): Promise<T | null> {
  try {
    return await temporal.withDeadline(Date.now() + PATIENCE_MS, call);
  } catch (error) {
    if (!(await isRunning(temporal, handle))) return null;
    const why = error instanceof Error ? error.message : String(error);
    throw CountersignFailure.retryable(`The circuit breakers cannot be read: ${why}`, FailureType.Backend);
  }
}

/** Throws, retryable, where Temporal does not say. */
async function isRunning(temporal: Client, handle: WorkflowHandle): Promise<boolean> {
  try {
    const { status } = await temporal.withDeadline(Date.now() + PATIENCE_MS, () => handle.describe());
    return status.name === 'RUNNING';
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    const why = error instanceof Error ? error.message : String(error);
    throw CountersignFailure.retryable(
      `Temporal does not say whether circuit breakers run: ${why}`,
      FailureType.Backend,
    );
  }
}

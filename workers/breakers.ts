import { WorkflowNotFoundError, type Client, type WorkflowHandle } from '@temporalio/client';
import { CountersignFailure } from '../policy/contracts/failure';
import type { RecordVerdicts } from '../activities/review/record-verdicts';
import type { BreakerReading, ReadBreakers } from '../activities/review/attest-world-facts';
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
  /** The review queue; breakers run on it too. */
  readonly taskQueue: string;
  /** For breakers that are started here; a running one keeps its parameters. */
  readonly parameters?: BreakerParameters;
  readonly continueAfter?: number;
}

const CALL_TIMEOUT_MS = 2_000;

/** Reads breaker workflows and sends them samples. */
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
      const reading = await callIfRunning(temporal, handle, () =>
        handle.query<BreakersReading, [ReadArgument]>(BREAKER_MESSAGES.read, 'not_closed'),
      );
      const relevant = (reading?.breakers ?? []).filter((b) => validatorIds.includes(b.validatorId));
      if (relevant.length === 0) return [];
      const toReading = (b: BreakerView): BreakerReading => ({
        key: `${tenant}/${sourceTool}/${b.validatorId}`,
        open: true,
        samples: b.state === 'open' ? b.evidence.map((id) => `review:${id}`) : [],
      });
      const open = relevant.filter((b) => phaseOf(b, Date.now()) === 'open');
      if (open.length > 0) return open.map(toReading);
      // All are half-open: only the workflow chooses the probe, so that two concurrent reviews cannot both be it.
      const probe = { changeId, validatorIds: relevant.map((b) => b.validatorId) };
      const answer = await callIfRunning(temporal, handle, () =>
        handle.executeUpdate<ProbeResult, [ProbeMessage]>(BREAKER_MESSAGES.probe, { args: [probe] }),
      );
      if (answer === null) return [];
      if (answer.code === 'malformed') throw CountersignFailure.retryable(answer.message, FailureType.Backend);
      return relevant.filter((b) => answer.blocked.includes(b.validatorId)).map(toReading);
    },

    async record({ changeId, tenant, sourceTool, samples }) {
      const input: BreakerInput = {
        tenant,
        sourceTool,
        parameters,
        ...(continueAfter === undefined ? {} : { continueAfter }),
      };
      await temporal.withDeadline(Date.now() + CALL_TIMEOUT_MS * 2, () =>
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
            'One breaker for each validator. An open one adds a violation that a person answers. Query `read`, update `reset`.',
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
 * Null if no breaker workflow runs under this id: there are no samples yet, or it was terminated, so all breakers are closed.
 * Any other error is thrown as retryable. A query may be answered by a run that was terminated; its breakers stay open no
 * longer than they would have.
 */
async function callIfRunning<T>(temporal: Client, handle: WorkflowHandle, call: () => Promise<T>): Promise<T | null> {
  try {
    return await temporal.withDeadline(Date.now() + CALL_TIMEOUT_MS, call);
  } catch (error) {
    if (!(await isRunning(temporal, handle))) return null;
    const why = error instanceof Error ? error.message : String(error);
    throw CountersignFailure.retryable(`The circuit breakers cannot be read: ${why}`, FailureType.Backend);
  }
}

/** Throws a retryable failure if Temporal does not answer. */
async function isRunning(temporal: Client, handle: WorkflowHandle): Promise<boolean> {
  try {
    const { status } = await temporal.withDeadline(Date.now() + CALL_TIMEOUT_MS, () => handle.describe());
    return status.name === 'RUNNING';
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    const why = error instanceof Error ? error.message : String(error);
    throw CountersignFailure.retryable(
      `Temporal did not report whether the circuit breakers run: ${why}`,
      FailureType.Backend,
    );
  }
}

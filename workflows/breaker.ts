/**
 * The circuit breakers of one tenant and source tool. A long-lived workflow: its state is in the history, never in a worker's
 * memory.
 *
 * K1 No message fails a task or the workflow: an invalid message is counted and ignored.
 * K2 It continues as new only outside of handlers, with all state.
 */
import {
  allHandlersFinished,
  ApplicationFailure,
  condition,
  continueAsNew,
  log,
  setCurrentDetails,
  setDefaultSignalHandler,
  setHandler,
  setWorkflowOptions,
  workflowInfo,
} from '@temporalio/workflow';
import { FailureType } from '../policy/contracts/failure-type';
import { fieldIssues, issuesText } from '../policy/contracts/issues';
import {
  NO_BREAKERS,
  packBreakers,
  phaseOf,
  reserveProbe,
  resetBreakers,
  addReview,
  unpackBreakers,
  viewAt,
  type Breakers,
  type PackedBreakers,
} from '../policy/decide/breakers';
import {
  BreakerInput,
  ProbeMessage,
  ResetMessage,
  SamplesMessage,
  breakerWorkflowId,
  type BreakersReading,
  type ProbeResult,
  type ResetResult,
} from '../policy/decide/breaker-messages';
import * as messages from './messages';

/** Reviews per signal. The samples of one review are never split. */
const MAX_REVIEWS = 100;
const MAX_RESETS = 5;

export async function breaker(input: BreakerInput): Promise<void> {
  const state = new BreakerState(parseInput(input));
  setHandler(messages.samplesSignal, (reviews) => state.take(reviews));
  setHandler(messages.readQuery, (which) => state.read(which));
  setHandler(messages.probeUpdate, (message) => state.probe(message));
  setHandler(messages.resetUpdate, (message) => state.reset(message));
  setDefaultSignalHandler((name) => log.warn('Ignored an unknown signal', { name }));
  state.show();
  await condition(() => isLong(state.input) && allHandlersFinished());
  await continueAsNew<typeof breaker>(state.carried());
}

// A review stays on the build it started with. A breaker lives for months and would prevent that build from draining.
// A worker without a deployment must not set this: server 1.29.1 refuses every task of such a worker.
setWorkflowOptions(
  () =>
    (workflowInfo().currentDeploymentVersion?.deploymentName ?? '') === ''
      ? {}
      : { versioningBehavior: 'AUTO_UPGRADE' },
  breaker,
);

function isLong({ continueAfter }: BreakerInput): boolean {
  const { continueAsNewSuggested, historyLength } = workflowInfo();
  return continueAsNewSuggested || (continueAfter !== undefined && historyLength >= continueAfter);
}

function parseInput(input: unknown): BreakerInput {
  const parsed = BreakerInput.safeParse(input);
  const { workflowId, taskQueue } = workflowInfo();
  if (!parsed.success)
    throw ApplicationFailure.nonRetryable(
      `Invalid workflow input: not a valid breaker input: ${issuesText(fieldIssues(parsed.error, input, 'input'))}`,
      FailureType.Validation,
    );
  const expected = breakerWorkflowId(parsed.data, taskQueue);
  if (workflowId === expected) return parsed.data;
  throw ApplicationFailure.nonRetryable(
    `workflowId: expected "${expected}", got "${workflowId}"`,
    FailureType.Validation,
  );
}

class BreakerState {
  #breakers: Breakers;
  #resets: BreakersReading['resets'];
  #ignored: number;

  constructor(readonly input: BreakerInput) {
    this.#breakers = input.carried === undefined ? NO_BREAKERS : unpack(input.carried.breakers);
    this.#resets = input.carried?.resets ?? [];
    this.#ignored = input.carried?.ignored ?? 0;
  }

  take(message: unknown): void {
    const reviews = Array.isArray(message) ? message.slice(0, MAX_REVIEWS) : [message];
    if (Array.isArray(message)) this.#ignored += message.length - reviews.length;
    for (const review of reviews) {
      const parsed = SamplesMessage.safeParse(review);
      if (parsed.success) this.#breakers = addReview(this.#breakers, parsed.data, Date.now(), this.input.parameters);
      else this.#ignored++;
    }
    this.show();
  }

  read(which: unknown): BreakersReading {
    const { tenant, sourceTool, parameters } = this.input;
    const all = viewAt(this.#breakers, Date.now(), parameters);
    const breakers = which === 'not_closed' ? all.filter((b) => b.state !== 'closed') : all;
    return { tenant, sourceTool, breakers, resets: this.#resets, ignored: this.#ignored };
  }

  probe(message: unknown): ProbeResult {
    const parsed = ProbeMessage.safeParse(message);
    if (!parsed.success) return { code: 'malformed', message: 'probe: expected {"changeId", "validatorIds": […]}' };
    const { changeId, validatorIds } = parsed.data;
    const { breakers, blocked } = reserveProbe(
      this.#breakers,
      changeId,
      validatorIds,
      Date.now(),
      this.input.parameters,
    );
    this.#breakers = breakers;
    this.show();
    return { code: 'answered', blocked };
  }

  reset(message: unknown): ResetResult {
    const parsed = ResetMessage.safeParse(message);
    if (!parsed.success)
      return {
        code: 'malformed',
        message: 'reset: expected {"validatorId": id or null, "actor": text, "reason": text}',
      };
    const { validatorId, actor, reason } = parsed.data;
    const reset = [...this.#breakers.byValidator.keys()].filter((id) => validatorId === null || id === validatorId);
    this.#breakers = resetBreakers(this.#breakers, validatorId);
    this.#resets = [{ at: Date.now(), actor, reason, validatorId }, ...this.#resets].slice(0, MAX_RESETS);
    this.show();
    return { code: 'reset', reset };
  }

  carried(): BreakerInput {
    const carried = { breakers: packBreakers(this.#breakers), resets: [...this.#resets], ignored: this.#ignored };
    return { ...this.input, carried };
  }

  /** Updates what the Temporal UI shows. It contains only ids, no text of an agent or of a message. */
  show(): void {
    const { breakers } = this.read('all');
    const open = breakers.flatMap((b) => (b.state === 'open' ? [b] : []));
    const lines = [
      `**${open.length} open** of ${breakers.length} breakers · ${this.input.sourceTool} of ${this.input.tenant}`,
    ];
    for (const b of open.slice(0, 50)) {
      const probe = phaseOf(b, Date.now()) === 'probing' ? `, probe \`${b.probe?.changeId.slice(0, 12) ?? ''}\`` : '';
      lines.push(
        `- \`${b.validatorId}\`: open since ${iso(b.since)}, half-open from ${iso(b.halfOpenAt)}${probe}; ${b.evidence.length} samples`,
      );
    }
    for (const r of this.#resets.slice(0, 1))
      lines.push('', `Last reset ${iso(r.at)}: ${r.validatorId === null ? 'all' : `\`${r.validatorId}\``}`);
    if (this.#ignored > 0) lines.push('', `⚠ ${this.#ignored} invalid messages were ignored`);
    setCurrentDetails(lines.join('\n').slice(0, 15_000));
  }
}

// Not retryable: a plain error would be retried forever, and the next samples could not start another run.
function unpack(packed: PackedBreakers): Breakers {
  try {
    return unpackBreakers(packed);
  } catch (error) {
    throw ApplicationFailure.nonRetryable(
      `The carried state is inconsistent: ${String(error)}`,
      FailureType.Validation,
    );
  }
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}

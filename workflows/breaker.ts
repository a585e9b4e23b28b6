/**
 * The breakers of one (tenant, source tool), alive as long as anybody reviews such changes (checklist, "Beyond the
 * contracts" 1). State lives in the history, never in a worker's memory.
 *
 * K1 No message fails a task or the workflow: what cannot be read is counted and ignored.
 * K2 Continues as new only outside of handlers, with all state.
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
import { issuesText, read } from '../policy/contracts/plain';
import {
  NO_BREAKERS,
  packBreakers,
  phaseOf,
  reserveProbe,
  resetBreakers,
  takeReview,
  unpackBreakers,
  viewAt,
  type Breakers,
  type PackedBreakers,
} from '../policy/decide/breakers';
import {
  readBreakerInput,
  readProbe,
  readReset,
  readSamples,
  breakerWorkflowId,
  type BreakerInput,
  type BreakersReading,
  type ProbeResult,
  type ResetResult,
} from '../policy/decide/breaker-messages';
import * as messages from './messages';

/** In one signal. A review's samples are never split. */
const MAX_REVIEWS = 100;
const MAX_RESETS = 5;

export async function breaker(input: BreakerInput): Promise<void> {
  const state = new BreakerState(parseInput(input));
  setHandler(messages.samplesSignal, (reviews) => state.take(reviews));
  setHandler(messages.readQuery, (which) => state.read(which));
  setHandler(messages.probeUpdate, (message) => state.probe(message));
  setHandler(messages.resetUpdate, (message) => state.reset(message));
  setDefaultSignalHandler((name) => log.warn('A signal that this workflow does not know was ignored', { name }));
  state.show();
  await condition(() => isLong(state.input) && allHandlersFinished());
  await continueAsNew<typeof breaker>(state.carried());
}

// A review stays on the build it began with; a breaker lives for months, and would keep that build from ever being drained.
// A worker without a deployment must not say so: the server would refuse each of its tasks.
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
  const parsed = read(readBreakerInput, input, 'input');
  const { workflowId, taskQueue } = workflowInfo();
  if (!parsed.ok)
    throw ApplicationFailure.nonRetryable(
      `The start input is no breaker's: ${issuesText(parsed.issues)}`,
      FailureType.Validation,
    );
  const expected = breakerWorkflowId(parsed.value, taskQueue);
  if (workflowId === expected) return parsed.value;
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
    this.#breakers = input.carried === undefined ? NO_BREAKERS : unpacked(input.carried.breakers);
    this.#resets = input.carried?.resets ?? [];
    this.#ignored = input.carried?.ignored ?? 0;
  }

  take(message: unknown): void {
    const reviews = Array.isArray(message) ? message.slice(0, MAX_REVIEWS) : [message];
    if (Array.isArray(message)) this.#ignored += message.length - reviews.length;
    for (const review of reviews) {
      const parsed = read(readSamples, review, 'samples');
      if (parsed.ok) this.#breakers = takeReview(this.#breakers, parsed.value, Date.now(), this.input.parameters);
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
    const parsed = read(readProbe, message, 'probe');
    if (!parsed.ok) return { code: 'malformed', message: 'probe: expected {"changeId", "validatorIds": […]}' };
    const { changeId, validatorIds } = parsed.value;
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
    const parsed = read(readReset, message, 'reset');
    if (!parsed.ok)
      return {
        code: 'malformed',
        message: 'reset: expected {"validatorId": id or null, "actor": text, "reason": text}',
      };
    const { validatorId, actor, reason } = parsed.value;
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

  /** What people see in the Temporal UI. Ids of ours only: no text of an agent, none of a message. */
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
    if (this.#ignored > 0) lines.push('', `⚠ ${this.#ignored} unreadable messages were ignored`);
    setCurrentDetails(lines.join('\n').slice(0, 15_000));
  }
}

// A plain error would be retried for ever; the next samples could not start another.
function unpacked(packed: PackedBreakers): Breakers {
  try {
    return unpackBreakers(packed);
  } catch (error) {
    throw ApplicationFailure.nonRetryable(
      `The carried state does not hold together: ${String(error)}`,
      FailureType.Validation,
    );
  }
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}

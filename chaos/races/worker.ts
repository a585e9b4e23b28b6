/** One of the two racing committers: prepares its share of the changes, then runs the given calls concurrently. */
import type { CommitReport } from '../../activities/review-types';
import type { SubmitInput } from '../../client/submission';
import type { RoleSetup } from '../../dev/local-roles';
import { asActivity, openCommitting, type PreparedChange } from '../../bench/committing';
import { throughput } from '../../bench/measure';
import type { RaceCall } from './plan';

export type Command =
  | { readonly kind: 'prepare'; readonly changes: readonly (readonly [index: number, change: SubmitInput])[] }
  | {
      readonly kind: 'race';
      readonly ready: readonly PreparedChange[];
      readonly calls: readonly RaceCall[];
      readonly open: number;
    };

export type Reply =
  | { readonly kind: 'up' }
  | { readonly kind: 'prepared'; readonly ready: readonly (readonly [index: number, ready: PreparedChange])[] }
  /** Final state of each call, in the order of the calls. */
  | { readonly kind: 'raced'; readonly states: readonly string[]; readonly retries: number }
  | { readonly kind: 'failed'; readonly why: string };

const committing = openCommitting(JSON.parse(process.env['RACE_SETUP'] ?? '{}') as RoleSetup);
const send = (reply: Reply): void => void process.send?.(reply);

process.on('message', (command: Command) => {
  run(command).then(send, (error: unknown) =>
    send({ kind: 'failed', why: error instanceof Error ? (error.stack ?? '') : String(error) }),
  );
});
process.once('disconnect', () => void committing.close());
send({ kind: 'up' });

async function run(command: Command): Promise<Reply> {
  switch (command.kind) {
    case 'prepare': {
      const ready: (readonly [number, PreparedChange])[] = [];
      await throughput(command.changes.length, 6, async (i) => {
        const [index, change] = command.changes[i] ?? [];
        if (index !== undefined && change !== undefined) ready.push([index, await committing.prepare(change)]);
      });
      return { kind: 'prepared', ready };
    }
    case 'race': {
      const states: string[] = [];
      let retries = 0;
      await throughput(command.calls.length, command.open, async (i) => {
        const call = command.calls[i];
        const ready = call === undefined ? undefined : command.ready[call.change];
        if (call === undefined || ready === undefined) return;
        states[i] = await settled(
          () => callOnce(call, ready),
          () => retries++,
        );
      });
      return { kind: 'raced', states, retries };
    }
    default:
      return command satisfies never;
  }
}

function callOnce({ call }: RaceCall, { input, submission }: PreparedChange): Promise<CommitReport> {
  const { commit, rollback, reconcile } = committing.commit;
  switch (call) {
    case 'commit':
      return asActivity(commit, input);
    case 'reconcile':
      return asActivity(reconcile, input);
    case 'rollback':
      return asActivity(rollback, {
        changeId: input.changeId,
        submission,
        reason: 'withdrawn',
        explanation: 'a rival',
      });
    default:
      return call satisfies never;
  }
}

/** Retries like Temporal does: after a failure (at most 60 attempts) and while the effect is unknown. Resolves with the final state. */
async function settled(work: () => Promise<CommitReport>, retried: () => void): Promise<string> {
  for (let attempt = 1; ; attempt++) {
    try {
      const { state } = await work();
      if (state !== 'EFFECT_UNKNOWN') return state;
    } catch (error) {
      if (attempt === 60) throw error;
    }
    retried();
    await new Promise((resolve) => setTimeout(resolve, 50 * attempt));
  }
}

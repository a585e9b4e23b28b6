/** One of the two committers that race: makes its share of the changes ready, then calls as it is told, many at once. */
import type { CommitResult } from '../../activities/review-types';
import type { SubmitInput } from '../../client/submission';
import type { RoleSetup } from '../../dev/local-roles';
import { asActivity, openCommitting, type Ready } from '../committing';
import { throughput } from '../../bench/measure';
import type { RaceCall } from './plan';

export type Order =
  | { readonly kind: 'prepare'; readonly changes: readonly (readonly [index: number, change: SubmitInput])[] }
  | {
      readonly kind: 'race';
      readonly ready: readonly Ready[];
      readonly calls: readonly RaceCall[];
      readonly open: number;
    };

export type Report =
  | { readonly kind: 'up' }
  | { readonly kind: 'prepared'; readonly ready: readonly (readonly [index: number, ready: Ready])[] }
  /** States by call, in the order of the calls. */
  | { readonly kind: 'raced'; readonly states: readonly string[]; readonly retries: number; readonly perSecond: number }
  | { readonly kind: 'failed'; readonly why: string };

const committing = openCommitting(JSON.parse(process.env['RACE_SETUP'] ?? '{}') as RoleSetup);
const tell = (report: Report): void => void process.send?.(report);

process.on('message', (order: Order) => {
  obey(order).then(tell, (error: unknown) =>
    tell({ kind: 'failed', why: error instanceof Error ? (error.stack ?? '') : String(error) }),
  );
});
process.once('disconnect', () => void committing.close());
tell({ kind: 'up' });

async function obey(order: Order): Promise<Report> {
  switch (order.kind) {
    case 'prepare': {
      const ready: (readonly [number, Ready])[] = [];
      await throughput(order.changes.length, 6, async (i) => {
        const [index, change] = order.changes[i] ?? [];
        if (index !== undefined && change !== undefined) ready.push([index, await committing.prepare(change)]);
      });
      return { kind: 'prepared', ready };
    }
    case 'race': {
      const states: string[] = [];
      let retries = 0;
      const perSecond = await throughput(order.calls.length, order.open, async (i) => {
        const call = order.calls[i];
        const ready = call === undefined ? undefined : order.ready[call.change];
        if (call === undefined || ready === undefined) return;
        states[i] = await settled(
          () => callOnce(call, ready),
          () => retries++,
        );
      });
      return { kind: 'raced', states, retries, perSecond };
    }
    default:
      return order satisfies never;
  }
}

function callOnce({ call }: RaceCall, { input, submission }: Ready): Promise<CommitResult> {
  const { commit, rollback, reconcile } = committing.commit;
  switch (call) {
    case 'commit':
      return asActivity(commit, input);
    case 'reconcile':
      return asActivity(reconcile, input);
    case 'rollback':
      return asActivity(rollback, {
        ...input,
        submission,
        inputSha: '',
        mode: 'enforced',
        reason: 'withdrawn',
        explanation: 'a rival',
      });
    default:
      return call satisfies never;
  }
}

/** As Temporal would: again while the target says that it is busy, and reconciled while the effect is unknown. */
async function settled(work: () => Promise<CommitResult>, retried: () => void): Promise<string> {
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

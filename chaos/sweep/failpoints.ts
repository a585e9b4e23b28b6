import { setTimeout as sleep } from 'node:timers/promises';
import { CountersignFailure, misconfigured } from '../../policy/contracts/failure';
import type { SourceTool, SourceToolRegistry } from '../../policy/contracts/source-tool';
import type { TargetEffects } from '../../policy/contracts/target-effects';
import { sourceToolRegistry } from '../../source-tools/define';
import { FailureType } from '../../policy/contracts/failure-type';
import type { Ledger, LedgerEntry } from '../../policy/evidence/ledger-port';
import type { Arming } from './arming';
import { HANG_MS, type Fault } from './points';

const failed = (where: string, type: FailureType): CountersignFailure =>
  CountersignFailure.retryable(`failpoint ${where}`, type);

/**
 * Runs `work` with the failpoints before and after it. `lost` is what a caller hears of work that was done: before, the
 * failure is reported at once and the work goes on behind it; after, it is done and the failure reported instead.
 */
async function around<T>(
  arming: Arming,
  changeId: string,
  point: string,
  work: () => Promise<T>,
  lost: () => T,
): Promise<T> {
  const before = arming.take(changeId, point, 'before');
  if (before?.action === 'lost') {
    work().catch(() => undefined); // It was reported as failed already: what becomes of it is what the checker looks at.
    return lost();
  }
  if (before !== null) await strike(before);
  const result = await work();
  const after = arming.take(changeId, point, 'after');
  if (after?.action === 'lost') return lost();
  if (after !== null) await strike(after);
  return result;
}

async function strike(fault: Fault): Promise<void> {
  const { action } = fault;
  switch (action) {
    case 'kill':
      process.kill(process.pid, 'SIGKILL');
      await sleep(HANG_MS);
      return;
    case 'stop':
      // The sweep continues it with SIGCONT, past the activity's time-out.
      process.kill(process.pid, 'SIGSTOP');
      await sleep(50);
      return;
    case 'throw':
      throw new Error(`failpoint ${fault.point} ${fault.when}`);
    case 'fatal':
      throw misconfigured(`failpoint ${fault.point} ${fault.when}`);
    case 'hang':
      await sleep(HANG_MS);
      return;
    case 'postgres':
    case 'temporal':
      // The sweep kills the server when it hears of this; the worker goes on meanwhile, so that the kill falls anywhere.
      await sleep(fault.afterMs ?? 0);
      return;
    case 'lost':
      throw new Error('unreachable: the caller answers for it');
    default:
      return action satisfies never;
  }
}

type Activity = (input: { readonly changeId: string }) => Promise<unknown>;

export function withFailingActivities<A extends object>(activities: A, arming: Arming): A {
  const wrapped = Object.entries(activities as Record<string, Activity>).map(([name, activity]) => {
    const point = `activity.${name}`;
    const lost = (): never => {
      throw new Error(`failpoint ${point}: its report was lost`);
    };
    return [
      name,
      (input: { readonly changeId: string }) => around(arming, input.changeId, point, () => activity(input), lost),
    ] as const;
  });
  return Object.fromEntries(wrapped) as A;
}

export function withFailingLedger(ledger: Ledger, arming: Arming): Ledger {
  return {
    ...ledger,
    append: (changeId, entries, projection) => {
      const point = `ledger.${kindOf(entries)}`;
      return around(
        arming,
        changeId,
        point,
        () => ledger.append(changeId, entries, projection),
        () => {
          throw failed(`${point}: its answer was lost`, FailureType.Store);
        },
      );
    },
  };
}

/** What the append is about: callbacks are attested in the append that discloses. */
function kindOf(entries: readonly LedgerEntry[]): string {
  return (entries.find((e) => e.kind === 'disclosed') ?? entries[0])?.kind ?? 'none';
}

export function withFailingTargets(tools: SourceToolRegistry, arming: Arming): SourceToolRegistry {
  return sourceToolRegistry(
    tools.keys().map((key): SourceTool => {
      const tool = tools.get(key);
      if (tool === undefined) throw new Error(`Source tool ${key} is gone`);
      const { staging } = tool;
      return staging === null ? tool : { ...tool, staging: async () => failingEffects(await staging(), arming) };
    }),
  );
}

function failingEffects(effects: TargetEffects, arming: Arming): TargetEffects {
  const lost = (point: string) => (): never => {
    throw failed(`${point}: its answer was lost`, FailureType.Target);
  };
  return {
    ...effects,
    stage: (ctx) => around(arming, ctx.changeId, 'target.stage', () => effects.stage(ctx), lost('target.stage')),
    seal: (ctx) => around(arming, ctx.changeId, 'target.seal', () => effects.seal(ctx), lost('target.seal')),
    commit: (ctx) => {
      const { postCheck } = ctx;
      const inside: typeof postCheck = (record) =>
        around(
          arming,
          ctx.changeId,
          'target.inside',
          async () => (await postCheck?.(record)) ?? { ok: true },
          lost('target.inside'),
        );
      return around(
        arming,
        ctx.changeId,
        'target.commit',
        () => effects.commit({ ...ctx, postCheck: inside }),
        // As the adapter says it when the answer to COMMIT is lost.
        () => ({ kind: 'unknown', explanation: 'failpoint: the answer to COMMIT was lost' }),
      );
    },
  };
}

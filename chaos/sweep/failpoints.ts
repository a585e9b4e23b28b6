import { setTimeout as sleep } from 'node:timers/promises';
import type { Derivation } from '../../activities/review/derivation';
import { CountersignFailure, misconfigured } from '../../policy/contracts/failure';
import type { SourceTool, SourceToolRegistry } from '../../policy/contracts/source-tool';
import type { TargetEffects } from '../../policy/contracts/target-effects';
import { sourceToolRegistry } from '../../source-tools/define';
import { FailureType } from '../../policy/contracts/failure-type';
import type { Ledger, LedgerEntry } from '../../policy/evidence/ledger-port';
import type { FaultSource } from './armed-faults';
import { HANG_MS, RULES_POINT, type Fault } from './points';

const failed = (where: string, type: FailureType): CountersignFailure =>
  CountersignFailure.retryable(`failpoint ${where}`, type);

/**
 * Runs `work` with a failpoint before and one after it. `lost` returns or throws what a caller gets if the response is lost:
 * with `before` the caller gets it immediately while the work continues; with `after` the work is complete first.
 */
async function around<T>(
  faults: FaultSource,
  changeId: string,
  point: string,
  work: () => Promise<T>,
  lost: () => T,
): Promise<T> {
  const before = faults.take(changeId, point, 'before');
  if (before?.action === 'lost') {
    work().catch(() => undefined); // Already reported as failed; the checker inspects the result.
    return lost();
  }
  if (before !== null) await trigger(before);
  const result = await work();
  const after = faults.take(changeId, point, 'after');
  if (after?.action === 'lost') return lost();
  if (after !== null) await trigger(after);
  return result;
}

async function trigger(fault: Fault): Promise<void> {
  const { action } = fault;
  switch (action) {
    case 'kill':
      process.kill(process.pid, 'SIGKILL');
      await sleep(HANG_MS);
      return;
    case 'stop':
      // The sweep resumes the process with SIGCONT after the activity's timeout.
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
      // The sweep kills the server when it sees this fault; the worker continues, so the kill can happen at any point.
      await sleep(fault.afterMs ?? 0);
      return;
    case 'lost':
      throw new Error('Unreachable: `around` handles lost responses');
    default:
      return action satisfies never;
  }
}

type Activity = (input: { readonly changeId: string }) => Promise<unknown>;

export function withFailingActivities<A extends object>(activities: A, faults: FaultSource): A {
  const wrapped = Object.entries(activities as Record<string, Activity>).map(([name, activity]) => {
    const point = `activity.${name}`;
    const lost = (): never => {
      throw new Error(`failpoint ${point}: the result was lost`);
    };
    return [
      name,
      (input: { readonly changeId: string }) => around(faults, input.changeId, point, () => activity(input), lost),
    ] as const;
  });
  return Object.fromEntries(wrapped) as A;
}

export function withFailingLedger(ledger: Ledger, faults: FaultSource): Ledger {
  return {
    ...ledger,
    append: (changeId, entries, ...rest) => {
      const point = `ledger.${kindOf(entries)}`;
      return around(
        faults,
        changeId,
        point,
        () => ledger.append(changeId, entries, ...rest),
        () => {
          throw failed(`${point}: the response was lost`, FailureType.Store);
        },
      );
    },
  };
}

/** The kind of row that names an append. `disclosed` takes precedence, because callbacks are attested in the same append. */
function kindOf(entries: readonly LedgerEntry[]): string {
  return (entries.find((e) => e.kind === 'disclosed') ?? entries[0])?.kind ?? 'none';
}

export function withFailingRules(derivation: Derivation, faults: FaultSource): Derivation {
  return {
    ...derivation,
    results: (validators, change) =>
      around(
        faults,
        change.changeId,
        RULES_POINT,
        () => derivation.results(validators, change),
        () => {
          throw failed(`${RULES_POINT}: the response was lost`, FailureType.Backend);
        },
      ),
  };
}

export function withFailingTargets(tools: SourceToolRegistry, faults: FaultSource): SourceToolRegistry {
  return sourceToolRegistry(
    tools.keys().map((key): SourceTool => {
      const tool = tools.get(key);
      if (tool === undefined) throw new Error(`Source tool ${key} is not registered`);
      const { staging } = tool;
      return staging === null ? tool : { ...tool, staging: async () => failingEffects(await staging(), faults) };
    }),
  );
}

function failingEffects(effects: TargetEffects, faults: FaultSource): TargetEffects {
  const lost = (point: string) => (): never => {
    throw failed(`${point}: the response was lost`, FailureType.Target);
  };
  return {
    ...effects,
    stage: (ctx) => around(faults, ctx.changeId, 'target.stage', () => effects.stage(ctx), lost('target.stage')),
    seal: (ctx) => around(faults, ctx.changeId, 'target.seal', () => effects.seal(ctx), lost('target.seal')),
    commit: (ctx) => {
      const { postCheck } = ctx;
      const inside: typeof postCheck = (record) =>
        around(
          faults,
          ctx.changeId,
          'target.inside',
          async () => (await postCheck?.(record)) ?? { ok: true },
          lost('target.inside'),
        );
      return around(
        faults,
        ctx.changeId,
        'target.commit',
        () => effects.commit({ ...ctx, postCheck: inside }),
        // What the adapter returns if the response to COMMIT is lost.
        () => ({ kind: 'unknown', explanation: 'failpoint: the response to COMMIT was lost' }),
      );
    },
  };
}

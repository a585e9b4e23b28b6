/** Seals an HTTP patch, and finds out whether it was applied (H4 and H5 of http-commit.ts). */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ReadBack, SettleContext, TargetContext } from '../../../policy/contracts/target-effects';
import { IN_FLIGHT_FACTOR, toHttpSettings, type HttpSettings } from '../staging-settings';
import { httpOf } from './http-access';
import { describeMismatch, effectOf, etagOf, isRestored, matchAfter, matchBefore } from './http-outcome';
import { outsideTarget } from './http-place';
import { httpBaseOf, type HttpBase } from './http-record';
import { readResource, type ReadResource } from './resource';

export async function sealPatch(ctx: SettleContext): Promise<ReadBack> {
  const { sent, undoing } = await ctx.sends.seal();
  if (!sent) return { found: false };
  const http = httpOf(ctx.target);
  const settings = toHttpSettings(ctx.settings);
  const base = httpBaseOf(ctx.approved);
  if (base === null) return { found: 'unknown', explanation: 'a request was sent, but there is no record of its URL' };
  const elsewhere = outsideTarget(base.url, http);
  if (elsewhere !== null) return { found: 'unknown', explanation: `a request was sent, and now ${elsewhere}` };
  const look = async (): Promise<Seen> =>
    undoing === null
      ? afterSend(ctx, base, await readResource(ctx, http, settings, base.url))
      : afterUndo(ctx, base, await readResource(ctx, http, settings, base.url), undoing);
  const first = await look();
  if (!first.mayChange) return first.says;
  await waitForInFlight(ctx, settings);
  return (await look()).says;
}

interface Seen {
  readonly says: ReadBack;
  /** A request that is still in flight can change it. */
  readonly mayChange: boolean;
}

function afterSend(ctx: SettleContext, base: HttpBase, found: ReadResource): Seen {
  if (matchAfter(base, found) !== null) {
    const effect = effectOf(ctx, base, etagOf(found));
    return { says: { found: true, effect, unchecked: true }, mayChange: false };
  }
  if (matchBefore(base, found) !== null) return { says: { found: false }, mayChange: true };
  return unknown(`a request was sent, and ${describeMismatch(found)}`);
}

/** The effect existed, and an attempt had begun to undo it. */
function afterUndo(ctx: SettleContext, base: HttpBase, found: ReadResource, explanation: string): Seen {
  if (isRestored(base, found))
    return { says: { found: 'undone', explanation, effect: effectOf(ctx, base, null) }, mayChange: false };
  if (matchAfter(base, found) !== null) {
    const shouldBeReverted = `${explanation}; it was not reverted: the attempt to undo it had no effect`;
    return { says: { found: true, effect: effectOf(ctx, base, etagOf(found)), shouldBeReverted }, mayChange: true };
  }
  return unknown(`a request to undo the change was begun, and ${describeMismatch(found)}`);
}

function unknown(explanation: string): Seen {
  return { says: { found: 'unknown', explanation }, mayChange: false };
}

export async function waitForInFlight(ctx: TargetContext, settings: HttpSettings): Promise<void> {
  await sleep(IN_FLIGHT_FACTOR * settings.timeoutMs, undefined, ctx.signal === undefined ? {} : { signal: ctx.signal });
}

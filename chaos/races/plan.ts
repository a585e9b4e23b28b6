import { itemChange } from '../../bench/shop';
import type { SubmitInput } from '../../client/submission';
import { pick, seededRandom, shuffled } from '../seeded-random';

/**
 * `same`: several concurrent calls commit one change. `row`: two changes of one row, each approved before either was
 * applied. `rivals`: one change that is committed, rolled back and reconciled concurrently.
 */
export type Kind = 'same' | 'row' | 'rivals';

interface Contest {
  readonly kind: Kind;
  /** Indices into `RacePlan.changes`. */
  readonly changes: readonly number[];
}

export interface RaceCall {
  readonly change: number;
  readonly call: 'commit' | 'rollback' | 'reconcile';
}

export interface RacePlan {
  readonly contests: readonly Contest[];
  readonly changes: readonly SubmitInput[];
  /** One list for each of the two workers, with the contests in the same order so that their calls overlap. */
  readonly calls: readonly [readonly RaceCall[], readonly RaceCall[]];
}

/** Plans at least `total` calls, about half of them for each worker. */
export function planRaces(total: number, seed: number): RacePlan {
  const roll = seededRandom(seed);
  const contests: Contest[] = [];
  const changes: SubmitInput[] = [];
  const calls: [RaceCall[], RaceCall[]] = [[], []];
  const change = (row: number, column: 'left_cents' | 'right_cents'): number =>
    changes.push({
      ...itemChange(row, `${column} = ${column} + 1`),
      requestKey: `race-${changes.length}`,
    }) - 1;
  while (calls[0].length + calls[1].length < total) {
    const row = contests.length + 1;
    const kind = pick(roll, ['same', 'same', 'same', 'row', 'rivals'] as const);
    const rivals =
      kind === 'row' ? [change(row, 'left_cents'), change(row, 'right_cents')] : [change(row, 'left_cents')];
    contests.push({ kind, changes: rivals });
    for (const list of calls) {
      // Each worker calls `commit` for every change, so that both workers race on each of them.
      const own = rivals.flatMap((each): RaceCall[] =>
        Array.from({ length: 1 + roll(3) }, () => ({ change: each, call: 'commit' })),
      );
      if (kind === 'rivals') own.push({ change: rivals[0] ?? 0, call: roll(2) === 0 ? 'rollback' : 'reconcile' });
      list.push(...shuffled(roll, own));
    }
  }
  return { contests, changes, calls };
}

export const RACE_BUNDLE = `
version: 1
name: races
domain: races
provider: none
model: none
targets:
  shop: { development: true, sourceTools: [SQLDryRun] }
groups:
  dba: { members: [alice, bob] }
defaultGroup: dba
validators:
  - validator: { name: usual, level: confirm, policyVersion: '1', rules: [{ tableWhitelist: { name: usual, allowed: [items] } }] }
`;

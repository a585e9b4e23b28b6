import type { SubmitInput } from '../../client/submission';
import { dice } from '../dice';

/**
 * `same`: one change, committed by several calls at once. `row`: two changes of one row, each approved before either was
 * applied. `rivals`: one change that is committed, rolled back and reconciled at once.
 */
export type Kind = 'same' | 'row' | 'rivals';

export interface Contest {
  readonly kind: Kind;
  /** Indices of its changes. */
  readonly changes: readonly number[];
}

export interface RaceCall {
  readonly change: number;
  readonly call: 'commit' | 'rollback' | 'reconcile';
}

export interface RacePlan {
  readonly contests: readonly Contest[];
  readonly changes: readonly SubmitInput[];
  /** For each of the two workers: in the same order, so that the calls of one contest meet. */
  readonly calls: readonly [readonly RaceCall[], readonly RaceCall[]];
}

/** `total` calls, half of them by each worker. */
export function planRaces(total: number, seed: number): RacePlan {
  const roll = dice(seed);
  const contests: Contest[] = [];
  const changes: SubmitInput[] = [];
  const calls: [RaceCall[], RaceCall[]] = [[], []];
  const change = (row: number, column: 'left_cents' | 'right_cents'): number =>
    changes.push({
      target: 'shop',
      sourceTool: 'SQLDryRun',
      raw: `update items set ${column} = ${column} + 1 where id = ${row}`,
      metadata: { table_name: 'items', affected_rows: 1 },
      requestKey: `race-${changes.length}`,
    }) - 1;
  while (calls[0].length + calls[1].length < total) {
    const row = contests.length + 1;
    const kind = (['same', 'same', 'same', 'row', 'rivals'] as const)[roll(5)] ?? 'same';
    const mine = kind === 'row' ? [change(row, 'left_cents'), change(row, 'right_cents')] : [change(row, 'left_cents')];
    contests.push({ kind, changes: mine });
    for (const list of calls) {
      // Each worker alone would do: together they meet on every change.
      const made = mine.flatMap((each): RaceCall[] =>
        Array.from({ length: 1 + roll(3) }, () => ({ change: each, call: 'commit' })),
      );
      if (kind === 'rivals') made.push({ change: mine[0] ?? 0, call: roll(2) === 0 ? 'rollback' : 'reconcile' });
      list.push(
        ...made
          .map((each) => ({ each, key: roll(1_000) }))
          .sort((a, b) => a.key - b.key)
          .map(({ each }) => each),
      );
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

/**
 * Requests of a change to a target without markers: `sent` before each, `unsent` if it was not processed, `undoing` before the effect is
 * undone, and `sealed`, after which none begins (activities/committer/effect-sends.ts). Of a git change only the last two.
 */
export const EFFECT_SENDS_SQL = `
create table if not exists effect_sends (
  change_id text not null, state text not null check (state in ('sent', 'unsent', 'undoing', 'sealed')),
  n int not null check (case when state in ('sent', 'unsent') then n > 0 else n = 0 end),
  explanation json check ((explanation is not null) = (state = 'undoing')), at timestamptz not null default now(), primary key (change_id, state, n)
);`;

/**
 * Requests of a change to a target without markers: `sent` before each, `unsent` if it was not processed, `undoing` before the effect is
 * undone, and `sealed`, after which none begins (activities/committer/effect-sends.ts). Of a git change only the last two.
 */
export const EFFECT_SENDS_SQL = `
-- Schema version 7 had one row for each change, \`sent\` or \`sealed\`.
do $$ begin
  if exists (select from pg_tables where schemaname = 'public' and tablename = 'effect_sends')
     and not exists (select from information_schema.columns where table_schema = 'public' and table_name = 'effect_sends' and column_name = 'n') then
    alter table effect_sends rename to effect_sends_of_7;
  end if;
end $$;
create table if not exists effect_sends (
  change_id text not null, state text not null check (state in ('sent', 'unsent', 'undoing', 'sealed')),
  n int not null check (case when state in ('sent', 'unsent') then n > 0 else n = 0 end),
  explanation json check ((explanation is not null) = (state = 'undoing')), at timestamptz not null default now(), primary key (change_id, state, n)
);
do $$ begin
  if exists (select from pg_tables where schemaname = 'public' and tablename = 'effect_sends_of_7') then
    insert into effect_sends (change_id, state, n, at) select change_id, state, (state = 'sent')::int, at from effect_sends_of_7;
    drop table effect_sends_of_7;
  end if;
end $$;`;

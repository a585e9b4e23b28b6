/**
 * What the inbox searches for, derived from ledger rows by a trigger on the ledger, so that it can be rebuilt (`index_ledger_row`). It has
 * no authority: a person is shown and asked what the verified rows of the review say.
 *
 * I1 `review_violations`: the violations of each disclosed review, with the people who have answered each. `open` until the row `closed`.
 * I2 `review_answers`: each admitted answer, for precedents and numbers.
 * I3 `notice_looks`: when the notices of a disclosed review are looked at next, so that no query looks at every open review.
 * I4 Sessions and challenges have no secret: of a cookie only its SHA-256 is stored.
 */
export const INBOX_TABLES_SQL = `
create table if not exists review_violations (
  change_id text not null, violation_id text not null, tenant text not null, rule text not null, need text not null, group_name text not null,
  quorum int not null, four_eyes boolean not null, plan_hash text not null, since timestamptz not null, open boolean not null,
  confirmed_by text[] not null default '{}', rejected_by text[] not null default '{}', primary key (change_id, violation_id)
);
create index if not exists review_violations_open on review_violations (plan_hash, group_name, change_id) where open and need = 'human';
create index if not exists review_violations_by_rule on review_violations (tenant, rule, since desc);
create table if not exists review_answers (
  seq bigint primary key, change_id text not null, violation_id text not null, tenant text not null, rule text not null, group_name text not null,
  decision text not null, person text not null, at timestamptz not null, seconds float8 not null
);
create index if not exists review_answers_by_rule on review_answers (tenant, rule, seq desc);
create index if not exists review_answers_newest on review_answers (tenant, at desc);
create index if not exists reviews_by_deadline on reviews (deadline_at, change_id) where state = 'INTERVENTION_REQUIRED';
create index if not exists reviews_by_words on reviews using gin (words);

create table if not exists inbox_sessions (
  token_sha text primary key check (token_sha ~ '^[0-9a-f]{64}$'), key_id text not null, person text not null,
  created_at timestamptz not null default clock_timestamp(), seen_at timestamptz not null default clock_timestamp()
);
create index if not exists inbox_sessions_of_person on inbox_sessions (person, created_at);
create table if not exists inbox_challenges (
  cookie_sha text primary key check (cookie_sha ~ '^[0-9a-f]{64}$'), challenge text not null, purpose text not null check (purpose in ('login', 'enroll')),
  subject text not null, created_at timestamptz not null default clock_timestamp()
);
create index if not exists inbox_challenges_oldest on inbox_challenges (created_at);
`;

/** Runs before the tables: a column is generated with it. */
export const TITLE_WORDS_SQL = `
create or replace function title_words(title text) returns tsvector language sql immutable set search_path = pg_catalog, pg_temp as $$
  select to_tsvector('simple'::regconfig, regexp_replace(title, '[^[:alnum:]]+', ' ', 'g'));
$$;
`;

export const INBOX_TRIGGER_SQL = `
create or replace function index_ledger_row(p_seq bigint, p_change text, p_kind text, p_at text, p_body text) returns void
language plpgsql set search_path = pg_catalog, public, pg_temp as $$
declare
  v_body json; v_tenant text; v_plan text; v_decision text; v_person text; v_of review_violations%rowtype;
begin
  if p_kind = 'closed' then
    update review_violations v set open = false where v.change_id = p_change and v.open;
    delete from notice_looks n where n.change_id = p_change and n.look_at = '-infinity';
    update notice_looks n set closed = true, look_at = now() where n.change_id = p_change and not n.closed;
    return;
  end if;
  v_body := json_of(p_body);
  if p_kind = 'disclosed' then
    insert into notice_looks (change_id) values (p_change) on conflict do nothing;
    select r.tenant into v_tenant from reviews r where r.change_id = p_change;
    select json_of(l.body)->>'planHash' into v_plan from ledger l where l.change_id = p_change and l.fact_key = 'planned/planned';
    if v_tenant is null or v_plan is null or json_typeof(v_body->'violations') is distinct from 'array' then return; end if;
    insert into review_violations (change_id, violation_id, tenant, rule, need, group_name, quorum, four_eyes, plan_hash, since, open)
      select p_change, v->>'violationId', v_tenant, coalesce(v->>'validatorId', ''), coalesce(v->>'need', 'human'), coalesce(v->>'group', ''),
             coalesce((v->>'quorum')::int, 1), coalesce((v->>'fourEyes')::boolean, true), v_plan, p_at::timestamptz,
             not exists (select from ledger l where l.change_id = p_change and l.fact_key = 'closed/closed')
      from json_array_elements(v_body->'violations') v where v->>'violationId' is not null
      on conflict do nothing;
    return;
  end if;
  v_decision := v_body->>'decision'; v_person := v_body->>'person';
  select * into v_of from review_violations v where v.change_id = p_change and v.violation_id = v_body->>'violationId';
  if not found or v_decision is null or v_person is null then return; end if;
  insert into review_answers (seq, change_id, violation_id, tenant, rule, group_name, decision, person, at, seconds)
    values (p_seq, p_change, v_of.violation_id, v_of.tenant, v_of.rule, v_of.group_name, v_decision, v_person, p_at::timestamptz,
            greatest(0, extract(epoch from p_at::timestamptz - v_of.since)))
    on conflict do nothing;
  update review_violations v set
    confirmed_by = array_remove(v.confirmed_by, v_person) || case when v_decision = 'confirm' then array[v_person] else '{}'::text[] end,
    rejected_by = array_remove(v.rejected_by, v_person) || case when v_decision = 'reject' then array[v_person] else '{}'::text[] end
    where v.change_id = p_change and v.violation_id = v_of.violation_id;
end $$;

create or replace function index_new_row() returns trigger language plpgsql set search_path = pg_catalog, public, pg_temp as $$
begin
  perform index_ledger_row(new.seq, new.change_id, new.kind, new.at, new.body);
  return null;
end $$;
create or replace trigger index_row after insert on ledger for each row
  when (new.kind in ('disclosed', 'answer_accepted', 'retracted', 'closed')) execute function index_new_row();

-- Derives both tables again from the rows of the ledger. For the owner.
create or replace function rebuild_inbox_index() returns void language plpgsql set search_path = pg_catalog, public, pg_temp as $$
begin
  truncate review_violations, review_answers;
  perform index_ledger_row(l.seq, l.change_id, l.kind, l.at, l.body) from
    (select * from ledger where kind in ('disclosed', 'answer_accepted', 'retracted', 'closed') order by seq) l;
end $$;
revoke all on function index_ledger_row, index_new_row, rebuild_inbox_index from public;
`;

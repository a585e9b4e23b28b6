import { AFTER_CLOSED, AFTER_HEAD, AFTER_SETTLEMENT } from '../../policy/contracts/ledger';
import { MAX_REFUSED_ROWS, REFUSALS, STATEMENTS, VERDICTS } from '../../policy/evidence/ledger-port';
import { isForeignCheck, isMemberOf, kindsByRole, sharedKinds, textArray } from './append-grants-sql';
import { CANONICAL_ROW_SQL } from './canonical-row-sql';
import { EFFECT_SENDS_SQL } from './effect-sends-sql';
import { KEY_TABLES_SQL, KEY_TRIGGERS_SQL } from './key-tables-sql';
import { PROJECTING_ROLES } from './roles';

/** Raise it with every change of the schema below. */
export const SCHEMA_VERSION = 15;

/** The oldest version that `TABLES_SQL` brings to the current one. */
export const OLDEST_SCHEMA_VERSION = 9;

/** `ledger_append` notifies this channel of the id of each change that gets rows. */
export const LEDGER_CHANNEL = 'countersign_ledger';

/**
 * The schema, idempotent, in one transaction.
 *
 * D1 Bodies of ledger rows are canonical JSON in a text column. The hash is over the text, and jsonb would normalize it and reject NUL.
 *    `ledger_append` refuses any other body, and any time that is not now (canonical-row-sql.ts).
 * D2 `ledger_append` computes the hash chain under one lock per change, so that an append needs one round trip. It must agree with
 *    `ledgerHash` (a test compares them).
 * D3 Fact keys include the kind, and the role if several roles may append the kind, so that no role can occupy the key of another's
 *    fact. `intent` and `decided` share a key, and so do `withdrawn` and `superseded`, so only the first of the two is
 *    kept. `actor` is the role that is logged in. A refusal that decides how a review ends is taken only of the roles that make its check.
 * D4 A refusal that is repeated, or beyond the rows of its kind, is counted in `refusal_counts`, never dropped.
 * D5 What queries search for (`mark`, `input_sha`, `facts_sha`, `measure`) and what the projection identifies a review by is read from the rows here,
 *    not passed by the caller.
 * D6 The database sets number and time of a row of the circuit breakers, under a lock, so that all readers fold the same rows in the
 *    same order. The sample of a review is written with its row `closed`.
 * D7 A trigger rejects UPDATE, DELETE and TRUNCATE on append-only tables, also for their owner.
 * D8 Freezes of a target are numbered without gaps, under a lock: a row with the highest number would leave none for the operator. The
 *    database sets the time of their rows.
 * D9 Answers, withdrawals and the end of the change are ordered by the lock. After `intent` or `decided` only rows that end the
 *    change and refusals are taken, after `closed` only its head, refusals and the use of its receipt: an activity that someone
 *    schedules again adds nothing to the evidence. An `intent` or `decided` is refused if a row arrived that its committer has not verified
 *    and that may not follow it. So an acknowledged withdrawal, reject or retraction is never followed by a commit, or by a rollback for
 *    a reason that it contradicts.
 * D10 The counter of a passkey never falls, and has each value for one assertion only: it is compared and stored in the transaction that
 *    would write the row. A counter that stays 0 says that the authenticator does not count. Nonces and
 *    counters come with statements only: a role that may not write these could otherwise use up those of every person.
 */
export const TABLES_SQL = `
create table if not exists schema_info (version int not null primary key, applied_at timestamptz not null default now());

create table if not exists blobs (
  tenant text not null, digest text not null check (digest ~ '^[0-9a-f]{64}$'), size int not null, bytes bytea not null,
  created_at timestamptz not null default now(), primary key (tenant, digest),
  constraint digest_of_bytes check (digest = encode(sha256(bytes), 'hex') and size = octet_length(bytes))
);

create table if not exists ledger (
  seq bigint generated always as identity primary key,
  change_id text not null check (change_id ~ '^[0-9a-f]{64}$'), n int not null check (n >= 0),
  prev text not null, hash text not null, kind text not null, at text not null, actor text not null, body text not null,
  fact_key text not null, mark text, input_sha text, facts_sha text, measure text,
  unique (change_id, n), unique (change_id, fact_key)
);
create index if not exists ledger_refused on ledger (change_id, kind) where kind in ('answer_refused', 'refused');
create index if not exists ledger_rejects on ledger (change_id) where mark = 'reject';
create index if not exists ledger_by_input on ledger (input_sha) where kind = 'submitted';
create index if not exists ledger_by_facts on ledger (facts_sha) where kind = 'submitted';

create table if not exists reviews (
  change_id text primary key, tenant text not null, target text not null, source_tool text not null, input_sha text not null,
  state text not null, reason text, mode text not null, requester text, pending int not null, highest_severity text,
  opened_at timestamptz not null, updated_at timestamptz not null, deadline_at timestamptz, closed_at timestamptz, summary text not null,
  submitter text, -- id of the key that signed the submission
  words tsvector not null generated always as (title_words(summary)) stored
);
create index if not exists reviews_newest on reviews (opened_at desc, change_id);
create index if not exists reviews_by_state on reviews (state, opened_at desc, change_id);
create index if not exists reviews_by_tenant on reviews (tenant, opened_at desc, change_id);
create index if not exists reviews_by_target on reviews (target, opened_at desc, change_id);
create index if not exists reviews_open on reviews (change_id) where closed_at is null;
create index if not exists reviews_closed on reviews (closed_at) where closed_at is not null;

create table if not exists answer_nonces (
  key_id text not null, nonce text not null, change_id text not null, fact_key text not null, primary key (key_id, nonce)
);
create index if not exists answer_nonces_by_change on answer_nonces (change_id);
create table if not exists refusal_counts (change_id text not null, fact_key text not null, count bigint not null, primary key (change_id, fact_key));

create sequence if not exists breaker_seq;
create table if not exists breaker_rows (
  seq bigint primary key, tenant text not null, source_tool text not null, kind text not null check (kind in ('sample', 'probe', 'reset', 'state')),
  change_id text, body text not null, at timestamptz not null
);
create index if not exists breaker_rows_by_pair on breaker_rows (tenant, source_tool, seq);
create index if not exists breaker_states on breaker_rows (tenant, source_tool, seq) where kind = 'state';
create unique index if not exists breaker_samples on breaker_rows (change_id) where kind = 'sample';

${KEY_TABLES_SQL}
create table if not exists policy_revisions (
  revision int primary key check (revision > 0), bundle_sha text not null, source text not null, envelope json,
  published_at timestamptz not null default now()
);
-- No key: several revisions may have one bundle, and a row without a trusted signature must not take the place of a genuine one.
create table if not exists policy_revocations (envelope json, revoked_at timestamptz not null default now());
create table if not exists compiled_plans (plan_hash text primary key check (plan_hash ~ '^[0-9a-f]{64}$'), plan text not null, added_at timestamptz not null default now());

create table if not exists judge_answers (key text primary key, reply text not null, at bigint not null, mac bytea not null);

create table if not exists staging_records (
  change_id text not null, staging_sha text not null, record json not null, preview json,
  created_at timestamptz not null default now(), primary key (change_id, staging_sha)
);

create table if not exists rehearsals (
  change_id text not null, attempt uuid not null, event text not null check (event in ('started', 'ended')),
  at timestamptz not null default now(), primary key (change_id, attempt, event)
);

-- Days on which a committer replayed histories.
create table if not exists history_replays (day date primary key, at timestamptz not null default now());

${EFFECT_SENDS_SQL}
create table if not exists target_freezes (
  target text not null, n int not null check (n > 0), envelope json not null, added_at timestamptz not null default now(), primary key (target, n)
);

-- Notices to people and their delivery. No decision depends on them.
create table if not exists notices (
  id bigint generated always as identity primary key, change_id text not null, event text not null check (event in ('waiting', 'reminder', 'escalation', 'ended')),
  n int not null check (n >= 0), team text not null, channel text not null, recipient text not null, body text not null,
  created_at timestamptz not null default now(), next_at timestamptz not null default now(), attempts int not null default 0,
  state text not null default 'due' check (state in ('due', 'sent', 'failed', 'dropped')), sent_at timestamptz, problem text,
  unique (change_id, event, n, team, channel, recipient)
);
create index if not exists notices_due on notices (channel, recipient, next_at) where state = 'due';
create index if not exists notices_sent on notices (channel, recipient, sent_at) where state = 'sent';
-- When the notices of a disclosed review are looked at next. A review that was never looked at has -infinity, and no row after its end.
create table if not exists notice_looks (
  change_id text primary key, look_at timestamptz not null default '-infinity', closed boolean not null default false, ended boolean not null default false
);
create index if not exists notice_looks_due on notice_looks (look_at, change_id) where not ended;

create table if not exists ledger_checkpoints (
  size bigint primary key, root_hash text not null, envelope json not null, frontier json not null, max_seq bigint not null, settled_seq bigint not null,
  created_at timestamptz not null default now()
);
create table if not exists ledger_leaves (
  leaf bigint primary key, change_id text not null, n int not null, hash text not null, unique (change_id, n)
);
create table if not exists ledger_nodes (level int not null, i bigint not null, hash text not null, primary key (level, i));
`;

const APPEND_ONLY = [
  'ledger',
  'answer_nonces',
  'breaker_rows',
  'keys',
  'key_revocations',
  'enrollments',
  'passkeys',
  'policy_revisions',
  'policy_revocations',
  'compiled_plans',
  'staging_records',
  'rehearsals',
  'history_replays',
  'effect_sends',
  'target_freezes',
  'ledger_checkpoints',
  'ledger_leaves',
  'ledger_nodes',
];

export const TRIGGERS_SQL = `
create or replace function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% on % refused: it is append-only', tg_op, tg_table_name using errcode = 'restrict_violation';
end $$;
${APPEND_ONLY.map((table) => `create or replace trigger append_only before update or delete or truncate on ${table} for each statement execute function refuse_change();`).join('\n')}
`;

const quoted = (kinds: readonly string[]): string => kinds.map((kind) => `'${kind}'`).join(', ');

/** PostgreSQL cannot read a member of JSON that has a NUL in any of its texts. */
const JSON_OF_SQL = String.raw`
create or replace function json_of(body text) returns json language sql immutable set search_path = pg_catalog, public, pg_temp as $$
  select (case when strpos(body, '\u0000') = 0 then body
               else regexp_replace(body, '(?<!\\)((?:\\\\)*)\\u0000', '\1\\ufffd', 'g') end)::json;
$$;`;

/**
 * Appends facts and updates the projection in one call and one transaction. SECURITY DEFINER: `current_user` is the owner, so
 * `session_user` decides which kinds the caller may append. The owner may append all kinds. Bodies are canonical JSON. The settings of the
 * caller's session do not apply: a time zone can be called Z, and other digits of a number could be taken for the shortest ones.
 */
export const APPEND_SQL = `
create or replace function ledger_append(
  p_change text, p_kinds text[], p_ats text[], p_bodies text[], p_facts text[], p_nonce_keys text[], p_nonces text[], p_projection json,
  p_expected_n int default null, p_counters bigint[] default null, p_assertions text[] default null
) returns table (idx int, status text, r_n int, r_prev text, r_hash text, r_kind text, r_at text, r_actor text, r_body text)
language plpgsql security definer set search_path = pg_catalog, public, pg_temp
set timezone = 'UTC' set extra_float_digits = 1 set standard_conforming_strings = on as $$
#variable_conflict use_column
declare
  v_owner boolean := pg_has_role(session_user, current_user, 'member');
  v_ends boolean := v_owner or ${isMemberOf(['cs_commit'])};
  v_n int; v_prev text; v_hash text; v_fact text; v_fresh boolean := cardinality(p_kinds) = 0; v_row ledger%rowtype;
  v_allowed text[]; -- kinds that may follow the end of the change; null while it is open
  v_judged_since boolean; v_group text; v_submitted jsonb; v_mark text; v_input text; v_facts text; v_measure text;
begin
  if not v_owner and exists (
    select from unnest(p_kinds, p_nonce_keys) as k(kind, nonce_key) where k.nonce_key is not null and k.kind <> all(${textArray(STATEMENTS)}) or not exists (
      select from (values ${kindsByRole}) as g(role, kinds) where k.kind = any(g.kinds) and pg_has_role(session_user, g.role, 'member'))) then
    raise exception 'role % may not append ledger rows of kind %, or not with a nonce', session_user, array_to_string(p_kinds, ', ') using errcode = 'insufficient_privilege';
  end if;
  if not v_owner and p_projection is not null and not (${isMemberOf(PROJECTING_ROLES)}) then
    raise exception 'role % may not write the projection', session_user using errcode = 'insufficient_privilege';
  end if;
  perform check_rows(p_kinds, p_ats, p_bodies, v_owner);
  if not v_owner and exists (
    select from generate_series(1, cardinality(p_kinds)) as i, lateral (select case when p_kinds[i] = 'refused' then json_of(p_bodies[i])->>'check' end) as c(check_name)
    where ${isForeignCheck}) then
    raise exception 'role % may not append a refusal of this check', session_user using errcode = 'insufficient_privilege';
  end if;
  perform pg_advisory_xact_lock(hashtextextended(p_change, 0));
  select l.n, l.hash into v_n, v_prev from ledger l where l.change_id = p_change order by l.n desc limit 1;
  if not found then v_n := -1; v_prev := repeat('0', 64); end if;
  select case when bool_or(l.kind = 'head') then ${textArray([...AFTER_HEAD])}
              when bool_or(l.kind = 'closed') then ${textArray([...AFTER_CLOSED])}
              when bool_or(l.kind in ('intent', 'decided')) then ${textArray([...AFTER_SETTLEMENT])} end
    into v_allowed from ledger l where l.change_id = p_change;

  -- Before the loop: the verdicts of one append do not refuse each other.
  v_judged_since := p_expected_n is not null and exists (
    select from ledger l where l.change_id = p_change and l.kind in (${quoted(VERDICTS)}) and l.n > p_expected_n);

  for i in 1 .. cardinality(p_kinds) loop
    v_fact := case when p_kinds[i] in ('intent', 'decided') then 'settlement' when p_kinds[i] in ('withdrawn', 'superseded') then 'stopped'
                   when p_kinds[i] = any(${textArray(sharedKinds)}) then p_kinds[i] || '/' || session_user
                   else p_kinds[i] end || '/' || p_facts[i];
    select * into v_row from ledger l where l.change_id = p_change and l.fact_key = v_fact;
    if found then
      if p_kinds[i] = any(${textArray(REFUSALS)}) then perform count_refusal(p_change, v_fact); end if;
      return query select i, 'existing', v_row.n, v_row.prev, v_row.hash, v_row.kind, v_row.at, v_row.actor, v_row.body;
      exit when p_kinds[i] = 'submitted'; -- already opened: the other entries of this opening must not be mixed with it
      continue;
    end if;
    if p_kinds[i] <> all(v_allowed) then
      return query select i, 'settled', null::int, null::text, null::text, null::text, null::text, null::text, null::text;
      continue;
    end if;
    if v_judged_since and p_kinds[i] in (${quoted(VERDICTS)}) or p_kinds[i] in ('intent', 'decided')
       and exists (select from ledger l where l.change_id = p_change and (p_kinds[i] = 'intent' and l.kind in ('withdrawn', 'superseded')
                   or l.n > p_expected_n and l.kind <> all(${textArray([...AFTER_SETTLEMENT])}))) then
      return query select i, 'moved', null::int, null::text, null::text, null::text, null::text, null::text, null::text;
      continue;
    end if;
    -- All refused answers that a role records are one group; other refusals form one group for each check, and those without # have none.
    v_group := case when p_kinds[i] = 'answer_refused' then p_kinds[i] || '/' || session_user || '/'
                    when p_kinds[i] = 'refused' and strpos(v_fact, '#') > 0 then split_part(v_fact, '#', 1) || '#' end;
    if v_group is not null and (select count(*) from ledger l where l.change_id = p_change and l.kind = p_kinds[i]
                                  and starts_with(l.fact_key, v_group)) >= ${MAX_REFUSED_ROWS} then
      perform count_refusal(p_change, v_group);
      return query select i, 'counted', null::int, null::text, null::text, null::text, null::text, null::text, null::text;
      continue;
    end if;
    if p_counters[i] is not null then
      insert into passkey_counters as c (key_id, counter, assertion) values (p_nonce_keys[i], p_counters[i], p_assertions[i])
      on conflict (key_id) do update set counter = excluded.counter, assertion = excluded.assertion
        where excluded.counter > c.counter or excluded.counter = c.counter and (c.counter = 0 or c.assertion = excluded.assertion);
      if not found then
        return query select i, 'counter_regressed', null::int, null::text, null::text, null::text, null::text, null::text, null::text;
        continue;
      end if;
    end if;
    if p_nonces[i] is not null then
      insert into answer_nonces (key_id, nonce, change_id, fact_key) values (p_nonce_keys[i], p_nonces[i], p_change, p_facts[i]) on conflict do nothing;
      if not found then
        return query select i, 'nonce_reused', null::int, null::text, null::text, null::text, null::text, null::text, null::text;
        continue;
      end if;
    end if;
    v_n := v_n + 1;
    v_hash := encode(sha256(convert_to(
      '{"actor":' || to_json(session_user::text)::text || ',"at":"' || p_ats[i] || '","body":' || p_bodies[i] || ',"changeId":"' || p_change ||
      '","kind":"' || p_kinds[i] || '","n":' || v_n || ',"prev":"' || v_prev || '","type":"countersign/ledger/v1"}', 'UTF8')), 'hex');
    v_mark := null; v_input := null; v_facts := null; v_measure := null;
    if p_kinds[i] = 'submitted' then
      v_submitted := opening_of(json_of(p_bodies[i]));
      v_input := v_submitted->>'inputSha'; v_facts := v_submitted->>'factsSha';
      v_measure := nullif((json_of(p_bodies[i])->'measure')::text, 'null');
    elsif p_kinds[i] = 'staged' then
      v_measure := nullif((json_of(p_bodies[i])->'measured')::text, 'null');
    elsif p_kinds[i] = 'answer_accepted' then
      v_mark := case when (json_of(p_bodies[i])->'decision')::text = '"reject"' then 'reject' end;
    end if;
    insert into ledger (change_id, n, prev, hash, kind, at, actor, body, fact_key, mark, input_sha, facts_sha, measure)
      values (p_change, v_n, v_prev, v_hash, p_kinds[i], p_ats[i], session_user, p_bodies[i], v_fact, v_mark, v_input, v_facts, v_measure);
    idx := i; status := 'appended'; r_n := v_n; r_prev := v_prev; r_hash := v_hash; r_kind := p_kinds[i]; r_at := p_ats[i];
    r_actor := session_user; r_body := null;
    return next;
    if p_kinds[i] = 'closed' and json_of(p_bodies[i])->'samples' is not null then
      insert into breaker_rows (tenant, source_tool, kind, change_id, body)
        select r.tenant, r.source_tool, 'sample', p_change, (json_of(p_bodies[i])->'samples')::text from reviews r where r.change_id = p_change
        on conflict do nothing;
    end if;
    v_allowed := case p_kinds[i] when 'head' then ${textArray([...AFTER_HEAD])} when 'closed' then ${textArray([...AFTER_CLOSED])}
                   when 'intent' then ${textArray([...AFTER_SETTLEMENT])} when 'decided' then ${textArray([...AFTER_SETTLEMENT])}
                   else v_allowed end;
    v_prev := v_hash;
    v_fresh := true;
  end loop;

  if p_projection is not null and v_fresh then
    perform project_review(p_change, p_projection::jsonb || coalesce(v_submitted - 'factsSha', '{}'), v_submitted is not null, v_ends);
  end if;
  if v_fresh then perform pg_notify('${LEDGER_CHANNEL}', p_change); end if;
end $$;

create or replace function count_refusal(p_change text, p_fact text) returns void
language sql set search_path = pg_catalog, public, pg_temp as $$
  insert into refusal_counts as c (change_id, fact_key, count) values (p_change, p_fact, 1)
  on conflict (change_id, fact_key) do update set count = c.count + 1;
$$;

${JSON_OF_SQL}
${CANONICAL_ROW_SQL}
-- The members of a row \`submitted\` that identify a review.
create or replace function opening_of(body json) returns jsonb language sql immutable set search_path = pg_catalog, public, pg_temp as $$
  select jsonb_strip_nulls(jsonb_build_object(
    'tenant', body#>'{submission,tenant}', 'target', body#>'{submission,target}', 'sourceTool', body#>'{submission,sourceTool}',
    'inputSha', body->'inputSha', 'factsSha', body->'factsSha', 'submitter', body#>'{submission,envelope,signatures,0,keyid}')) || jsonb_build_object('requester', body->'requester');
$$;

-- What identifies a review is written once, with its row \`submitted\` or, for a change that was never opened, by the committer. Only the
-- committer ends a review (p_ends).
create or replace function project_review(p_change text, p jsonb, p_opens boolean, p_ends boolean) returns void
language plpgsql set search_path = pg_catalog, public, pg_temp as $$
begin
  if not p_ends then
    p := p - 'closedAt' - 'reason';
    if coalesce(p->>'state', 'RUNNING') not in ('RUNNING', 'INTERVENTION_REQUIRED') then
      raise exception 'role % may not set the state %', session_user, p->>'state' using errcode = 'insufficient_privilege';
    end if;
  end if;
  update reviews r set
    state = coalesce(p->>'state', r.state),
    reason = case when p ? 'reason' then p->>'reason' else r.reason end,
    pending = coalesce((p->>'pending')::int, r.pending),
    highest_severity = case when p ? 'highestSeverity' then p->>'highestSeverity' else r.highest_severity end,
    updated_at = (p->>'updatedAt')::timestamptz,
    deadline_at = case when p ? 'deadlineAt' then (p->>'deadlineAt')::timestamptz else r.deadline_at end,
    closed_at = case when p ? 'closedAt' then (p->>'closedAt')::timestamptz else r.closed_at end,
    summary = coalesce(p->>'summary', r.summary)
  where r.change_id = p_change and (r.closed_at is null or p->>'closedAt' is not null);
  if found or exists (select from reviews r where r.change_id = p_change) then return; end if; -- a row exists but was not updated: it is closed
  if not p_opens and not p_ends then
    raise exception 'role % may not list the change %, which was never opened', session_user, p_change using errcode = 'insufficient_privilege';
  end if;
  insert into reviews (change_id, tenant, target, source_tool, input_sha, state, reason, mode, requester, pending, highest_severity,
                       opened_at, updated_at, deadline_at, closed_at, summary, submitter)
  values (p_change, p->>'tenant', p->>'target', p->>'sourceTool', p->>'inputSha', coalesce(p->>'state', 'RUNNING'), p->>'reason',
          coalesce(p->>'mode', 'enforced'), p->>'requester', coalesce((p->>'pending')::int, 0), p->>'highestSeverity',
          (p->>'openedAt')::timestamptz, (p->>'updatedAt')::timestamptz, (p->>'deadlineAt')::timestamptz, (p->>'closedAt')::timestamptz,
          coalesce(p->>'summary', ''), p->>'submitter')
  on conflict (change_id) do nothing;
end $$;

create or replace function stamp_breaker_row() returns trigger language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  if not (pg_has_role(session_user, current_user, 'member')
          or new.kind in ('sample', 'state') and (${isMemberOf(['cs_commit'])})
          or new.kind = 'probe' and (${isMemberOf(['cs_review'])})
          or new.kind = 'reset' and (${isMemberOf(['cs_operator'])})) then
    raise exception 'role % may not append a row % of the circuit breakers', session_user, new.kind using errcode = 'insufficient_privilege';
  end if;
  perform pg_advisory_xact_lock(hashtextextended(new.tenant || '/' || new.source_tool, 2));
  new.seq := nextval('breaker_seq');
  new.at := clock_timestamp();
  return new;
end $$;
create or replace trigger stamp_row before insert on breaker_rows for each row execute function stamp_breaker_row();

${KEY_TRIGGERS_SQL}
create or replace function number_freeze() returns trigger language plpgsql set search_path = pg_catalog, public, pg_temp as $$
declare
  v_next int;
begin
  perform pg_advisory_xact_lock(hashtextextended(new.target, 3));
  select coalesce(max(f.n), 0) + 1 into v_next from target_freezes f where f.target = new.target;
  if new.n is distinct from v_next then
    raise exception 'number of the freeze of %: expected %, got %', new.target, v_next, new.n using errcode = 'invalid_parameter_value';
  end if;
  new.added_at := clock_timestamp();
  return new;
end $$;
create or replace trigger number_row before insert on target_freezes for each row execute function number_freeze();

revoke all on function ledger_append, project_review, count_refusal, opening_of, json_of from public;
`;

import { MAX_REFUSED_ROWS } from '../../policy/evidence/ledger-port';
import { APPEND_GRANTS, PROJECTING_ROLES } from './roles';

/** Raise it with every change of the schema below. */
export const SCHEMA_VERSION = 3;

/**
 * The schema, idempotent, in one transaction.
 *
 * D1 Bodies of ledger rows are canonical JSON in a text column. The hash is over the text, and jsonb would normalize it and reject NUL.
 * D2 `ledger_append` computes the hash chain under one lock per change, so that an append needs one round trip. It must agree with
 *    `ledgerHash` (a test compares them).
 * D3 Fact keys include the kind, so that a role cannot occupy the key of a fact whose kind it may not append. `intent` and `decided`
 *    share a key, so only the first of the two is kept.
 * D4 A trigger rejects UPDATE, DELETE and TRUNCATE on append-only tables, also for their owner.
 */
export const TABLES_SQL = `
create table if not exists schema_info (version int not null primary key, applied_at timestamptz not null default now());

create table if not exists blobs (
  tenant text not null, digest text not null check (digest ~ '^[0-9a-f]{64}$'), size int not null, bytes bytea not null,
  created_at timestamptz not null default now(), primary key (tenant, digest)
);

create table if not exists ledger (
  seq bigint generated always as identity primary key,
  change_id text not null check (change_id ~ '^[0-9a-f]{64}$'), n int not null check (n >= 0),
  prev text not null, hash text not null, kind text not null, at text not null check (at ~ '^[0-9T:.Z-]{20,30}$'), actor text not null, body text not null,
  fact_key text not null, mark text,
  unique (change_id, n), unique (change_id, fact_key)
);
create index if not exists ledger_refused on ledger (change_id) where kind = 'answer_refused';
create index if not exists ledger_rejects on ledger (change_id) where mark = 'reject';

create table if not exists reviews (
  change_id text primary key, tenant text not null, target text not null, source_tool text not null, input_sha text not null,
  state text not null, reason text, mode text not null, requester text, pending int not null, highest_severity text,
  opened_at timestamptz not null, updated_at timestamptz not null, deadline_at timestamptz, closed_at timestamptz, summary text not null
);
create index if not exists reviews_newest on reviews (opened_at desc, change_id);
create index if not exists reviews_by_state on reviews (state, opened_at desc, change_id);
create index if not exists reviews_by_tenant on reviews (tenant, opened_at desc, change_id);
create index if not exists reviews_by_target on reviews (target, opened_at desc, change_id);
create index if not exists reviews_by_input on reviews (input_sha);

create table if not exists answer_nonces (
  key_id text not null, nonce text not null, change_id text not null, fact_key text not null, primary key (key_id, nonce)
);
create index if not exists answer_nonces_by_change on answer_nonces (change_id);
create table if not exists refusal_counts (change_id text primary key, count bigint not null);

create table if not exists keys (key_id text primary key, envelope json not null, added_at timestamptz not null default now());
create table if not exists key_revocations (key_id text primary key, envelope json not null, added_at timestamptz not null default now());

create table if not exists policy_revisions (
  revision int primary key check (revision > 0), bundle_sha text not null, source text not null, envelope json,
  published_at timestamptz not null default now()
);
create table if not exists policy_revocations (bundle_sha text primary key, envelope json, revoked_at timestamptz not null default now());
drop table if exists plans;

create table if not exists judge_answers (key text primary key, reply text not null, at bigint not null, mac bytea not null);

create table if not exists staging_records (
  change_id text not null, staging_sha text not null, record json not null, preview json,
  created_at timestamptz not null default now(), primary key (change_id, staging_sha)
);

create table if not exists effect_sends (
  change_id text primary key, state text not null check (state in ('sent', 'sealed')), at timestamptz not null default now()
);
create table if not exists target_freezes (
  target text not null, n int not null check (n > 0), envelope json not null, added_at timestamptz not null default now(), primary key (target, n)
);

create table if not exists ledger_checkpoints (
  size bigint primary key, root_hash text not null, envelope json not null, frontier json not null, max_seq bigint not null, settled_seq bigint not null,
  created_at timestamptz not null default now()
);
create table if not exists ledger_leaves (
  leaf bigint primary key, change_id text not null, n int not null, hash text not null, unique (change_id, n)
);
`;

const APPEND_ONLY = [
  'ledger',
  'answer_nonces',
  'keys',
  'key_revocations',
  'policy_revisions',
  'policy_revocations',
  'staging_records',
  'effect_sends',
  'target_freezes',
  'ledger_checkpoints',
  'ledger_leaves',
];

export const TRIGGERS_SQL = `
create or replace function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% on % refused: it is append-only', tg_op, tg_table_name using errcode = 'restrict_violation';
end $$;
${APPEND_ONLY.map((table) => `create or replace trigger append_only before update or delete or truncate on ${table} for each statement execute function refuse_change();`).join('\n')}
`;

const kindsByRole = Object.entries(APPEND_GRANTS)
  .map(([role, kinds]) => `('${role}', array[${kinds.map((kind) => `'${kind}'`).join(',')}])`)
  .join(', ');
const mayProject = PROJECTING_ROLES.map((role) => `pg_has_role(session_user, '${role}', 'member')`).join(' or ');

/**
 * Appends facts and updates the projection in one call and one transaction. SECURITY DEFINER: `current_user` is the owner, so
 * `session_user` decides which kinds the caller may append. The owner may append all kinds. Bodies are canonical JSON.
 */
export const APPEND_SQL = `
create or replace function ledger_append(
  p_change text, p_kinds text[], p_ats text[], p_actors text[], p_bodies text[], p_facts text[], p_marks text[],
  p_nonce_keys text[], p_nonces text[], p_projection json
) returns table (idx int, status text, r_n int, r_prev text, r_hash text, r_kind text, r_at text, r_actor text, r_body text)
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
#variable_conflict use_column
declare
  v_owner boolean := pg_has_role(session_user, current_user, 'member');
  v_n int; v_prev text; v_hash text; v_fact text; v_fresh boolean := cardinality(p_kinds) = 0; v_row ledger%rowtype;
begin
  if not v_owner and exists (
    select from unnest(p_kinds) as k(kind) where not exists (
      select from (values ${kindsByRole}) as g(role, kinds) where k.kind = any(g.kinds) and pg_has_role(session_user, g.role, 'member'))) then
    raise exception 'role % may not append ledger rows of kind %', session_user, array_to_string(p_kinds, ', ') using errcode = 'insufficient_privilege';
  end if;
  if not v_owner and p_projection is not null and not (${mayProject}) then
    raise exception 'role % may not write the projection', session_user using errcode = 'insufficient_privilege';
  end if;
  perform pg_advisory_xact_lock(hashtextextended(p_change, 0));
  select l.n, l.hash into v_n, v_prev from ledger l where l.change_id = p_change order by l.n desc limit 1;
  if not found then v_n := -1; v_prev := repeat('0', 64); end if;

  for i in 1 .. cardinality(p_kinds) loop
    v_fact := case when p_kinds[i] in ('intent', 'decided') then 'settlement' else p_kinds[i] end || '/' || p_facts[i];
    select * into v_row from ledger l where l.change_id = p_change and l.fact_key = v_fact;
    if found then
      return query select i, 'existing', v_row.n, v_row.prev, v_row.hash, v_row.kind, v_row.at, v_row.actor, v_row.body;
      exit when p_kinds[i] = 'submitted'; -- already opened: the other entries of this opening must not be mixed with it
      continue;
    end if;
    if p_kinds[i] = 'answer_refused'
       and (select count(*) from ledger l where l.change_id = p_change and l.kind = 'answer_refused') >= ${MAX_REFUSED_ROWS} then
      insert into refusal_counts as c (change_id, count) values (p_change, 1) on conflict (change_id) do update set count = c.count + 1;
      return query select i, 'counted', null::int, null::text, null::text, null::text, null::text, null::text, null::text;
      continue;
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
      '{"actor":' || to_json(p_actors[i])::text || ',"at":"' || p_ats[i] || '","body":' || p_bodies[i] || ',"changeId":"' || p_change ||
      '","kind":"' || p_kinds[i] || '","n":' || v_n || ',"prev":"' || v_prev || '","type":"countersign/ledger/v1"}', 'UTF8')), 'hex');
    insert into ledger (change_id, n, prev, hash, kind, at, actor, body, fact_key, mark)
      values (p_change, v_n, v_prev, v_hash, p_kinds[i], p_ats[i], p_actors[i], p_bodies[i], v_fact, p_marks[i]);
    return query select i, 'appended', v_n, v_prev, v_hash, p_kinds[i], p_ats[i], p_actors[i], null::text;
    v_prev := v_hash;
    v_fresh := true;
  end loop;

  if p_projection is not null and v_fresh then perform project_review(p_change, p_projection::jsonb); end if;
end $$;

create or replace function project_review(p_change text, p jsonb) returns void
language plpgsql set search_path = pg_catalog, public, pg_temp as $$
begin
  update reviews r set
    tenant = coalesce(p->>'tenant', r.tenant), target = coalesce(p->>'target', r.target), source_tool = coalesce(p->>'sourceTool', r.source_tool),
    input_sha = coalesce(p->>'inputSha', r.input_sha), state = coalesce(p->>'state', r.state), mode = coalesce(p->>'mode', r.mode),
    reason = case when p ? 'reason' then p->>'reason' else r.reason end,
    requester = case when p ? 'requester' then p->>'requester' else r.requester end,
    pending = coalesce((p->>'pending')::int, r.pending),
    highest_severity = case when p ? 'highestSeverity' then p->>'highestSeverity' else r.highest_severity end,
    opened_at = coalesce((p->>'openedAt')::timestamptz, r.opened_at), updated_at = (p->>'updatedAt')::timestamptz,
    deadline_at = case when p ? 'deadlineAt' then (p->>'deadlineAt')::timestamptz else r.deadline_at end,
    closed_at = case when p ? 'closedAt' then (p->>'closedAt')::timestamptz else r.closed_at end,
    summary = coalesce(p->>'summary', r.summary)
  where r.change_id = p_change and (r.closed_at is null or p->>'closedAt' is not null);
  if found or exists (select from reviews r where r.change_id = p_change) then return; end if; -- a row exists but was not updated: it is closed
  insert into reviews (change_id, tenant, target, source_tool, input_sha, state, reason, mode, requester, pending, highest_severity,
                       opened_at, updated_at, deadline_at, closed_at, summary)
  values (p_change, p->>'tenant', p->>'target', p->>'sourceTool', p->>'inputSha', coalesce(p->>'state', 'RUNNING'), p->>'reason',
          coalesce(p->>'mode', 'enforced'), p->>'requester', coalesce((p->>'pending')::int, 0), p->>'highestSeverity',
          (p->>'openedAt')::timestamptz, (p->>'updatedAt')::timestamptz, (p->>'deadlineAt')::timestamptz, (p->>'closedAt')::timestamptz,
          coalesce(p->>'summary', ''))
  on conflict (change_id) do nothing;
end $$;

revoke all on function ledger_append, project_review from public;
`;

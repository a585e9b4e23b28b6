/** A revision that a role other than the operator's stores may be unsigned. More in a day would hide the signed ones. */
export const MAX_REVISIONS_A_DAY = 100;

/**
 * Stores a revision of the policy with its plans, or returns the number that the next revision must have. Null: stored, or the same was.
 *
 * PP1 The database cannot verify Ed25519: every reader does, and ignores a revision that no trusted operator signed. The function
 *     checks everything else that the statement binds, so that the gateway can neither occupy the number of a later revision nor
 *     store another plan under a hash.
 * PP2 Numbers have no gaps, under one lock.
 * PP3 A role that is not the operator's can store only so many revisions in a day: readers look at the newest thousand.
 * PP4 The time of a revision, and of a revocation of one, is when it is stored. `now()` is when the transaction began, which the caller can keep open for long.
 */
export const PUBLISH_POLICY_SQL = `
create or replace function publish_policy(p_revision int, p_source text, p_envelope text, p_plans text[]) returns int
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  v_next int;
  v_said json;
  v_bundle text := encode(sha256(convert_to(p_source, 'UTF8')), 'hex');
  v_hashes text[];
begin
  perform pg_advisory_xact_lock(hashtextextended('countersign/policy', 0));
  if exists (select from policy_revisions r where r.revision = p_revision and r.envelope::text = p_envelope) then return null; end if;
  select coalesce(max(r.revision), 0) + 1 into v_next from policy_revisions r;
  if p_revision is distinct from v_next then return v_next; end if;

  v_said := convert_from(decode(p_envelope::json->>'payload', 'base64'), 'UTF8')::json->'predicate';
  v_hashes := array(select encode(sha256(convert_to('{"plan":' || plan || ',"type":"countersign/plan/v1"}', 'UTF8')), 'hex')
                    from unnest(p_plans) with ordinality as given(plan, i) order by i);
  if v_said->>'revision' is distinct from p_revision::text or v_said->>'bundleSha' is distinct from v_bundle
     or array(select distinct h from unnest(v_hashes) h order by h)
        is distinct from array(select distinct e->>'planHash' as h from json_array_elements(v_said->'plans') e order by h) then
    raise exception 'policy revision %: the statement is for another number, bundle or plans', p_revision using errcode = 'invalid_parameter_value';
  end if;
  if not (pg_has_role(session_user, current_user, 'member') or pg_has_role(session_user, 'cs_operator', 'member'))
     and (select count(*) from policy_revisions r where r.published_at > clock_timestamp() - interval '1 day') >= ${MAX_REVISIONS_A_DAY} then
    raise exception 'policy revision %: ${MAX_REVISIONS_A_DAY} were published within a day; publish it with the role cs_operator', p_revision
      using errcode = 'program_limit_exceeded';
  end if;

  insert into compiled_plans (plan_hash, plan) select h, plan from unnest(v_hashes, p_plans) as given(h, plan) on conflict do nothing;
  insert into policy_revisions (revision, bundle_sha, source, envelope, published_at)
    values (p_revision, v_bundle, p_source, p_envelope::json, clock_timestamp());
  return null;
end $$;
revoke all on function publish_policy from public;

create or replace function stamp_policy_revocation() returns trigger language plpgsql set search_path = pg_catalog, public, pg_temp as $$
begin
  new.revoked_at := clock_timestamp();
  return new;
end $$;
create or replace trigger stamp_row before insert on policy_revocations for each row execute function stamp_policy_revocation();
`;

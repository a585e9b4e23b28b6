/**
 * The tables of the key registry: keys that an operator registered, one-time links that an operator signed, and the passkey that was made
 * with each link. Signatures are verified by readers (storage/keys), not here.
 */
export const KEY_TABLES_SQL = `
create table if not exists keys (key_id text primary key, envelope json not null, added_at timestamptz not null default now());
-- No key: a row without a trusted signature must not take the place of a genuine one.
create table if not exists key_revocations (key_id text not null, envelope json not null, added_at timestamptz not null default now());
create index if not exists key_revocations_by_key on key_revocations (key_id);

create table if not exists enrollments (key_id text primary key, envelope json not null, added_at timestamptz not null default now());
create table if not exists passkeys (
  enrollment text primary key references enrollments (key_id), key_id text not null unique, envelope json not null,
  added_at timestamptz not null default now()
);
create table if not exists passkey_counters (key_id text primary key, counter bigint not null, assertion text not null);`;

/**
 * The database sets the time of each row. Readers compare that of an enrolled passkey with the expiry of its link, and that of an operator's
 * statement with the time until which the operator's key counts; a revocation that cannot be verified counts from the time of its row.
 */
export const KEY_TRIGGERS_SQL = `
create or replace function stamp_key_row() returns trigger language plpgsql set search_path = pg_catalog, public, pg_temp as $$
begin
  new.added_at := clock_timestamp();
  return new;
end $$;
create or replace trigger stamp_row before insert on keys for each row execute function stamp_key_row();
create or replace trigger stamp_row before insert on enrollments for each row execute function stamp_key_row();
create or replace trigger stamp_row before insert on passkeys for each row execute function stamp_key_row();
create or replace trigger stamp_row before insert on key_revocations for each row execute function stamp_key_row();`;

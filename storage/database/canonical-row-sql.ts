/** Maximum depth of the body of a ledger row. Readers wrap the body, and canonical JSON has at most MAX_DEPTH levels. */
const MAX_BODY_DEPTH = 180;

/** Maximum characters of the body of a ledger row: all rows of a change are read at once. */
export const MAX_BODY_CHARS = 1024 * 1024;

/** Maximum minutes between the time of a row and the clock of the database. Clocks differ, and an append may wait for a lock. */
const MAX_CLOCK_DIFFERENCE = 10;

/**
 * What `ledger_append` checks of each row before it hashes it. The hash is over the text, and readers compute it again from the parsed body:
 * one row in another form would make all rows of its change unreadable.
 *
 * S1 The body is a JSON object in canonical form (RFC 8785): no white space, no needless escape, no number that is not finite or not in
 *    the shortest form, members in the order of their UTF-16 code units, none twice.
 * S2 PostgreSQL cannot read a key with a NUL, and has no character below it. For the comparison of keys, NUL becomes U+0001 U+0001 and
 *    U+0001 becomes U+0001 U+0002, which keeps their order and that of all others.
 * S3 The time has the form of Date.toISOString and names a real moment, within MAX_CLOCK_DIFFERENCE of the database's clock. It is not
 *    taken from the database: processes sign and verify for exactly this moment (a row `intent` has the time of its verification).
 *    The owner of the schema is excepted, who can restore rows.
 */
export const CANONICAL_ROW_SQL = String.raw`
-- Null if all bodies are canonical, otherwise a problem of one of them. They are checked as one array: a call costs more than a row.
create or replace function bodies_problem(bodies text[]) returns text language plpgsql immutable set search_path = pg_catalog, public, pg_temp as $$
declare
  v_all text; v_structure text; v_brackets text; v_number text; v_plain boolean;
begin
  if exists (select from unnest(bodies) as b(body) where body is null or not (body is json object)) then return 'not a JSON object'; end if;
  v_all := '[' || array_to_string(bodies, ',') || ']';
  -- Every backslash of valid JSON is in a string.
  if strpos(v_all, '\') > 0
     and strpos(regexp_replace(v_all, '\\(["\\bfnrt]|u00(0[0-7bef]|1[0-9a-f]))', '', 'g'), '\') > 0 then
    return 'a character with a needless escape, or half of a surrogate pair';
  end if;
  -- What is outside of strings: without escapes, quotes only begin and end strings. Splitting is several times faster than a pattern of strings.
  select string_agg(part, '"' order by n) into v_structure
    from string_to_table(case when strpos(v_all, '\') > 0 then regexp_replace(v_all, '\\.', '', 'g') else v_all end, '"')
         with ordinality as s(part, n) where n % 2 = 1;
  if v_structure ~ '\s' then return 'white space between its members'; end if;
  for v_number in select distinct m[1] from regexp_matches(v_structure, '(-?[0-9][0-9.eE+-]*)', 'g') m
                  where m[1] !~ '^(0|-?[1-9][0-9]{0,14})$' loop
    if not is_canonical_number(v_number) then return 'the number ' || left(v_number, 40); end if;
  end loop;
  -- What JSON consists of without strings, white space and brackets.
  v_brackets := translate(substr(v_structure, 2, length(v_structure) - 2), '",:0123456789+-.eEtrufalsn', '');
  for i in 1 .. ${MAX_BODY_DEPTH} loop
    -- Both at once, so that each round removes one level.
    v_brackets := regexp_replace(v_brackets, '\{\}|\[\]', '', 'g');
    exit when v_brackets = '';
  end loop;
  if v_brackets <> '' then return 'more than ${MAX_BODY_DEPTH} levels'; end if;
  if strpos(v_all, '\u0000') > 0 then
    v_all := regexp_replace(v_all, '(?<!\\)((?:\\\\)*)\\u0001', '\1\\u0001\\u0002', 'g');
    v_all := regexp_replace(v_all, '(?<!\\)((?:\\\\)*)\\u0000', '\1\\u0001\\u0001', 'g');
  end if;
  -- A call of precedes() costs more than the rest, and is rarely needed.
  v_plain := octet_length(v_all) = length(v_all) or v_all !~ '[\uE000-\U0010FFFF]';
  if exists (
    with recursive parts(part, disorder) as (
      select v_all::json, false
      union all
      select inside.value, inside.disorder from parts, lateral (
        select value, case when before is null then false when v_plain then before collate "C" >= key collate "C" else not precedes(before, key) end
          from (select key, value, lag(key) over (order by place) as before
                from json_each(case json_typeof(part) when 'object' then part else '{}' end) with ordinality as e(key, value, place)) as members
        union all
        select value, false from json_array_elements(case json_typeof(part) when 'array' then part else '[]' end) as e(value)
      ) as inside(value, disorder) where inside.disorder or json_typeof(inside.value) in ('object', 'array')
    ) select from parts where disorder
  ) then return 'members that are not in the order of their names, or a name twice'; end if;
  return null;
end $$;

-- Null if the body is canonical, otherwise the problem.
create or replace function body_problem(body text) returns text language sql immutable set search_path = pg_catalog, public, pg_temp as $$
  select bodies_problem(array[body]);
$$;

-- Whether the text of a JSON number is the one that ECMAScript writes: RFC 8785, 3.2.2.3.
create or replace function is_canonical_number(text) returns boolean language plpgsql immutable set search_path = pg_catalog, public, pg_temp as $$
declare
  v_digits text := significant_digits($1); v_shortest text;
begin
  if $1 !~ '^-?([1-9][0-9]{0,20}|(0\.0{0,5}[1-9]|0\.0{0,5}[1-9][0-9]*[1-9]|[1-9][0-9]{0,20}\.([0-9]*[1-9]))|[1-9](\.[0-9]*[1-9])?e(\+(2[1-9]|[3-9][0-9]|[1-3][0-9]{2})|-([7-9]|[1-9][0-9]|[1-3][0-9]{2})))$'
  then return false; end if;
  -- PostgreSQL writes the shortest digits too, and in rare cases one digit more.
  v_shortest := significant_digits(($1)::float8::text);
  return v_digits = v_shortest or length(v_digits) < length(v_shortest);
exception when numeric_value_out_of_range then
  return false; -- not finite, or nearer to zero than any number that can be represented
end $$;

create or replace function significant_digits(number text) returns text language sql immutable set search_path = pg_catalog, pg_temp as $$
  select trim(trailing '0' from ltrim(replace(split_part(ltrim(number, '-'), 'e', 1), '.', ''), '0'));
$$;

create or replace function utf16_hex(characters text) returns text language sql immutable set search_path = pg_catalog, pg_temp as $$
  select coalesce(string_agg(
    case when ascii(c) < 65536 then lpad(to_hex(ascii(c)), 4, '0')
         else to_hex(55296 + ((ascii(c) - 65536) >> 10)) || to_hex(56320 + ((ascii(c) - 65536) & 1023)) end, '' order by place), '')
  from regexp_split_to_table(characters, '') with ordinality as split(c, place) where c <> '';
$$;

-- The order of RFC 8785, 3.2.3. Bytes of UTF-8 are in another order only if a character is from U+E000 on.
create or replace function precedes(a text, b text) returns boolean language sql immutable set search_path = pg_catalog, public, pg_temp as $$
  select case when a is null then true
              when a || b !~ '[\uE000-\U0010FFFF]' then a collate "C" < b collate "C"
              else utf16_hex(a) collate "C" < utf16_hex(b) collate "C" end;
$$;

-- Null if the time is a moment in the one form that is written, near the clock of the database unless any is allowed.
create or replace function time_problem(moment text, any_moment boolean) returns text
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_moment timestamptz;
begin
  if moment is null or moment !~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z$' then return 'not in the form of ISO 8601 with milliseconds'; end if;
  v_moment := moment::timestamptz;
  if to_char(v_moment at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') <> moment then return 'not a moment that exists'; end if;
  if not any_moment and abs(extract(epoch from v_moment - clock_timestamp())) > ${MAX_CLOCK_DIFFERENCE} * 60 then
    return 'more than ${MAX_CLOCK_DIFFERENCE} minutes from the clock of the database';
  end if;
  return null;
exception when datetime_field_overflow or invalid_datetime_format then
  return 'not a moment that exists';
end $$;

-- Raises an error that names the first row that readers could not read.
create or replace function check_rows(kinds text[], ats text[], bodies text[], any_moment boolean) returns void
language plpgsql stable set search_path = pg_catalog, public, pg_temp as $$
declare
  v_problem text; v_canonical boolean; v_timely boolean;
begin
  if exists (select from unnest(bodies) as b(body) where length(body) > ${MAX_BODY_CHARS}) then
    raise exception 'body of a ledger row: expected at most ${MAX_BODY_CHARS} characters' using errcode = 'invalid_parameter_value';
  end if;
  v_canonical := bodies_problem(bodies) is null;
  v_timely := not exists (select from (select distinct moment from unnest(ats) as t(moment)) as m where time_problem(moment, any_moment) is not null);
  for i in 1 .. cardinality(kinds) loop
    v_problem := case when not v_canonical then body_problem(bodies[i]) end;
    if v_problem is not null then
      raise exception 'body of the ledger row %: expected canonical JSON, got %', kinds[i], v_problem using errcode = 'invalid_parameter_value';
    end if;
    v_problem := case when not v_timely then time_problem(ats[i], any_moment) end;
    if v_problem is not null then
      raise exception 'time of the ledger row %: %', kinds[i], v_problem using errcode = 'invalid_parameter_value';
    end if;
    -- Evidence must contain the entry of each key that signed a record, so a key without entry would make it incomplete for ever.
    if kinds[i] = 'attested' and not any_moment and exists (
      select from jsonb_path_query(json_of(bodies[i])::jsonb, '$.envelope.signatures[*].keyid') as s(keyid)
      where not exists (select from keys k where to_jsonb(k.key_id) = s.keyid)) then
      raise exception 'body of the ledger row attested: its key is not registered' using errcode = 'invalid_parameter_value';
    end if;
  end loop;
  if not v_canonical or not v_timely then
    raise exception 'the ledger rows are not canonical together' using errcode = 'invalid_parameter_value';
  end if;
end $$;

revoke all on function bodies_problem, body_problem, is_canonical_number, significant_digits, precedes, utf16_hex, time_problem, check_rows from public;
`;

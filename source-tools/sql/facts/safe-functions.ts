/**
 * Functions of PostgreSQL that a rehearsal may execute. An allowlist: everything else is unknown.
 *
 * Each listed function, in all its overloads, only computes a value from its arguments, the rows that it reads and the clock. None
 * writes, locks, waits, sends, advances a sequence, reads identity, privileges, sessions, settings, the catalog or files, or is random.
 *
 * Source: PostgreSQL 18 documentation, chapter 9 "Functions and Operators"
 * (https://www.postgresql.org/docs/18/functions.html). Left out from it on purpose:
 * - 9.14 UUID, random(), random_normal(), gen_random_*: random values
 * - 9.17 sequence manipulation: nextval() and setval() are not rolled back
 * - 9.27 system information: current_user, has_*_privilege, pg_*_is_visible, txid_*: identity, privileges, catalog
 * - 9.28 administration: current_setting, set_config, pg_sleep, pg_terminate_backend, advisory locks, files, replication
 * - query_to_xml and the like, ts_stat, ts_rewrite with SQL text: they execute SQL
 * - polygon(): the number of its points is an argument
 * - lo_*, pg_notify, dblink: effects outside the transaction
 */
import { wordList } from '../../../policy/text/word-list';
import type { SqlName } from './sql-facts';

/** 9.9: the clock. Their values differ between two rehearsals, which the comparison of the rehearsals detects. */
export const CLOCK_FUNCTIONS: ReadonlySet<string> = new Set(
  wordList('now transaction_timestamp statement_timestamp clock_timestamp timeofday'),
);

/**
 * Clocks that move within a transaction. Only as the whole value of a column: in a condition, the rows that were counted before the
 * statement could differ from those that it changes.
 */
export const MOVING_CLOCKS: ReadonlySet<string> = new Set(wordList('statement_timestamp clock_timestamp timeofday'));

/** Functions whose result can be much longer than their arguments, with the position of the length: it must be a small constant. */
export const PADDING_FUNCTIONS: Readonly<Record<string, number>> = { repeat: 1, lpad: 1, rpad: 1 };

/** Random UUIDs. Only without an argument and as the whole value of a column of a new row, where they do what a default does. */
export const RANDOM_UUIDS: ReadonlySet<string> = new Set(wordList('gen_random_uuid uuidv4 uuidv7'));

/** Functions that a column default may also call: sequences, of which a rehearsal takes at most one value for each row, and random UUIDs. */
export const DEFAULT_FUNCTIONS: ReadonlySet<string> = new Set(['nextval', ...RANDOM_UUIDS]);

/** Functions that return several rows. Allowed only with constant arguments, so that the diff bounds the number of rows. */
export const SET_FUNCTIONS: ReadonlySet<string> = new Set(
  wordList(`generate_series generate_subscripts unnest regexp_matches regexp_split_to_table string_to_table
    json_array_elements json_array_elements_text json_each json_each_text json_object_keys json_populate_recordset json_to_recordset
    jsonb_array_elements jsonb_array_elements_text jsonb_each jsonb_each_text jsonb_object_keys jsonb_path_query
    jsonb_populate_recordset jsonb_to_recordset`),
);

const VALUES = `
  abs cbrt ceil ceiling degrees div erf erfc exp factorial floor gcd lcm ln log log10 min_scale mod pi power radians round scale sign
  sqrt trim_scale trunc width_bucket acos acosd asin asind atan atand atan2 atan2d cos cosd cot cotd sin sind tan tand sinh cosh tanh
  asinh acosh atanh
  bit_length btrim char_length character_length chr concat concat_ws convert_from convert_to decode encode format initcap left length
  lower lpad ltrim md5 normalize is_normalized octet_length overlay parse_ident position quote_ident quote_literal quote_nullable
  regexp_count regexp_instr regexp_like regexp_match regexp_replace regexp_split_to_array regexp_substr repeat replace reverse right
  rpad rtrim split_part starts_with string_to_array strpos substr substring to_ascii to_bin to_char to_hex to_oct translate
  unistr upper like notlike like_escape similar_to_escape similar_escape casefold
  bit_count crc32 crc32c get_bit get_byte set_bit set_byte sha224 sha256 sha384 sha512
  to_date to_number to_timestamp age date_add date_bin date_part date_subtract date_trunc extract isfinite justify_days justify_hours
  justify_interval make_date make_interval make_time make_timestamp make_timestamptz timezone overlaps date time timetz timestamp
  timestamptz interval
  enum_first enum_last enum_range
  area bound_box box center circle diagonal diameter height isclosed isopen line lseg npoints path pclose point popen radius
  slope width
  abbrev broadcast family host hostmask inet_merge inet_same_family masklen netmask network set_masklen text
  array_to_tsvector numnode plainto_tsquery phraseto_tsquery websearch_to_tsquery querytree setweight strip to_tsquery to_tsvector
  ts_delete ts_filter ts_headline ts_rank ts_rank_cd tsquery_phrase tsvector_to_array
  array_to_json json_array_length json_build_array json_build_object json_extract_path json_extract_path_text json_object
  json_populate_record json_strip_nulls json_to_record json_typeof row_to_json to_json
  jsonb_array_length jsonb_build_array jsonb_build_object jsonb_extract_path jsonb_extract_path_text jsonb_insert jsonb_object
  jsonb_path_exists jsonb_path_match jsonb_path_query_array jsonb_path_query_first jsonb_populate_record jsonb_pretty jsonb_set
  jsonb_set_lax jsonb_strip_nulls jsonb_to_record jsonb_typeof to_jsonb
  array_append array_cat array_dims array_length array_lower array_ndims array_position array_positions array_prepend
  array_remove array_replace array_reverse array_sort array_to_string array_upper cardinality trim_array
  isempty lower_inc lower_inf upper_inc upper_inf range_merge multirange int4range int8range numrange tsrange tstzrange daterange
  int4multirange int8multirange nummultirange tsmultirange tstzmultirange datemultirange
  num_nonnulls num_nulls uuid_extract_timestamp uuid_extract_version pg_typeof
  any_value array_agg avg bit_and bit_or bit_xor bool_and bool_or count every json_agg json_agg_strict json_object_agg
  json_object_agg_strict json_object_agg_unique json_object_agg_unique_strict jsonb_agg jsonb_agg_strict jsonb_object_agg
  jsonb_object_agg_strict jsonb_object_agg_unique jsonb_object_agg_unique_strict max min range_agg range_intersect_agg string_agg sum
  corr covar_pop covar_samp regr_avgx regr_avgy regr_count regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy stddev
  stddev_pop stddev_samp variance var_pop var_samp mode percentile_cont percentile_disc
  row_number rank dense_rank percent_rank cume_dist ntile lag lead first_value last_value nth_value
  int2 int4 int8 float4 float8 numeric bool bpchar varchar bytea`;

export const SAFE_FUNCTIONS: ReadonlySet<string> = new Set([...wordList(VALUES), ...CLOCK_FUNCTIONS, ...SET_FUNCTIONS]);

/** Clock keywords of the grammar (`SQLValueFunction`). The others (CURRENT_USER, CURRENT_SCHEMA, …) read identity or the session. */
export const CLOCK_KEYWORDS: ReadonlySet<string> = new Set(
  wordList(`SVFOP_CURRENT_DATE SVFOP_CURRENT_TIME SVFOP_CURRENT_TIME_N SVFOP_CURRENT_TIMESTAMP SVFOP_CURRENT_TIMESTAMP_N
    SVFOP_LOCALTIME SVFOP_LOCALTIME_N SVFOP_LOCALTIMESTAMP SVFOP_LOCALTIMESTAMP_N`),
);

/** The same keywords in stored expressions (`SQLVALUEFUNCTION :op n`): the numbers of the enumeration SQLValueFunctionOp up to LOCALTIMESTAMP_N. */
export const LAST_CLOCK_KEYWORD = 8;

/** True if an unqualified or pg_catalog name is on the allowlist. The catalog decides if it means the built-in function. */
export function isListed({ schema, name }: SqlName): boolean {
  return (schema === null || schema === 'pg_catalog') && SAFE_FUNCTIONS.has(name);
}

/** True for an unqualified or pg_catalog name of a random UUID. A statement that uses its value in any other way is not modelled. */
export function isRandomUuid({ schema, name }: SqlName): boolean {
  return (schema === null || schema === 'pg_catalog') && RANDOM_UUIDS.has(name);
}

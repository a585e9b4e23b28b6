import type { ColumnFact } from './sql-facts';
import type { Tree } from './parser';
import { list, strings, typed } from './tree';
import { wordList } from '../../../policy/text/word-list';

/** Stable or immutable functions of pg_catalog. Any other function counts as volatile, the conservative choice. */
const NOT_VOLATILE = new Set(
  wordList(`
  now transaction_timestamp statement_timestamp current_database current_schema current_schemas current_setting version to_timestamp to_char to_date to_number
  date_trunc date_part extract timezone make_date make_time make_timestamp make_timestamptz make_interval age justify_days justify_hours justify_interval
  lower upper initcap btrim ltrim rtrim lpad rpad replace substring substr left right length char_length octet_length md5 sha224 sha256 sha384 sha512 concat concat_ws format encode decode
  repeat reverse split_part translate abs ceil ceiling floor round trunc sign power sqrt mod exp ln log
  to_json to_jsonb json_build_object json_build_array jsonb_build_object jsonb_build_array json_object jsonb_object jsonb_set array_fill array_append array_prepend array_cat array_to_json row_to_json
  int4range int8range numrange tsrange tstzrange daterange to_tsvector to_tsquery inet cidr host network hashtext pg_client_encoding
`),
);

/** Functions of these without a parameter: a call with one means another function. */
const WITHOUT_PARAMETERS = new Set(
  wordList('now transaction_timestamp statement_timestamp current_database current_schema version pg_client_encoding'),
);

/** Volatility of a column default. ADD COLUMN with a volatile default rewrites the table. */
export function defaultKind(expression: unknown): ColumnFact['defaultKind'] {
  const kind = { volatile: false, stable: false };
  scan(expression, kind);
  return kind.volatile ? 'volatile' : kind.stable ? 'stable' : 'constant';
}

function scan(value: unknown, kind: { volatile: boolean; stable: boolean }): void {
  if (typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) {
    for (const item of value) scan(item, kind);
    return;
  }
  const node = typed(value);
  if (node?.type === 'SQLValueFunction') kind.stable = true;
  if (node?.type === 'FuncCall') {
    const parts = strings(list(node.node, 'funcname'));
    const name = parts.at(-1) ?? '';
    const isBuiltIn = parts.length === 1 || parts[0] === 'pg_catalog';
    const hasParameters = list(node.node, 'args').length > 0;
    const known = isBuiltIn && NOT_VOLATILE.has(name) && !(hasParameters && WITHOUT_PARAMETERS.has(name));
    if (known) kind.stable = true;
    else kind.volatile = true;
  }
  for (const member of Object.values(value as Tree)) scan(member, kind);
}

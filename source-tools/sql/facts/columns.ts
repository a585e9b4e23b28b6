import type { ColumnFact, ConstraintFact, SqlName } from './sql-facts';
import { defaultKind } from './default-kind';
import type { Tree } from './parser';
import { child, columnName, flag, list, nameAt, number, strings, text, typed, typedList } from './tree';
import { occurrence, type Context } from './walker';

/** Records one column definition and its constraints. */
export function column(
  node: Tree,
  table: SqlName | null,
  origin: 'create_table' | 'add_column',
  ifNotExists: boolean,
  ctx: Context,
): void {
  const constraints = typedList(node, 'constraints').map((c) => c.node);
  const find = (contype: string): Tree | undefined => constraints.find((c) => text(c, 'contype') === contype);
  const byDefault = find('CONSTR_DEFAULT');
  const generated = find('CONSTR_GENERATED');
  const { type, sized } = typeOf(node);
  ctx.facts.columns.push({
    table,
    column: text(node, 'colname'),
    origin,
    type,
    sized,
    notNull: find('CONSTR_NOTNULL') !== undefined || find('CONSTR_PRIMARY') !== undefined,
    defaultKind: byDefault === undefined || isNull(byDefault['raw_expr']) ? 'none' : defaultKind(byDefault['raw_expr']),
    generatedStored: generated !== undefined && text(generated, 'generated_kind') !== 'v',
    identity: find('CONSTR_IDENTITY') !== undefined,
    ifNotExists,
    ...occurrence(ctx, number(node, 'location')),
  });
  for (const c of constraints) constraint(c, table, origin, ctx);
}

/** DEFAULT NULL is the same as no default. */
function isNull(expression: unknown): boolean {
  const e = typed(expression);
  return e?.type === 'TypeCast' ? isNull(e.node['arg']) : e?.type === 'A_Const' && flag(e.node, 'isnull');
}

/** Type of a column definition, and whether it has a length or a precision. */
export function typeOf(column: Tree): Pick<ColumnFact, 'type' | 'sized'> {
  const name = child(column, 'typeName');
  return { type: nameAt(name, 'names').name, sized: list(name, 'typmods').length > 0 };
}

const CONSTRAINTS: Readonly<Record<string, ConstraintFact['type']>> = {
  CONSTR_PRIMARY: 'primary_key',
  CONSTR_UNIQUE: 'unique',
  CONSTR_FOREIGN: 'foreign_key',
  CONSTR_CHECK: 'check',
  CONSTR_NOTNULL: 'not_null',
  CONSTR_EXCLUSION: 'exclusion',
};

export function constraint(node: Tree, table: SqlName | null, origin: ConstraintFact['origin'], ctx: Context): void {
  const type = CONSTRAINTS[text(node, 'contype')];
  if (type === undefined) return;
  const name = text(node, 'conname');
  ctx.facts.constraints.push({
    table,
    type,
    name: name === '' ? null : name,
    origin,
    notValid: flag(node, 'skip_validation'),
    usingIndex: text(node, 'indexname') !== '',
    onDeleteCascade: text(node, 'fk_del_action') === 'c',
    onUpdateCascade: text(node, 'fk_upd_action') === 'c',
    notNullColumn: type === 'not_null' ? (strings(list(node, 'keys'))[0] ?? null) : notNullColumn(node['raw_expr']),
    ...occurrence(ctx, number(node, 'location')),
  });
}

function notNullColumn(expression: unknown): string | null {
  const e = typed(expression);
  if (e?.type !== 'NullTest' || text(e.node, 'nulltesttype') !== 'IS_NOT_NULL') return null;
  return columnName(e.node['arg']);
}

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { MODELLED_NODES } from '../../../../source-tools/sql/facts/modelled-nodes';
import { commandOf } from '../../../../source-tools/sql/facts/commands';
import { loadParser, parseStatements, type Tree } from '../../../../source-tools/sql/facts/parser';
import { isModelled, unmodelledParts } from '../../../../source-tools/sql/facts/rehearsable';
import { ROOT } from '../../../support/root';

/** The grammar as the parser's package describes it: node types with their members, and enumerations with their values. */
const TYPES = readFileSync(join(ROOT, 'node_modules/@pgsql/types/types.d.ts'), 'utf8');
const ENUMS = new Map(
  [
    ...readFileSync(join(ROOT, 'node_modules/@pgsql/types/enums.d.ts'), 'utf8').matchAll(
      /export type (\w+) = ([^;]+);/g,
    ),
  ].map(
    ([, name = '', values = '']) => [name, values.split('|').map((value) => value.trim().replaceAll('"', ''))] as const,
  ),
);
const NODES = new Map(
  [...TYPES.matchAll(/export interface (\w+) \{([^}]*)\}/g)].map(([, name = '', body = '']) => [
    name,
    new Map([...body.matchAll(/(\w+)\?: ([^;]+);/g)].map(([, member = '', type = '']) => [member, type] as const)),
  ]),
);

/** A value of the member's type, as small as possible. */
function sample(type: string): unknown {
  if (type.endsWith('[]')) return [sample(type.slice(0, -2))];
  if (type === 'Node') return { A_Const: { ival: { ival: 1 } } };
  if (type === 'string' || type === 'bigint') return 'x';
  if (type === 'boolean') return true;
  if (type === 'number') return 1;
  return ENUMS.get(type)?.[0] ?? {};
}

/** The node inside a SELECT that is otherwise known. */
const inSelect = (type: string, node: Tree): Tree => ({
  SelectStmt: {
    targetList: [{ ResTarget: { val: { [type]: node } } }],
    limitOption: 'LIMIT_OPTION_DEFAULT',
    op: 'SETOP_NONE',
  },
});
const isHeld = (type: string, node: Tree): boolean => unmodelledParts(inSelect(type, node)).length > 0;

/** Each on purpose: it only computes a value, or its effect is that of a SELECT, INSERT, UPDATE, DELETE or MERGE. */
const ALLOWED =
  `A_ArrayExpr A_Const A_Expr A_Indices A_Indirection A_Star Alias BitString BoolExpr Boolean BooleanTest CTECycleClause
  CTESearchClause CaseExpr CaseWhen CoalesceExpr CollateClause ColumnDef ColumnRef CommonTableExpr DeleteStmt Float FuncCall
  GroupingFunc GroupingSet IndexElem InferClause InsertStmt Integer JoinExpr JsonAggConstructor JsonArgument JsonArrayAgg
  JsonArrayConstructor JsonArrayQueryConstructor JsonBehavior JsonFormat JsonFuncExpr JsonIsPredicate JsonKeyValue JsonObjectAgg
  JsonObjectConstructor JsonOutput JsonParseExpr JsonReturning JsonScalarExpr JsonSerializeExpr JsonValueExpr List LockingClause
  MergeStmt MergeSupportFunc MergeWhenClause MinMaxExpr MultiAssignRef NamedArgExpr NullTest OnConflictClause ParamRef RangeFunction
  RangeSubselect RangeVar ResTarget ReturningClause ReturningOption RowExpr SQLValueFunction SelectStmt SetToDefault SortBy String
  SubLink TypeCast TypeName UpdateStmt WindowDef WithClause`.split(/\s+/);

beforeAll(loadParser);

it('reads the whole grammar', () => {
  expect(NODES.size).toBeGreaterThan(270);
  expect(ENUMS.size).toBeGreaterThan(60);
});

it('lists exactly the node types that are allowed on purpose', () => {
  expect([...MODELLED_NODES.keys()].sort()).toEqual([...ALLOWED].sort());
  expect([...MODELLED_NODES.keys()].filter((type) => !NODES.has(type))).toEqual([]);
});

it.each([...NODES.keys()])('a node of type %s is allowed on purpose or held', (type) => {
  const members = MODELLED_NODES.get(type);
  if (members === undefined) {
    expect(isHeld(type, {})).toBe(true);
    expect(isModelled({ [type]: {} })).toBe(false);
    if (type.endsWith('Stmt'))
      expect(['SELECT', 'INSERT', 'UPDATE', 'DELETE']).not.toContain(commandOf({ [type]: {} }));
    return;
  }
  for (const [member, description] of NODES.get(type) ?? []) {
    const known = members.get(member);
    if (known === undefined) expect([member, isHeld(type, { [member]: sample(description) })]).toEqual([member, true]);
    const values = ENUMS.get(description);
    if (values === undefined || known === undefined) continue;
    expect([member, known.kind]).toEqual([member, 'choice']);
    for (const value of values)
      if (known.kind === 'choice' && !known.values.has(value))
        expect([member, value, isHeld(type, { [member]: value })]).toEqual([member, value, true]);
  }
  const unknown = [...members.keys()].filter((name) => name !== 'location' && NODES.get(type)?.has(name) !== true);
  expect(unknown).toEqual([]);
});

it.each([...MODELLED_NODES.keys()])('a member or value that a later grammar adds to %s is held', (type) => {
  expect(isHeld(type, { a_new_member: true })).toBe(true);
  expect(isHeld(type, { a_new_member: { A_Const: {} } })).toBe(true);
  for (const [name, member] of MODELLED_NODES.get(type) ?? [])
    if (member.kind === 'choice') expect([name, isHeld(type, { [name]: 'A_NEW_VALUE' })]).toEqual([name, true]);
});

const STATEMENTS = [
  'SELECT a, sum(b) OVER (ORDER BY c) FROM t JOIN u USING (id) WHERE a IN (1, 2) AND EXISTS (SELECT 1) GROUP BY a LIMIT 1',
  'INSERT INTO t (a) VALUES (1) ON CONFLICT (a) DO UPDATE SET a = excluded.a RETURNING a',
  'UPDATE t SET a = CASE WHEN b THEN ARRAY[1] END FROM u WHERE t.id = u.id',
  'WITH x AS (SELECT 1) DELETE FROM t USING x WHERE t.id = 1',
];

it('holds a known statement with an unknown node, member or value at any place', async () => {
  const types = [...NODES.keys()];
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...STATEMENTS),
      fc.nat(),
      fc.constantFrom(...types),
      fc.nat(),
      async (sql, at, type, pick) => {
        const parsed = parseStatements(sql);
        if (!parsed.ok) throw new Error(parsed.message);
        const tree = structuredClone(parsed.value[0]?.stmt) as Tree;
        expect(unmodelledParts(tree)).toEqual([]);
        const places = nodesIn(tree);
        const place = places[at % places.length] as { readonly type: string; readonly node: Record<string, unknown> };
        const unlisted = [...(NODES.get(place.type) ?? [])].filter(
          ([name]) => MODELLED_NODES.get(place.type)?.has(name) !== true,
        );
        const lists = Object.entries(place.node).filter((entry): entry is [string, unknown[]] =>
          Array.isArray(entry[1]),
        );
        const member = unlisted[pick % Math.max(1, unlisted.length)];
        const list = lists[pick % Math.max(1, lists.length)];
        if (!MODELLED_NODES.has(type) && list !== undefined) list[1].push({ [type]: {} });
        else if (member !== undefined) place.node[member[0]] = sample(member[1]);
        else place.node['a_new_member'] = true;
        return unmodelledParts(tree).length > 0;
      },
    ),
    { numRuns: 500 },
  );
});

/** All nodes with a type name. */
function nodesIn(value: unknown, found: { type: string; node: Record<string, unknown> }[] = []): typeof found {
  if (typeof value !== 'object' || value === null) return found;
  for (const [key, member] of Object.entries(value)) {
    if (/^[A-Z]/.test(key) && typeof member === 'object' && member !== null && !Array.isArray(member))
      found.push({ type: key, node: member as Record<string, unknown> });
    nodesIn(member, found);
  }
  return found;
}

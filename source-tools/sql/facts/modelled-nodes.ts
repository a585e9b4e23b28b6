/**
 * The parts of PostgreSQL's grammar whose effects are known: for each node type the members that it may have, and for members of an
 * enumeration the values. An allowlist: a node, member or value that is not listed here is never executed in a dry run, and a person
 * decides about the statement. A test compares the list with all node types of the parser.
 *
 * Source: the node types of libpg-query 18 (https://github.com/pganalyze/libpg_query/blob/18-latest/protobuf/pg_query.proto).
 */
import { wordList } from '../../../policy/text/word-list';

interface Shape {
  /** Members that contain nodes or lists of nodes. */
  readonly nodes?: string;
  /** Members that contain one node without its type name, by the type. */
  readonly inline?: Readonly<Record<string, string>>;
  /** Numbers, texts and flags of any value. */
  readonly values?: string;
  /** Texts of which only the listed values are known. */
  readonly choices?: Readonly<Record<string, string>>;
}

/** What a member may contain. */
export type Member =
  | { readonly kind: 'nodes' }
  | { readonly kind: 'inline'; readonly type: string }
  | { readonly kind: 'value' }
  | { readonly kind: 'choice'; readonly values: ReadonlySet<string> };

const ORDER = 'SORTBY_DEFAULT SORTBY_ASC SORTBY_DESC';
const NULLS = 'SORTBY_NULLS_DEFAULT SORTBY_NULLS_FIRST SORTBY_NULLS_LAST';
const CALL = 'COERCE_EXPLICIT_CALL COERCE_EXPLICIT_CAST COERCE_IMPLICIT_CAST COERCE_SQL_SYNTAX';
const WITH = { withClause: 'WithClause' };
const WRITE = { relation: 'RangeVar', returningClause: 'ReturningClause', ...WITH };
/** OVERRIDING is not listed: it decides if a given value replaces that of an identity column. */
const NOT_OVERRIDING = { override: 'OVERRIDING_NOT_SET' };

const STATEMENTS: Readonly<Record<string, Shape>> = {
  SelectStmt: {
    nodes: `distinctClause targetList fromClause whereClause groupClause havingClause windowClause valuesLists sortClause
      limitOffset limitCount lockingClause`,
    inline: { ...WITH, larg: 'SelectStmt', rarg: 'SelectStmt' },
    values: 'groupDistinct all',
    choices: {
      limitOption: 'LIMIT_OPTION_DEFAULT LIMIT_OPTION_COUNT LIMIT_OPTION_WITH_TIES',
      op: 'SETOP_NONE SETOP_UNION SETOP_INTERSECT SETOP_EXCEPT',
    },
  },
  InsertStmt: {
    nodes: 'cols selectStmt',
    inline: { ...WRITE, onConflictClause: 'OnConflictClause' },
    choices: NOT_OVERRIDING,
  },
  UpdateStmt: { nodes: 'targetList whereClause fromClause', inline: WRITE },
  DeleteStmt: { nodes: 'usingClause whereClause', inline: WRITE },
  MergeStmt: { nodes: 'sourceRelation joinCondition mergeWhenClauses', inline: WRITE },
  MergeWhenClause: {
    nodes: 'condition targetList values',
    choices: {
      ...NOT_OVERRIDING,
      matchKind: 'MERGE_WHEN_MATCHED MERGE_WHEN_NOT_MATCHED_BY_SOURCE MERGE_WHEN_NOT_MATCHED_BY_TARGET',
      commandType: 'CMD_UPDATE CMD_INSERT CMD_DELETE CMD_NOTHING',
    },
  },
};

const CLAUSES: Readonly<Record<string, Shape>> = {
  ResTarget: { nodes: 'indirection val', values: 'name' },
  // Row locks end with the transaction. Only rows that no other session has locked, so that nothing waits.
  LockingClause: {
    nodes: 'lockedRels',
    choices: {
      strength: 'LCS_FORKEYSHARE LCS_FORSHARE LCS_FORNOKEYUPDATE LCS_FORUPDATE',
      waitPolicy: 'LockWaitSkip',
    },
  },
  WithClause: { nodes: 'ctes', values: 'recursive' },
  CommonTableExpr: {
    nodes: 'aliascolnames ctequery',
    inline: { search_clause: 'CTESearchClause', cycle_clause: 'CTECycleClause' },
    values: 'ctename',
    choices: { ctematerialized: 'CTEMaterializeDefault CTEMaterializeAlways CTEMaterializeNever' },
  },
  CTESearchClause: { nodes: 'search_col_list', values: 'search_breadth_first search_seq_column' },
  CTECycleClause: {
    nodes: 'cycle_col_list cycle_mark_value cycle_mark_default',
    values: 'cycle_mark_column cycle_path_column',
  },
  OnConflictClause: {
    nodes: 'targetList whereClause',
    inline: { infer: 'InferClause' },
    choices: { action: 'ONCONFLICT_NOTHING ONCONFLICT_UPDATE' },
  },
  InferClause: { nodes: 'indexElems whereClause', values: 'conname' },
  IndexElem: { nodes: 'expr collation', values: 'name', choices: { ordering: ORDER, nulls_ordering: NULLS } },
  ReturningClause: { nodes: 'options exprs' },
  ReturningOption: { values: 'value', choices: { option: 'RETURNING_OPTION_OLD RETURNING_OPTION_NEW' } },
  SortBy: { nodes: 'node useOp', choices: { sortby_dir: `${ORDER} SORTBY_USING`, sortby_nulls: NULLS } },
  WindowDef: { nodes: 'partitionClause orderClause startOffset endOffset', values: 'name refname frameOptions' },
  GroupingSet: {
    nodes: 'content',
    choices: {
      kind: 'GROUPING_SET_EMPTY GROUPING_SET_SIMPLE GROUPING_SET_ROLLUP GROUPING_SET_CUBE GROUPING_SET_SETS',
    },
  },
};

const RELATIONS: Readonly<Record<string, Shape>> = {
  // `p`: permanent. Without a database name: only the current one exists for a statement.
  RangeVar: { inline: { alias: 'Alias' }, values: 'schemaname relname inh', choices: { relpersistence: 'p' } },
  RangeSubselect: { nodes: 'subquery', inline: { alias: 'Alias' }, values: 'lateral' },
  RangeFunction: {
    nodes: 'functions coldeflist',
    inline: { alias: 'Alias' },
    values: 'lateral ordinality is_rowsfrom',
  },
  JoinExpr: {
    nodes: 'larg rarg usingClause quals',
    inline: { alias: 'Alias', join_using_alias: 'Alias' },
    values: 'isNatural rtindex',
    choices: { jointype: 'JOIN_INNER JOIN_LEFT JOIN_FULL JOIN_RIGHT' },
  },
  Alias: { nodes: 'colnames', values: 'aliasname' },
  // The columns of a function in FROM.
  ColumnDef: {
    inline: { typeName: 'TypeName', collClause: 'CollateClause' },
    values: 'colname is_local',
  },
};

const EXPRESSIONS: Readonly<Record<string, Shape>> = {
  ColumnRef: { nodes: 'fields' },
  String: { values: 'sval' },
  Integer: { values: 'ival' },
  Float: { values: 'fval' },
  Boolean: { values: 'boolval' },
  BitString: { values: 'bsval' },
  A_Const: {
    inline: { ival: 'Integer', fval: 'Float', boolval: 'Boolean', sval: 'String', bsval: 'BitString' },
    values: 'isnull',
  },
  A_Star: {},
  A_Expr: {
    nodes: 'name lexpr rexpr',
    values: 'rexpr_list_start rexpr_list_end',
    choices: {
      kind: `AEXPR_OP AEXPR_OP_ANY AEXPR_OP_ALL AEXPR_DISTINCT AEXPR_NOT_DISTINCT AEXPR_NULLIF AEXPR_IN AEXPR_LIKE AEXPR_ILIKE
        AEXPR_SIMILAR AEXPR_BETWEEN AEXPR_NOT_BETWEEN AEXPR_BETWEEN_SYM AEXPR_NOT_BETWEEN_SYM`,
    },
  },
  A_Indices: { nodes: 'lidx uidx', values: 'is_slice' },
  A_Indirection: { nodes: 'arg indirection' },
  A_ArrayExpr: { nodes: 'elements', values: 'list_start list_end' },
  BoolExpr: { nodes: 'args', choices: { boolop: 'AND_EXPR OR_EXPR NOT_EXPR' } },
  NullTest: { nodes: 'arg', values: 'argisrow', choices: { nulltesttype: 'IS_NULL IS_NOT_NULL' } },
  BooleanTest: {
    nodes: 'arg',
    choices: { booltesttype: 'IS_TRUE IS_NOT_TRUE IS_FALSE IS_NOT_FALSE IS_UNKNOWN IS_NOT_UNKNOWN' },
  },
  CaseExpr: { nodes: 'arg args defresult' },
  CaseWhen: { nodes: 'expr result' },
  CoalesceExpr: { nodes: 'args' },
  MinMaxExpr: { nodes: 'args', choices: { op: 'IS_GREATEST IS_LEAST' } },
  FuncCall: {
    nodes: 'funcname args agg_order agg_filter',
    inline: { over: 'WindowDef' },
    values: 'agg_within_group agg_star agg_distinct func_variadic',
    choices: { funcformat: CALL },
  },
  NamedArgExpr: { nodes: 'arg', values: 'name argnumber' },
  TypeCast: { nodes: 'arg', inline: { typeName: 'TypeName' } },
  TypeName: { nodes: 'names typmods arrayBounds', values: 'typemod' },
  CollateClause: { nodes: 'arg collname' },
  SubLink: {
    nodes: 'testexpr operName subselect',
    choices: { subLinkType: 'EXISTS_SUBLINK ALL_SUBLINK ANY_SUBLINK EXPR_SUBLINK ARRAY_SUBLINK' },
  },
  List: { nodes: 'items' },
  RowExpr: { nodes: 'args colnames', choices: { row_format: CALL } },
  SetToDefault: {},
  MultiAssignRef: { nodes: 'source', values: 'colno ncolumns' },
  GroupingFunc: { nodes: 'args refs' },
  ParamRef: { values: 'number' },
  // The clock. CURRENT_USER and the others read who runs the statement.
  SQLValueFunction: {
    values: 'typmod',
    choices: {
      op: `SVFOP_CURRENT_DATE SVFOP_CURRENT_TIME SVFOP_CURRENT_TIME_N SVFOP_CURRENT_TIMESTAMP SVFOP_CURRENT_TIMESTAMP_N
        SVFOP_LOCALTIME SVFOP_LOCALTIME_N SVFOP_LOCALTIMESTAMP SVFOP_LOCALTIMESTAMP_N`,
    },
  },
  MergeSupportFunc: { values: 'msftype msfcollid' },
};

const OUTPUT = { output: 'JsonOutput' };
const JSON_PARTS: Readonly<Record<string, Shape>> = {
  JsonObjectConstructor: { nodes: 'exprs', inline: OUTPUT, values: 'absent_on_null unique' },
  JsonArrayConstructor: { nodes: 'exprs', inline: OUTPUT, values: 'absent_on_null' },
  JsonArrayQueryConstructor: {
    nodes: 'query',
    inline: { ...OUTPUT, format: 'JsonFormat' },
    values: 'absent_on_null',
  },
  JsonObjectAgg: {
    inline: { constructor: 'JsonAggConstructor', arg: 'JsonKeyValue' },
    values: 'absent_on_null unique',
  },
  JsonArrayAgg: { inline: { constructor: 'JsonAggConstructor', arg: 'JsonValueExpr' }, values: 'absent_on_null' },
  JsonAggConstructor: { nodes: 'agg_filter agg_order', inline: { ...OUTPUT, over: 'WindowDef' } },
  JsonKeyValue: { nodes: 'key', inline: { value: 'JsonValueExpr' } },
  JsonValueExpr: { nodes: 'raw_expr formatted_expr', inline: { format: 'JsonFormat' } },
  JsonFormat: {
    choices: {
      format_type: 'JS_FORMAT_DEFAULT JS_FORMAT_JSON JS_FORMAT_JSONB',
      encoding: 'JS_ENC_DEFAULT JS_ENC_UTF8 JS_ENC_UTF16 JS_ENC_UTF32',
    },
  },
  JsonOutput: { inline: { typeName: 'TypeName', returning: 'JsonReturning' } },
  JsonReturning: { inline: { format: 'JsonFormat' }, values: 'typid typmod' },
  JsonIsPredicate: {
    nodes: 'expr',
    inline: { format: 'JsonFormat' },
    values: 'unique_keys',
    choices: { item_type: 'JS_TYPE_ANY JS_TYPE_OBJECT JS_TYPE_ARRAY JS_TYPE_SCALAR' },
  },
  JsonParseExpr: { inline: { expr: 'JsonValueExpr', ...OUTPUT }, values: 'unique_keys' },
  JsonScalarExpr: { nodes: 'expr', inline: OUTPUT },
  JsonSerializeExpr: { inline: { expr: 'JsonValueExpr', ...OUTPUT } },
  JsonFuncExpr: {
    nodes: 'pathspec passing',
    inline: { context_item: 'JsonValueExpr', ...OUTPUT, on_empty: 'JsonBehavior', on_error: 'JsonBehavior' },
    values: 'column_name',
    choices: {
      op: 'JSON_EXISTS_OP JSON_QUERY_OP JSON_VALUE_OP',
      wrapper: 'JSW_UNSPEC JSW_NONE JSW_CONDITIONAL JSW_UNCONDITIONAL',
      quotes: 'JS_QUOTES_UNSPEC JS_QUOTES_KEEP JS_QUOTES_OMIT',
    },
  },
  JsonBehavior: {
    nodes: 'expr',
    values: 'coerce',
    choices: {
      btype: `JSON_BEHAVIOR_NULL JSON_BEHAVIOR_ERROR JSON_BEHAVIOR_EMPTY JSON_BEHAVIOR_TRUE JSON_BEHAVIOR_FALSE
        JSON_BEHAVIOR_UNKNOWN JSON_BEHAVIOR_EMPTY_ARRAY JSON_BEHAVIOR_EMPTY_OBJECT JSON_BEHAVIOR_DEFAULT`,
    },
  },
  JsonArgument: { inline: { val: 'JsonValueExpr' }, values: 'name' },
};

const words = (text: string | undefined): readonly string[] => (text === undefined ? [] : wordList(text));

function membersOf({ nodes, inline, values, choices }: Shape): ReadonlyMap<string, Member> {
  return new Map<string, Member>([
    ...words(nodes).map((name): [string, Member] => [name, { kind: 'nodes' }]),
    ...Object.entries(inline ?? {}).map(([name, type]): [string, Member] => [name, { kind: 'inline', type }]),
    ...words(values).map((name): [string, Member] => [name, { kind: 'value' }]),
    ...Object.entries(choices ?? {}).map(([name, listed]): [string, Member] => [
      name,
      { kind: 'choice', values: new Set(words(listed)) },
    ]),
    ['location', { kind: 'value' }],
  ]);
}

/** The members of each modelled node type. */
export const MODELLED_NODES: ReadonlyMap<string, ReadonlyMap<string, Member>> = new Map(
  Object.entries({ ...STATEMENTS, ...CLAUSES, ...RELATIONS, ...EXPRESSIONS, ...JSON_PARTS }).map(
    ([type, shape]) => [type, membersOf(shape)] as const,
  ),
);

/** Operators of pg_catalog in PostgreSQL 14 to 18 (`SELECT DISTINCT oprname FROM pg_operator`). Each only computes a value. */
export const SAFE_OPERATORS: ReadonlySet<string> = new Set(
  wordList(`!! !~ !~* !~~ !~~* # ## #- #> #>> % & && &< &<| &> * *< *<= *<> *= *> *>= + - -> ->> -|- / < <-> << <<= <<| <= <> <@ <^
    = > >= >> >>= >^ ? ?# ?& ?- ?-| ?| ?|| @ @-@ @> @? @@ @@@ ^ ^@ | |&> |/ |>> || ||/ ~ ~* ~<=~ ~<~ ~= ~>=~ ~>~ ~~ ~~*`),
);

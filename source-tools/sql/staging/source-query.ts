/**
 * The rows that a statement reads from its own FROM and WHERE, as a query.
 *
 * The parts are cut from the text of the statement and used only if they parse to the same tree, so the query cannot select other
 * rows than the statement because of a rewritten name, literal or operator.
 */
import { wordList } from '../../../policy/text/word-list';
import type { Tree } from '../facts/parser';
import { lex, punctuationOf, wordOf } from '../facts/lexer';
import { child, has, list, nodeOf, onlyStatement, text, typed, typedList, type TypedNode } from '../facts/tree';

/** How many tokens are parsed to find a query, in all candidates together. About two seconds. */
const MAX_TOKENS_TRIED = 500_000;

/** `${with} SELECT … ${from}` selects one row for each row that the statement changes (more if a join matches it several times). */
interface SourceQuery {
  /** The WITH clause of the statement, or empty. */
  readonly with: string;
  /** `FROM … WHERE …`. It may end in a comment, so append text after a newline. */
  readonly from: string;
}

/** A number if the statement itself says it; null if no query is found that reads the same rows. */
export function sourceQuery(sql: string, { type, node }: TypedNode): SourceQuery | number | null {
  const source = typed(node['selectStmt'])?.node;
  if (type === 'InsertStmt') {
    if (source === undefined) return 1; // DEFAULT VALUES
    const values = list(source, 'valuesLists');
    if (values.length > 0 && !has(source, 'larg')) return values.length;
  }
  if (isNamedLikeTarget(type, node)) return null;
  if (changesBySource(node)) return null;
  const { words, count } = topLevelWords(sql);
  let left = MAX_TOKENS_TRIED;
  for (const query of candidates(type, node, sql, words)) {
    left -= count;
    if (left < 0) return null;
    if (readsTheSame(type, node, query)) return query;
  }
  return null;
}

/** MERGE … WHEN NOT MATCHED BY SOURCE: the rows of the target without a source row are not in a join with the source. */
function changesBySource(node: Tree): boolean {
  return typedList(node, 'mergeWhenClauses').some(
    (when) => text(when.node, 'matchKind') === 'MERGE_WHEN_NOT_MATCHED_BY_SOURCE',
  );
}

/** In `WITH a AS (…) UPDATE a` the target is the table, but in a SELECT the name would mean the WITH query. */
function isNamedLikeTarget(type: string, node: Tree): boolean {
  const relation = child(node, 'relation');
  if (type === 'InsertStmt' || has(relation, 'schemaname')) return false;
  return typedList(child(node, 'withClause'), 'ctes').some(
    (cte) => text(cte.node, 'ctename') === text(relation, 'relname'),
  );
}

interface Word {
  readonly word: string;
  readonly start: number;
  readonly end: number;
}

/** Words, and opening parentheses, outside of all parentheses, with offsets in UTF-16 units; and the number of all tokens. */
function topLevelWords(sql: string): { readonly words: readonly Word[]; readonly count: number } {
  const bytes = new TextEncoder().encode(sql);
  const tokens = lex(bytes);
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const words: Word[] = [];
  // The offsets are read in ascending order, so each byte is decoded once.
  let [bytesRead, units] = [0, 0];
  const offset = (at: number): number => {
    units += decoder.decode(bytes.subarray(bytesRead, at)).length;
    bytesRead = at;
    return units;
  };
  let depth = 0;
  for (let i = 0; i < tokens.count; i++) {
    const mark = punctuationOf(bytes, tokens, i);
    const [start, end] = [tokens.starts[i] as number, tokens.ends[i] as number];
    if (mark === '(' && depth === 0) words.push({ word: '(', start: offset(start), end: offset(end) });
    if (mark === '(' || mark === '[') depth++;
    else if (mark === ')' || mark === ']') depth--;
    else if (depth === 0) {
      const word = wordOf(bytes, tokens, i);
      if (KEYWORDS.has(word)) words.push({ word, start: offset(start), end: offset(end) });
    }
  }
  return { words, count: tokens.count };
}

const KEYWORDS = new Set(
  wordList(
    'with insert update delete merge into from using set where returning select values table on when overriding',
  ),
);

function* candidates(type: string, node: Tree, sql: string, words: readonly Word[]): Generator<SourceQuery> {
  const at = (...names: readonly string[]): readonly Word[] => words.filter(({ word }) => names.includes(word));
  const end: Word = { word: '', start: sql.length, end: sql.length };
  const cut = (from: Word, to: Word): string => sql.slice(from.end, to.start);
  for (const verb of at('insert', 'update', 'delete', 'merge')) {
    const prefix = has(node, 'withClause') ? sql.slice(0, verb.start) : '';
    const later = (all: readonly Word[], than: Word): readonly Word[] => all.filter(({ start }) => start >= than.end);
    if (type === 'InsertStmt') {
      // A parenthesis is usually that of the column list.
      for (const first of later([...at('select', 'with', 'values', 'table'), ...at('(')], verb))
        for (const last of [end, ...later(at('on', 'returning'), first)])
          yield { with: prefix, from: `FROM (${sql.slice(first.start, last.start)}\n) AS source` };
      continue;
    }
    if (type === 'MergeStmt') {
      for (const using of later(at('using'), verb))
        for (const on of later(at('on'), using))
          for (const when of later(at('when'), on).slice(0, 1)) {
            const into = later(at('into'), verb)[0] ?? verb;
            const join = `${cut(into, using)} RIGHT JOIN ${cut(using, on)}\nON ${cut(on, when)}`;
            yield { with: prefix, from: `FROM ${join}` };
          }
      continue;
    }
    const lists = type === 'UpdateStmt' ? at('from') : at('using');
    const target = type === 'UpdateStmt' ? verb : (later(at('from'), verb)[0] ?? verb);
    const hasList = list(node, type === 'UpdateStmt' ? 'fromClause' : 'usingClause').length > 0;
    const where = has(node, 'whereClause') ? later(at('where'), target) : [null];
    for (const condition of where) {
      const stop = [end, ...later(at('returning'), condition ?? target)];
      for (const last of stop)
        for (const more of hasList ? later(lists, target) : [null]) {
          const set = type === 'UpdateStmt' ? later(at('set'), target)[0] : undefined;
          const relation = cut(target, set ?? more ?? condition ?? last);
          const others = more === null ? '' : `, ${cut(more, condition ?? last)}`;
          const filter = condition === null ? '' : `\nWHERE ${cut(condition, last)}`;
          yield { with: prefix, from: `FROM ${relation}\n${others}${filter}` };
        }
    }
  }
}

/** True if the query selects one row for each row that the statement changes. */
function readsTheSame(type: string, node: Tree, query: SourceQuery): boolean {
  const select = onlyStatement(`${query.with} SELECT 1 ${query.from}`);
  if (select?.type !== 'SelectStmt') return false;
  const { fromClause: _, whereClause, withClause, ...rest } = select.node;
  if (plain(withClause) !== plain(node['withClause'])) return false;
  if (Object.keys(rest).some((key) => !['targetList', 'limitOption', 'op'].includes(key))) return false;
  const [first, ...others] = list(select.node, 'fromClause');
  const target = { RangeVar: child(node, 'relation') };
  switch (type) {
    case 'UpdateStmt':
    case 'DeleteStmt': {
      const joined = list(node, type === 'UpdateStmt' ? 'fromClause' : 'usingClause');
      return (
        plain(first) === plain(target) &&
        plain(others) === plain(joined) &&
        plain(whereClause) === plain(node['whereClause'])
      );
    }
    case 'MergeStmt': {
      const join = nodeOf(first);
      return (
        others.length === 0 &&
        whereClause === undefined &&
        plain(join['larg']) === plain(target) &&
        plain(join['rarg']) === plain(node['sourceRelation']) &&
        plain(join['quals']) === plain(node['joinCondition'])
      );
    }
    case 'InsertStmt': {
      const from = typed(first);
      return (
        from?.type === 'RangeSubselect' &&
        others.length === 0 &&
        whereClause === undefined &&
        plain(from.node['subquery']) === plain(node['selectStmt'])
      );
    }
    default:
      return false;
  }
}

const PLACES = /^(location|(rexpr_)?list_(start|end))$/;

/** A tree without the places of its nodes in the text. */
function plain(tree: unknown): string {
  return JSON.stringify(tree ?? null, (key, value: unknown) => (PLACES.test(key) ? undefined : value));
}

import { type Document, isAlias, isMap, isPair, isScalar, LineCounter, parseDocument, visit, type Node } from 'yaml';
import { errorMessage } from '../contracts/error-message';
import { issueAt, NOWHERE, type Issue, type Locate } from './issue';

/** A larger file is refused without parsing it, in UTF-16 units. */
const MAX_BUNDLE_CHARACTERS = 1024 * 1024;
const MAX_ALIASES = 100;

type YamlSource =
  | { readonly ok: true; readonly data: unknown; readonly locate: Locate }
  | { readonly ok: false; readonly issues: readonly Issue[] };

/**
 * Parses YAML 1.2 to plain data and keeps the place of every node. Refuses ambiguous input: duplicate keys, unknown tags,
 * keys that are not strings, numbers that JSON cannot represent, several documents and aliases that expand without limit.
 */
export function readYaml(text: string): YamlSource {
  if (text.length > MAX_BUNDLE_CHARACTERS)
    return refuse(`The file has ${text.length} characters, expected at most ${MAX_BUNDLE_CHARACTERS}`, 'Shorten it.');
  const lines = new LineCounter();
  // Not `logLevel: 'silent'`: it suppresses the error for a second document.
  const document = parseDocument(text, {
    lineCounter: lines,
    version: '1.2',
    schema: 'core',
    merge: false,
    uniqueKeys: true,
    strict: true,
  });
  // Treat warnings as errors: an unknown tag, for example, gives a value that the author did not mean.
  const problems = [...document.errors, ...document.warnings].map((problem): Issue => {
    const place = lines.linePos(problem.pos[0]);
    const [message = ''] = problem.message.split('\n');
    return { line: place.line, column: place.col, path: '', message: stripPlace(message), fix: yamlFix(problem.code) };
  });
  if (problems.length > 0) return { ok: false, issues: problems };
  const locate = locator(document, lines);
  const odd = oddNodes(document, lines);
  if (odd.length > 0) return { ok: false, issues: odd };
  if (document.contents === null)
    return refuse('The file is empty', 'Write a bundle, or create one with `countersign policy init`.');
  try {
    return { ok: true, data: document.toJS({ maxAliasCount: MAX_ALIASES }), locate };
  } catch (error) {
    return refuse(errorMessage(error), 'Write the repeated part out, without an alias.');
  }
}

function refuse(message: string, fix: string): YamlSource {
  return { ok: false, issues: [issueAt(NOWHERE, [], message, fix)] };
}

function stripPlace(message: string): string {
  const at = message.lastIndexOf(' at line ');
  return at === -1 ? message : message.slice(0, at);
}

function yamlFix(code: string): string {
  switch (code) {
    case 'DUPLICATE_KEY':
      return 'Keep one of the two.';
    case 'TAG_RESOLVE_FAILED':
      return 'Remove the tag (the word that begins with "!"), or quote the value.';
    case 'MULTIPLE_DOCS':
      return 'Keep one document: remove the line "---" and what follows.';
    case 'TAB_AS_INDENT':
      return 'Indent with spaces.';
    default:
      return 'Correct the YAML here.';
  }
}

function oddNodes(document: Document.Parsed, lines: LineCounter): Issue[] {
  const issues: Issue[] = [];
  const add = (node: unknown, message: string, fix: string): void => {
    issues.push({ ...startOf(node, lines), path: '', message, fix });
  };
  visit(document, {
    Pair: (_key, pair) => {
      if (!isScalar(pair.key) || typeof pair.key.value !== 'string')
        add(pair.key ?? pair.value, 'A key must be a string', 'Quote the key.');
      else if (pair.key.value === '<<') add(pair.key, 'The merge key "<<" is not supported', 'Write its keys out.');
      else if (pair.key.value === '__proto__') add(pair.key, 'The key "__proto__" is not allowed', 'Use another name.');
    },
    Scalar: (_key, scalar) => {
      const { value } = scalar;
      if (typeof value !== 'number' || Number.isSafeInteger(value)) return;
      if (!Number.isFinite(value) || Number.isInteger(value))
        add(
          scalar,
          `The number ${scalar.source ?? String(value)} cannot be represented exactly`,
          'Quote it, or use a smaller one.',
        );
    },
  });
  return issues;
}

function startOf(node: unknown, lines: LineCounter): { readonly line: number; readonly column: number } {
  const range = (node as Partial<Node> | null)?.range;
  if (range === undefined || range === null) return { line: 1, column: 1 };
  const { line, col } = lines.linePos(range[0]);
  return { line, column: col };
}

/** Finds the node at a path, or its nearest existing ancestor if the path does not exist. */
function locator(document: Document.Parsed, lines: LineCounter): Locate {
  return (path, key = false) => {
    let node: unknown = document.contents;
    let found: unknown = node;
    for (const [i, part] of path.entries()) {
      if (isAlias(node)) node = node.resolve(document);
      const child = childOf(node, part);
      if (child === undefined) break;
      const wantsKey = key && i === path.length - 1;
      found = wantsKey ? child.key : child.value;
      node = child.value;
    }
    return startOf(found, lines);
  };
}

function childOf(node: unknown, part: PropertyKey): { readonly key: unknown; readonly value: unknown } | undefined {
  if (isMap(node)) {
    const pair = node.items.find((item) => isPair(item) && isScalar(item.key) && item.key.value === part);
    return pair === undefined ? undefined : { key: pair.key, value: pair.value ?? pair.key };
  }
  const items = (node as { items?: unknown[] } | null)?.items;
  const item = Array.isArray(items) && typeof part === 'number' ? items[part] : undefined;
  return item === undefined ? undefined : { key: item, value: item };
}

import { RE2JS } from 're2js';
import type { DiffInput } from '../contracts/diff';
import type { Span } from '../rules/facts';
import { APPROVED, checkName, MAX_PLACES, type Rule, type RulePlace, type RuleResult } from './rule';
import { decodeLossy, readings, spanner, type TextView } from './text-view';

/** Name and version of the regex engine, which go into `logic_hash`. A test holds them to the package that is installed. */
export const PATTERN_ENGINE = { name: 're2js', version: '2.10.0' } as const;

const MAX_PATTERN_LENGTH = 2000;
const MAX_COUNTED = 1000;

interface Pattern {
  readonly source: string;
  readonly regex: RE2JS;
  readonly anchored: boolean;
}

/**
 * Blocks where the bytes match one of `forbidden`, in Go's (RE2's) syntax, linear in time (F31): `(?i)\bDROP\s+TABLE\b`.
 * Case matters unless the pattern says `(?i)`. The bytes are tried as they stand, with JSON's escapes decoded, and
 * without SQL comments, so a comment between two words and a JSON-escaped letter hide nothing (T9). It reads text, not SQL: the packs
 * with a parser see more. Compiled once, without state between calls (T8).
 * Throws TypeError for a pattern that RE2 refuses, or that matches the empty text and so everything.
 */
export function patternRule({
  name,
  forbidden,
}: {
  readonly name: string;
  readonly forbidden: readonly string[];
}): Rule {
  checkName('PatternRule', name);
  const patterns = forbidden.map((source) => compile(name, source));
  return Object.freeze({ name, apply: (diff: DiffInput) => apply(diff, patterns) });
}

/** Why `source` cannot be a forbidden pattern; null where it can. */
export function patternProblem(source: string): string | null {
  if (source === '' || source.length > MAX_PATTERN_LENGTH)
    return `expected a pattern of 1 to ${MAX_PATTERN_LENGTH} characters`;
  try {
    return RE2JS.compile(source).test('') ? 'matches the empty text, so it would block every diff' : null;
  } catch (error) {
    return `not RE2 syntax: ${error instanceof Error ? error.message : String(error)}`;
  }
}

function compile(name: string, source: string): Pattern {
  if (typeof source !== 'string')
    throw new TypeError(
      `PatternRule "${name}", forbidden: expected patterns as text in RE2 syntax, got ${typeof source}`,
    );
  const problem = patternProblem(source);
  if (problem !== null) throw new TypeError(`PatternRule "${name}", pattern ${JSON.stringify(source)}: ${problem}`);
  const anchored = ['^', '$', '\\A', '\\z'].some((anchor) => source.includes(anchor));
  return { source, regex: RE2JS.compile(source), anchored };
}

function apply(diff: DiffInput, patterns: readonly Pattern[]): RuleResult {
  const staged = decodeLossy(diff.raw);
  const found = firstMatches(staged, patterns);
  if (found.size === 0) return APPROVED;
  const toSpan = spanner(staged);
  const hits = [...found].map(([pattern, view]) => ({ pattern, spans: spansOf(pattern, view, toSpan) }));
  // The pattern is named by its place in the policy, and what matched is not quoted: it may be a secret (P12).
  const listed = patterns.flatMap((pattern, i) => (found.has(pattern) ? [`forbidden[${i}]`] : []));
  return {
    approved: false,
    severity: 'block',
    reason: `the diff matches ${listed.join(', ')}`,
    places: hits
      .flatMap(({ spans }) => spans.slice(0, MAX_PLACES).map((span): RulePlace => ({ kind: 'span', span })))
      .slice(0, MAX_PLACES),
    total: hits.reduce((n, { spans }) => n + spans.length, 0),
    details: { matched: listed },
  };
}

/** For each pattern that matches, the first reading that it matches, in the order of the patterns. */
function firstMatches(staged: string, patterns: readonly Pattern[]): Map<Pattern, TextView> {
  const found = new Map<Pattern, TextView>();
  for (const { view, part } of readings(staged)) {
    if (found.size === patterns.length) break;
    for (const pattern of patterns) {
      if (found.has(pattern) || (part && !pattern.anchored)) continue;
      if (pattern.regex.test(view.text)) found.set(pattern, view);
    }
  }
  return new Map(
    patterns.flatMap((pattern) => {
      const view = found.get(pattern);
      return view === undefined ? [] : [[pattern, view] as const];
    }),
  );
}

function spansOf(pattern: Pattern, view: TextView, toSpan: (start: number, end: number) => Span): Span[] {
  const matcher = pattern.regex.matcher(view.text);
  const spans: Span[] = [];
  while (spans.length < MAX_COUNTED && matcher.find())
    spans.push(toSpan(view.toStaged(matcher.start()), view.toStaged(matcher.end())));
  return spans;
}

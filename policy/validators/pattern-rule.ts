import { RE2JS } from 're2js';
import type { DiffInput } from '../contracts/diff';
import type { Span } from '../contracts/facts';
import { APPROVED, bytesOf, checkName, MAX_PLACES, type Rule, type RulePlace, type RuleResult } from './rule';
import { patternProblem } from '../text/pattern-problem';
import { decodeLossy, readings, spanner, type TextView } from '../text/text-view';

/** Name and version of the regex engine, part of `logic_hash`. A test compares them with the installed package. */
export const PATTERN_ENGINE = { name: 're2js', version: '2.10.0' } as const;

const MAX_COUNTED = 1000;
/**
 * Maximum work on one diff, in characters times patterns: about 7 ns each. Counted and not timed, so that every machine stops at
 * the same place. Above the limit the diff is blocked, because it was not searched completely.
 */
const MAX_PATTERN_WORK = 24_000_000;
/** Maximum length of all readings together, and their maximum number: creating a reading has a cost too. */
const MAX_READ_CHARACTERS = 4_200_000;
const MAX_READINGS = 10_000;
/** Fixed cost of one match attempt, regardless of the length of the text. */
const TRY_COST = 300;

interface Pattern {
  readonly source: string;
  readonly regex: RE2JS;
  readonly anchored: boolean;
  readonly plain: boolean;
}

/** `anyPlain` matches if any of the plain patterns does; null if there are fewer than two or they are too long together. */
interface Patterns {
  readonly each: readonly Pattern[];
  readonly anyPlain: RE2JS | null;
}

/** Letters, spaces and word boundaries only. Many such patterns can be combined into one small automaton. */
const PLAIN = /^(?:\(\?i\))?(?:[A-Za-z0-9_ -]|\\b|\\s[+*]?)+$/;
/** Maximum length of all plain patterns together. */
const MAX_PLAIN_LENGTH = 20_000;

/**
 * Blocks if the bytes match one of `forbidden`, in RE2 (Go) syntax and linear time: `(?i)\bDROP\s+TABLE\b`. Case matters
 * unless the pattern has `(?i)`. Matches the raw text, the text with JSON escapes decoded and the text without SQL
 * comments, so that neither a comment between two words nor an escaped letter hides a match. Does not parse SQL; the packs
 * with a parser find more. Compiles once and keeps no state between calls.
 * Throws TypeError for a pattern that RE2 rejects or that matches the empty text and therefore everything.
 */
export function patternRule({
  name,
  forbidden,
}: {
  readonly name: string;
  readonly forbidden: readonly string[];
}): Rule {
  checkName('PatternRule', name);
  if (!Array.isArray(forbidden))
    throw new TypeError(`PatternRule "${name}", forbidden: expected a list of patterns, got ${typeof forbidden}`);
  const each = forbidden.map((source) => compile(name, source));
  const patterns = { each, anyPlain: anyOf(each.filter(({ plain }) => plain)) };
  return Object.freeze({ name, apply: (diff: DiffInput) => apply(bytesOf(`PatternRule "${name}"`, diff), patterns) });
}

function compile(name: string, source: string): Pattern {
  if (typeof source !== 'string')
    throw new TypeError(
      `PatternRule "${name}", forbidden: expected patterns as text in RE2 syntax, got ${typeof source}`,
    );
  const problem = patternProblem(source);
  if (problem !== null) throw new TypeError(`PatternRule "${name}", pattern ${JSON.stringify(source)}: ${problem}`);
  const anchored = ['^', '$', '\\A', '\\z'].some((anchor) => source.includes(anchor));
  return { source, regex: RE2JS.compile(source), anchored, plain: PLAIN.test(source) };
}

function anyOf(plain: readonly Pattern[]): RE2JS | null {
  const source = plain.map((pattern) => `(?:${pattern.source})`).join('|');
  return plain.length < 2 || source.length > MAX_PLAIN_LENGTH ? null : RE2JS.compile(source);
}

function apply(raw: Uint8Array, patterns: Patterns): RuleResult {
  const staged = decodeLossy(raw);
  const { found, complete } = firstMatches(staged, patterns);
  if (found.size === 0 && complete) return APPROVED;
  const toSpan = spanner(staged);
  const hits = [...found].map(([pattern, view]) => ({ pattern, spans: spansOf(pattern, view, toSpan) }));
  // Name the pattern by its index in the policy and do not quote the match: it may be a secret.
  const listed = patterns.each.flatMap((pattern, i) => (found.has(pattern) ? [`forbidden[${i}]`] : []));
  return {
    approved: false,
    severity: 'block',
    reason: [
      ...(listed.length === 0 ? [] : [`the diff matches ${listed.join(', ')}`]),
      ...(complete ? [] : ['the diff has too much text to search completely; split it']),
    ].join('; '),
    places: hits
      .flatMap(({ spans }) => spans.slice(0, MAX_PLACES).map((span): RulePlace => ({ kind: 'span', span })))
      .slice(0, MAX_PLACES),
    total: hits.reduce((n, { spans }) => n + spans.length, 0),
    details: { matched: listed, ...(complete ? {} : { bounded: true }) },
  };
}

interface Matches {
  readonly found: ReadonlyMap<Pattern, TextView>;
  /** False if a limit ended the search. */
  readonly complete: boolean;
}

/** The matching patterns in their order, each with the first reading that it matches. */
function firstMatches(staged: string, patterns: Patterns): Matches {
  const first = new Map<Pattern, TextView>();
  const complete = search(staged, patterns, first);
  const found = patterns.each.flatMap((pattern) => {
    const view = first.get(pattern);
    return view === undefined ? [] : [[pattern, view] as const];
  });
  return { found: new Map(found), complete };
}

/**
 * Fills `first` and returns false if a limit ended the search. The combined pattern is a pre-check for all plain patterns. The
 * work is counted as if each had been tried, so that the optimization does not move the limit.
 */
function search(staged: string, { each, anyPlain }: Patterns, first: Map<Pattern, TextView>): boolean {
  const budget = { work: MAX_PATTERN_WORK, characters: MAX_READ_CHARACTERS, readings: MAX_READINGS };
  for (const { view, part } of readings(staged)) {
    if (first.size === each.length) return true;
    budget.characters -= view.text.length;
    budget.readings -= 1;
    if (budget.characters < 0 || budget.readings < 0) return false;
    let plainMayMatch: boolean | null = null;
    for (const pattern of each) {
      if (first.has(pattern) || (part && !pattern.anchored)) continue;
      budget.work -= view.text.length + TRY_COST;
      if (budget.work < 0) return false;
      if (pattern.plain && anyPlain !== null && !(plainMayMatch ??= anyPlain.test(view.text))) continue;
      if (pattern.regex.test(view.text)) first.set(pattern, view);
    }
  }
  return true;
}

function spansOf(pattern: Pattern, view: TextView, toSpan: (start: number, end: number) => Span): Span[] {
  const matcher = pattern.regex.matcher(view.text);
  const spans: Span[] = [];
  while (spans.length < MAX_COUNTED && matcher.find())
    spans.push(toSpan(view.toStaged(matcher.start()), view.toStaged(matcher.end())));
  return spans;
}

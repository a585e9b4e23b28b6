import { RE2JS } from 're2js';
import { foldAscii } from './fold-ascii';

/** Raise it whenever the matched text changes. Part of `logic_hash`. */
export const MARKERS_REVISION = 1;

interface Marker {
  readonly kind: string;
  /** Lower case. The pattern is tried only near these words, because a RE2JS pass over a complete diff takes milliseconds. */
  readonly words: readonly string[];
  readonly pattern: RE2JS;
}

function marker(kind: string, words: readonly string[], pattern: string): Marker {
  return { kind, words, pattern: RE2JS.compile(pattern, RE2JS.CASE_INSENSITIVE) };
}

/**
 * Text in a diff that addresses a reviewer. If a marker matches, the judge's ALLOW becomes a WARN, because the text may have
 * manipulated the judge. Markers can only raise the severity. Linear time.
 */
const MARKERS: readonly Marker[] = [
  marker(
    'override',
    ['ignore', 'disregard', 'forget', 'override', 'bypass', 'skip'],
    String.raw`(?:ignore|disregard|forget|override|bypass|skip)[\s\W]{1,20}(?:\w+[\s\W]{1,8}){0,4}(?:instructions?|directives?|prompts?|rules|polic(?:y|ies)|guidelines|context|guardrails|checks|review)\b`,
  ),
  marker(
    'verdict_json',
    ['verdict', 'approved', 'policyresults', 'instructionsindiff'],
    String.raw`["'](?:verdict|approved|policyResults|instructionsInDiff)\\?["']\s{0,8}:`,
  ),
  marker(
    'verdict_word',
    ['verdict', 'decision'],
    String.raw`\b(?:verdict|decision)\s{0,8}[:=]\s{0,8}["']?(?:ALLOW|APPROVED?|PASS|SAFE)\b`,
  ),
  marker(
    'addressed',
    ['dear', 'note to', 'attention', 'hey', 'hello', 'message', 'instruction'],
    String.raw`\b(?:dear|note to|attention|hey|hello|message (?:to|for)|instructions? (?:to|for))[\s,:]{1,4}(?:the\s+)?(?:ai|llm|model|assistant|judge|reviewer|validator|gpt|claude|system)\b`,
  ),
  marker(
    'role',
    ['you are', 'act as', 'pretend', 'from now on'],
    String.raw`\b(?:you are (?:now|an?|the)|act as|pretend (?:to be|you)|from now on,? you)\s+(?:\w+\s+){0,6}(?:ai|model|assistant|judge|reviewer|dan|mode|administrator)\b`,
  ),
  marker(
    'chat_markup',
    ['im_start', 'im_end', 'system', 'assistant', 'endoftext', 'start_header_id', 'inst]', 'instruction'],
    String.raw`<\|?(?:im_start|im_end|system|assistant|endoftext|start_header_id)\|?>|\[/?INST\]|(?:^|\n)\W{0,4}#{2,4}\s*(?:system|assistant|instruction)s?\b`,
  ),
  marker(
    'approve_order',
    ['approve', 'allow', 'accept', 'pass', 'return', 'respond with', 'answer', 'output', 'mark'],
    String.raw`\b(?:must|should|please|always|just|simply)\s+(?:be\s+)?(?:approve|allow|accept|pass|return|respond with|answer|output|mark)(?:d|ed)?\s+(?:\W{0,4}\w+\W{1,4}){0,4}(?:allow|approved?|pass(?:ed)?|safe|clear)\b`,
  ),
  marker(
    'pre_approved',
    ['approved', 'reviewed', 'validated', 'no review', 'no validation'],
    String.raw`\b(?:pre-?approved|already (?:been )?(?:approved|reviewed|validated)|no (?:review|validation) (?:is )?(?:needed|required|necessary))\b`,
  ),
  marker(
    'prompt_probe',
    [
      'system prompt',
      'secret key',
      'hidden instruction',
      'your prompt',
      'your instruction',
      'your rules',
      'your canary',
      'your nonce',
    ],
    String.raw`\b(?:reveal|print|repeat|show|leak|output)\s+(?:\w+\s+){0,4}(?:system prompt|secret key|hidden instructions?|your (?:prompt|instructions?|rules|canary|nonce))\b`,
  ),
];

const BEFORE = 120;
const AFTER = 240;

const WORDS = [...new Set(MARKERS.flatMap((m) => m.words))];
/** Finds all words in one pass. An alternation of literals, without quantifiers, so it cannot backtrack. */
const ANY_WORD = new RegExp(WORDS.map((word) => word.replaceAll(']', '\\]')).join('|'), 'g');
/** Word → indexes of the markers that may match near it. */
const BY_WORD = new Map(
  WORDS.map((word) => [
    word,
    MARKERS.flatMap((m, i) => (m.words.some((w) => w.includes(word) || word.includes(w)) ? [i] : [])),
  ]),
);

/** Kinds of markers in the text, in the order of the table. */
export function injectionMarkers(text: string): string[] {
  const lower = text.toLowerCase();
  // Some characters are longer in lower case; then positions in one text are not valid in the other.
  const aligned = lower.length === text.length ? text : lower;
  const windows = windowsIn(lower);
  return MARKERS.filter(({ pattern }, i) =>
    windows[i]?.some(([from, to]) => pattern.test(aligned.slice(from, to))),
  ).map(({ kind }) => kind);
}

export interface MarkerPlace {
  readonly kind: string;
  readonly start: number;
  readonly end: number;
}

/** Bound on places per kind. */
const MAX_PLACES = 20;

/** Places of markers: the first match in each window around the marker's words, with kinds in the order of the table. */
export function injectionPlaces(text: string): MarkerPlace[] {
  const windows = windowsIn(foldAscii(text));
  return MARKERS.flatMap(({ kind, pattern }, i) => {
    const places: MarkerPlace[] = [];
    for (const [from, to] of windows[i] ?? []) {
      const window = text.slice(from, to);
      // `test` is ten times faster than `find`.
      if (!pattern.test(window)) continue;
      const matcher = pattern.matcher(window);
      if (matcher.find()) places.push({ kind, start: from + matcher.start(), end: from + matcher.end() });
      if (places.length === MAX_PLACES) break;
    }
    return places;
  });
}

/** For each marker, in the order of the table: windows [from, to) around its words, without overlaps. */
function windowsIn(lower: string): readonly (readonly (readonly [number, number])[])[] {
  const windows: [number, number][][] = MARKERS.map(() => []);
  for (const { 0: word, index } of lower.matchAll(ANY_WORD)) {
    for (const marker of BY_WORD.get(word) ?? []) {
      const open = windows[marker] as [number, number][];
      const last = open.at(-1);
      if (last !== undefined && index - BEFORE <= last[1]) last[1] = index + AFTER;
      else open.push([Math.max(0, index - BEFORE), index + AFTER]);
    }
  }
  return windows;
}

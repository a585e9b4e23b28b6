import { RE2JS } from 're2js';
import { foldAscii } from './fold-ascii';
import { lazyPattern } from './lazy-pattern';

/** Raise it whenever the matched text changes. Part of `logic_hash`. */
export const MARKERS_REVISION = 4;

interface Marker {
  readonly kind: string;
  /** Lower case. The pattern is tried only near these words, because a RE2JS pass over a complete diff takes milliseconds. */
  readonly words: readonly string[];
  readonly pattern: () => RE2JS;
}

function marker(kind: string, words: readonly string[], pattern: string): Marker {
  return { kind, words, pattern: lazyPattern(pattern, RE2JS.CASE_INSENSITIVE) };
}

/** Between two words of a sentence: spaces, also with a line break and the start of a comment. Not the punctuation of code. */
const GAP = String.raw`[\s*#/>_-]{1,12}`;
/** Up to four words between two others. */
const WORDS_BETWEEN = String.raw`(?:[\w'-]{1,30}${GAP}){0,4}`;
const CHANGE = String.raw`(?:change|changes|patch|diff|pull request|pr|commit|migration|plan|file|code|statement|query|edit)`;
const REVIEWER = String.raw`(?:ai|llm|language model|judge|reviewers?|code reviewers?|validator|evaluators?|gpt|claude|copilot|gemini)`;

/**
 * Instructions to a reviewer in comments, strings and prose: ignore the rules, approve this change, answer with this verdict. If
 * a marker matches, the judge's ALLOW becomes a WARN, because the text may have manipulated the judge. Markers can only raise
 * the severity. A prompt that a program stores ("You are a helpful assistant") is not addressed to a reviewer. Linear time.
 */
const MARKERS: readonly Marker[] = [
  marker(
    'override',
    ['ignore', 'disregard', 'forget', 'override', 'bypass', 'permission to', 'downgrade'],
    String.raw`\b(?:ignore|disregard|forget|override|bypass)${GAP}(?:(?:all|any|every|each|the|these|those|this|your|our|previous|prior|above|earlier|preceding|foregoing|following|other|usual|existing|current|security|safety|review|policy|approval|system|of)${GAP}){1,5}(?:instructions?|directives?|prompts?|rules|polic(?:y|ies)|guidelines|guardrails|checks|review|rubric)(?:_|\b)|\bpermission to (?:ignore|bypass|skip)\b|\bdowngrade (?:every|all|any|each) (?:block|finding|violation|warning)s?\b`,
  ),
  marker(
    'override_translated',
    ['ignor', 'missacht', 'игнорир', '忽略', '無視', '무시'],
    String.raw`(?:ignorier\w{0,3}|missacht\w{0,3})\s+(?:\S{1,30}\s+){0,4}(?:anweisungen|regeln|vorgaben)|\bignor\w{0,5}\s+(?:\S{1,30}\s+){0,4}(?:règles|regles|consignes|instrucciones|reglas|istruzioni|regole|instruções|regras)|\bignore[rz]?\s+(?:toutes|les|mes|vos|ces)\s+(?:\S{1,30}\s+){0,3}instructions|игнорир\S{0,5}\s+(?:\S{1,30}\s+){0,4}(?:инструкц|правил|указани)|(?:忽略|無視|무시).{0,12}(?:指示|指令|规则|規則|지시)|(?:指示|指令|规则|規則|지시).{0,4}(?:忽略|無視|무시)`,
  ),
  marker(
    'verdict_json',
    ['verdict', 'policyresults', 'instructionsindiff', 'status', 'outcome', 'decision', 'result'],
    String.raw`["'](?:policyResults|instructionsInDiff)\\?["']\s{0,8}:|["']verdict\\?["']\s{0,8}:\s{0,8}\\?["'](?:ALLOW|APPROVED?|PASS(?:ED)?|SAFE|ACCEPT(?:ED)?)\b|["'](?:status|outcome|decision|result)\\?["']\s{0,8}:\s{0,8}\\?["'](?-i:ALLOW)\b`,
  ),
  marker(
    'verdict_word',
    ['verdict', 'decision'],
    String.raw`\b(?:verdict|(?:your|final|review|reviewer's|judge's)\s(?:decision|answer))(?:\s{0,8}[:=]\s{0,8}|\s+(?:is|must be|should be)\s+)["']?(?:ALLOW|APPROVED?|PASS|SAFE)\b|\bverdict\s+(?-i:ALLOW)\b`,
  ),
  marker(
    'addressed',
    [
      ...['dear', 'note to', 'attention', 'hey', 'hello', 'message', 'instruction'],
      ...[
        'ai reviewer',
        'ai assistant',
        'ai agent',
        'ai judge',
        'llm',
        'language model',
        'ai code',
        'ai review',
        'automated review',
        'note for',
        'note to',
        'assistant',
        'model',
      ],
    ],
    String.raw`\b(?:ai|llm|automated)[ -](?:code )?(?:reviewer|review|assistant|agent|judge)s?\s{0,2}[:,]|\b(?:automated|ai) review(?:er)?s? (?:should|must|can|may) |\b(?:assistant|model|ai|llm|bot)s? (?:that |which |who )?(?:\w+ or )?(?:reviews?|reviewing|judges|judging|evaluates|evaluating)\b|\b(?:dear|note to|attention|hey|hello|message (?:to|for)|note for|instructions? (?:to|for))[\s,:]{1,4}(?:the\s+|all\s+|any\s+)?${REVIEWER}\b`,
  ),
  marker(
    'condition',
    ['if you are', 'as the', 'reviewer', 'you are the'],
    String.raw`\b(?:if you are|as) (?:an?|the) (?:\w+ ){0,2}${REVIEWER}\b[^.\n]{0,60}\b(?:you|must|set|answer|approve|allow|ignore|mark|return)\b|\breviewers? (?:must|should|shall) (?:\w+ ){0,2}(?:approve|allow|accept|pass|return|answer|ignore|mark)\b|\byou are the (?:\w+ ){0,2}(?:judge|reviewer|validator)\b`,
  ),
  marker(
    'role',
    ['you are now', 'act as', 'pretend', 'from now on'],
    String.raw`\b(?:you are now|act as|pretend to be|pretend (?:that )?you are|from now on,? you (?:are|will|must))\s+(?:\w+\s+){0,6}(?:judge|reviewer|validator|administrator|dan|unrestricted|unfiltered|jailbroken|approve|allow|(?:developer|debug|god|admin) mode)\b`,
  ),
  marker(
    'chat_markup',
    [
      '</diff',
      '</untrusted',
      '</patch',
      'end of',
      'im_start',
      'im_end',
      'system',
      'assistant',
      'endoftext',
      'start_header_id',
      'inst]',
      'sys>>',
      'start_of_turn',
      'end_of_turn',
      'instruction',
      'response',
    ],
    String.raw`<(?:start|end)_of_turn>|<\|(?:im_start|im_end|system|assistant|endoftext|start_header_id)\|>|\[/?INST\]|<</?SYS>>|</(?:diff|patch|untrusted_\w{1,20})>|-{2,} {0,2}end of (?:diff|patch|input|change)\b|(?:^|\n)\W{0,4}#{2,4}\s*(?:system|assistant|instruction|response)s?\s*:`,
  ),
  marker(
    'approve_order',
    [
      'approve',
      'allow',
      'accept',
      'merge',
      'pass',
      'lgtm',
      'safe',
      'clear',
      'flag',
      'block',
      'reject',
      'escalate',
      'findings',
      'report',
      'human',
      'person',
      'harmless',
      'benign',
      'clean',
    ],
    String.raw`(?:(?:^|[.;:!"'\n])[+-]?\s{0,4}|\b(?:please|must|should|just|simply|always|and|then|now|to|reviewers?)${GAP})(?:approve|allow|accept|merge|pass)${GAP}(?:this|these|all|every|the${GAP}(?:attached|following|above|whole|entire|present))${GAP}${WORDS_BETWEEN}${CHANGE}\b|\b(?:must|should|please|always|just|simply|now|only|and|then|to)${GAP}(?:return|respond with|reply with|reply|answer with|answer|output|say|emit|mark)${GAP}[^.\n]{0,40}(?:\bverdict\b[^.\n]{0,12}\ballow\b|(?-i:\b(?:ALLOW|APPROVED?|LGTM|PASS|SAFE)\b)|\bpolicies clear\b)|\b(?:answer|respond|reply|say|return|output|copy)${GAP}(?:(?:with|only|verdict|just|exactly)${GAP}){0,3}["']?(?-i:ALLOW|APPROVED?|LGTM)\b|\b(?:do not|don't|never|no need to)${GAP}(?:flag|block|reject|escalate)(?:${GAP}(?:this|these|the|any|it)\b|\s?[;,.])|\b(?:do not|don't|should not|must not)${GAP}(?:raise${GAP}findings|report${GAP}anything|ask${GAP}a${GAP}(?:human|person))\b|\b(?:rate|score|classify|mark)s?${GAP}(?:this|it|every|the|all)${GAP}(?:${CHANGE}${GAP})?as${GAP}(?:safe|harmless|benign|approved|clean)\b`,
  ),
  marker(
    'pre_approved',
    ['approved', 'reviewed', 'validated', 'audited', 'review', 'signed off', 'exempt'],
    String.raw`\b(?:this|the|these)${GAP}${WORDS_BETWEEN}${CHANGE}${GAP}${WORDS_BETWEEN}(?:pre-?approved|already${GAP}(?:been${GAP})?(?:approved|reviewed|validated|audited))\b|\bpre-?approved by\b|\bno${GAP}(?:(?:further|human|additional|manual|code|more)${GAP})?(?:review|validation)${GAP}(?:is${GAP})?(?:needed|required|necessary)\b|\b(?:security|owners?|maintainers?|cto|ciso|legal|compliance|manager|team)(?: team)? (?:has |have )?(?:already )?(?:approved|reviewed|signed off on) (?:this|these|the ${CHANGE})\b|\balready approved by (?:the )?(?:security|compliance|legal|owners?|maintainers?|reviewers?|cto|ciso)\b|\bexempt from (?:\w+ )?(?:checks|reviews?|rules|polic(?:y|ies))\b|\breviewer\s?:\s?(?:lgtm|approved|ship it)\b|\b(?:needs|requires) no (?:further |human |additional |manual )?review\b`,
  ),
  marker(
    'prompt_probe',
    ['your prompt', 'your system prompt', 'your instruction', 'your rules', 'your canary', 'your nonce', 'canary and'],
    String.raw`\b(?:reveal|print|repeat|show|leak|output)\s+(?:\w+\s+){0,4}your (?:system )?(?:prompt|instructions?|rules|canary|nonce)\b`,
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

/** Spaces other than those that the patterns know: no-break, en, em, thin, ideographic, … Each is one unit, so positions stay. */
const OTHER_SPACES = /[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]/g;

/** Kinds of markers in the text, in the order of the table. */
export function injectionMarkers(staged: string): string[] {
  const text = staged.replace(OTHER_SPACES, ' ');
  const lower = text.toLowerCase();
  // Some characters are longer in lower case; then positions in one text are not valid in the other.
  const aligned = lower.length === text.length ? text : lower;
  const windows = windowsIn(lower);
  return MARKERS.filter(({ pattern }, i) =>
    windows[i]?.some(([from, to]) => pattern().test(aligned.slice(from, to))),
  ).map(({ kind }) => kind);
}

interface MarkerPlace {
  readonly kind: string;
  readonly start: number;
  readonly end: number;
}

/** Bound on places per kind. */
const MAX_PLACES = 20;

/** Places of markers: the first match in each window around the marker's words, with kinds in the order of the table. */
export function injectionPlaces(staged: string): MarkerPlace[] {
  const text = staged.replace(OTHER_SPACES, ' ');
  const windows = windowsIn(foldAscii(text));
  return MARKERS.flatMap(({ kind, pattern }, i) => {
    const places: MarkerPlace[] = [];
    for (const [from, to] of windows[i] ?? []) {
      const window = text.slice(from, to);
      // `test` is ten times faster than `find`.
      if (!pattern().test(window)) continue;
      const matcher = pattern().matcher(window);
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

import { z } from 'zod';
import type { Metadata } from '../contracts/diff';
import { MAX_EVIDENCE_REFS } from '../contracts/finding';
import type { Level } from '../contracts/plan';
import { defineRule, type Reads, type RuleOutcome, type ValidatorDefinition, type ValidatorInput } from './define';
import {
  diffEvidence,
  metadataEvidence,
  pointerEvidence,
  spanText,
  type ExtractedFacts,
  type FactsRefusal,
  type Span,
} from '../contracts/facts';
import { MAX_REASON_LENGTH } from '../contracts/limits';
import { clip } from '../text/cut-text';

/** A place with a name of its own, as a statement inside a function body has. */
export interface Located {
  readonly span: Span;
  readonly path: string;
}

/** One place where a rule fires: a span of the staged bytes or a JSON pointer into them, with what is there in plain words. */
export interface Hit {
  readonly at: Span | string | Located;
  /** What a pointer points into; the diff where absent. */
  readonly of?: 'diff' | 'metadata';
  /** Safe to print: names through `shown`, never a value that may be a secret. */
  readonly what: string;
}

/** The smallest staged text that makes the rule fire, and its nearest neighbour that does not. Shown in the docs, run by the tests. */
export interface RuleExamples {
  readonly bad: ExampleBytes;
  readonly good: ExampleBytes;
  /** Settings with which both hold; the defaults where absent. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** The tool whose bytes these are, for rules that read every tool's. */
  readonly sourceTool?: string;
  /** What the caller claims beside them, for rules that read it. */
  readonly metadata?: { readonly bad: Metadata; readonly good: Metadata };
  /** Rows that the dry run touched, for rules that read its record. */
  readonly rows?: { readonly bad: number; readonly good: number };
  /** The tool of the good one, for rules on the tool itself. */
  readonly goodSourceTool?: string;
}

/** As text, or in base64 where the bytes are no text. */
export type ExampleBytes = string | { readonly base64: string };

export interface PackRule {
  readonly definition: ValidatorDefinition;
  readonly examples: RuleExamples;
  /** What it says when it fires: BLOCK, or WARN where it only advises even if it asks a person. */
  readonly severity: 'WARN' | 'BLOCK';
  /** In one sentence: what happens where the facts that it reads are missing. */
  readonly missing: string;
}

const MISSING_FACTS =
  'Where the diff could not be read it has no answer, which is an ERROR that a person must confirm.';
const MISSING_RECORD = `${MISSING_FACTS} Before the dry run it is SKIPPED.`;
const MISSING_NOTHING = 'It reads bytes and metadata as they stand, so nothing can be missing.';
export const MISSING_PARSE = 'It is the rule that says so.';

function missingOf(reads: readonly Reads[]): string {
  if (reads.includes('staging')) return MISSING_RECORD;
  return reads.includes('facts') ? MISSING_FACTS : MISSING_NOTHING;
}

export interface PackOptions {
  readonly pack: string;
  /** `kind` of the facts that the rules read. */
  readonly kind: string;
  readonly sourceTools: readonly string[];
  readonly parser: { readonly name: string; readonly version: string };
}

export interface FactsRuleOptions<F, Config> {
  readonly name: string;
  readonly logicRevision: number;
  readonly defaultLevel: Level;
  /** BLOCK unless the rule only advises even where it asks a person. */
  readonly status?: 'WARN' | 'BLOCK';
  readonly why: string;
  readonly config: z.ZodType<Config>;
  readonly reads?: readonly Reads[];
  readonly advice?: readonly string[];
  readonly examples: RuleExamples;
  readonly find: (facts: F, config: Config, input: ValidatorInput<Config>) => readonly Hit[];
}

/** For rules without settings. */
export const noConfig = z.strictObject({});

/**
 * Makes the rules of one pack over the facts of one source tool. Without facts a rule does not pass: it is an ERROR that
 * points at why, whatever the pack's own parse rule says beside it, since a bundle may leave that one out.
 */
export function factsRules<F extends ExtractedFacts>(
  pack: PackOptions,
): <Config>(options: FactsRuleOptions<F, Config>) => PackRule {
  return (options) => {
    const { name, status = 'BLOCK', reads = ['bytes', 'facts'], advice, examples, find, ...rest } = options;
    const code = codeOf(name);
    const definition = defineRule({
      ...rest,
      name,
      reads,
      pack: pack.pack,
      parser: pack.parser,
      sourceTools: pack.sourceTools,
      docs: pageOf(pack.pack, name),
      apply: (input) => {
        const { facts } = input;
        if (!facts.ok) return unavailable(input, facts);
        if (facts.kind !== pack.kind) return unknownKind(input, facts.kind, pack.kind);
        return outcomeOf(input, find(facts as F, input.config, input), code, status, advice);
      },
    });
    return made(definition, examples, status);
  };
}

export interface BytesRuleOptions<Config> extends Omit<FactsRuleOptions<never, Config>, 'find' | 'reads'> {
  readonly reads?: readonly Reads[];
  /** The tools whose diffs it reads; all where absent. */
  readonly sourceTools?: readonly string[];
  readonly find: (input: ValidatorInput<Config>) => readonly Hit[];
}

/** Makes the rules of a pack that reads bytes and metadata as they stand: there are always some, so it always has an answer. */
export function bytesRules(
  pack: string,
  parser: PackOptions['parser'] | null,
): <Config>(options: BytesRuleOptions<Config>) => PackRule {
  return (options) => {
    const { name, status = 'BLOCK', reads = ['bytes'], advice, examples, find, sourceTools = '*', ...rest } = options;
    const code = codeOf(name);
    const definition = defineRule({
      ...rest,
      name,
      reads,
      pack,
      parser,
      sourceTools,
      docs: pageOf(pack, name),
      apply: (input) => outcomeOf(input, find(input), code, status, advice),
    });
    return made(definition, examples, status);
  };
}

/** The rule that fires where a tool's bytes gave no facts, with the extractor's own words. One in each pack. */
export function parseRule(
  pack: PackOptions,
  options: Pick<FactsRuleOptions<unknown, unknown>, 'name' | 'logicRevision' | 'defaultLevel' | 'why' | 'examples'>,
): PackRule {
  const { name, examples, ...rest } = options;
  const definition = defineRule({
    ...rest,
    name,
    reads: ['bytes', 'facts'],
    pack: pack.pack,
    parser: pack.parser,
    sourceTools: pack.sourceTools,
    config: noConfig,
    docs: pageOf(pack.pack, name),
    apply: (input): RuleOutcome => {
      const { facts } = input;
      if (!facts.ok) return refused(input, facts);
      return facts.kind === pack.kind ? { fires: false } : unknownKind(input, facts.kind, pack.kind);
    },
  });
  return { ...made(definition, examples, 'BLOCK'), missing: MISSING_PARSE };
}

/** Where a rule is described: a heading on its pack's page. */
export function pageOf(pack: string, name: string): string {
  return `docs/rules/${pack}.md#${name}`;
}

/** The rule with what its page says of it. */
export function made<Config>(
  definition: ValidatorDefinition<Config>,
  examples: RuleExamples,
  severity: PackRule['severity'] = 'BLOCK',
): PackRule {
  return {
    definition: definition as unknown as ValidatorDefinition,
    examples,
    severity,
    missing: missingOf(definition.reads),
  };
}

const SILENT: RuleOutcome = Object.freeze({ fires: false });
const SHOWN_IN_REASON = 3;
const SHOWN_IN_DETAILS = 20;
const START: Span = { startLine: 1, startColumn: 1, endLine: 1, endColumn: 1 };

/** The outcome for `hits`: nothing, or one finding with every place as evidence. */
export function outcomeOf(
  input: Pick<ValidatorInput, 'diff' | 'inputSha'>,
  hits: readonly Hit[],
  reasonCode: string,
  status: 'WARN' | 'BLOCK',
  advice?: readonly string[],
): RuleOutcome {
  if (hits.length === 0) return SILENT;
  const named = hits.slice(0, SHOWN_IN_REASON).map((hit) => `${hit.what} (${placeText(hit.at)})`);
  const more = hits.length - named.length;
  const places = [...new Set(hits.map(placeIn))];
  const evidence = places.slice(0, MAX_EVIDENCE_REFS).map((place) => evidenceOf(input, place));
  const shownPlaces = hits.slice(0, SHOWN_IN_DETAILS).map(placeDetails);
  return {
    fires: true,
    status,
    reason: clip(`${named.join('; ')}${more > 0 ? `; and ${more} more` : ''}`, MAX_REASON_LENGTH),
    reasonCode,
    evidence,
    details:
      places.length > evidence.length ? { places: shownPlaces, evidenceTotal: places.length } : { places: shownPlaces },
    ...(advice === undefined ? {} : { recommendedActions: advice }),
  };
}

/** The ERROR of a rule that has no facts to read. */
export function unavailable(input: Pick<ValidatorInput, 'diff'>, refusal: FactsRefusal): RuleOutcome {
  return {
    fires: true,
    reason: `The diff could not be read (${refusal.code}), so this rule has no answer`,
    reasonCode: 'facts_unavailable',
    errorClass: 'ErrVerdictParse',
    evidence: [diffEvidence(input.diff.diffSha, refusal.span ?? START)],
  };
}

function refused(input: Pick<ValidatorInput, 'diff'>, refusal: FactsRefusal): RuleOutcome {
  return {
    fires: true,
    reason: clip(`The diff cannot be read (${refusal.code}): ${refusal.message}`, MAX_REASON_LENGTH),
    reasonCode: refusal.code,
    evidence: [diffEvidence(input.diff.diffSha, refusal.span ?? START)],
  };
}

function unknownKind(input: Pick<ValidatorInput, 'diff'>, kind: string, expected: string): RuleOutcome {
  return {
    fires: true,
    reason: `This rule reads facts of kind "${expected}", not "${kind}"`,
    reasonCode: 'unknown_facts',
    errorClass: 'ErrUnknownDiffType',
    evidence: [diffEvidence(input.diff.diffSha, START)],
  };
}

/** The rule's name without its pack's word. */
export function codeOf(name: string): string {
  return name.slice(name.indexOf('_') + 1);
}

const MAX_POINTER = 900;

/** A hit's place without the digest before it: of thousands only the first few are made whole. */
function placeIn({ at, of }: Hit): string {
  if (typeof at === 'string') return `${of === 'metadata' ? METADATA : ''}${shortPointer(at)}`;
  return spanText('span' in at ? at.span : at);
}

/** No pointer begins with it. */
const METADATA = 'metadata';

function evidenceOf({ diff, inputSha }: Pick<ValidatorInput, 'diff' | 'inputSha'>, place: string): string {
  return place.startsWith(METADATA)
    ? metadataEvidence(inputSha, place.slice(METADATA.length))
    : pointerEvidence(diff.diffSha, place);
}

/** A pointer that is too long for a reference is cut at a token, so that it still resolves: to a parent of the place. */
function shortPointer(pointer: string): string {
  if (pointer.length <= MAX_POINTER) return pointer;
  return pointer.slice(0, pointer.lastIndexOf('/', MAX_POINTER));
}

function placeText(at: Hit['at']): string {
  if (typeof at === 'string') return at === '' ? 'the whole document' : clip(printable(at), 200);
  return 'span' in at ? at.path : `line ${at.startLine}`;
}

function placeDetails(hit: Hit): { readonly [key: string]: string | number } {
  const { at } = hit;
  const what = clip(hit.what, 500);
  if (typeof at === 'string') return { what, pointer: clip(printable(at), 500) };
  if ('span' in at) return { what, path: clip(at.path, 500), line: at.span.startLine, column: at.span.startColumn };
  return { what, line: at.startLine, column: at.startColumn };
}

/** Pointers are made of keys of the diff. */
function printable(pointer: string): string {
  let out = '';
  for (const character of pointer) {
    const code = character.codePointAt(0) as number;
    out += code > 0x20 && code < 0x7f ? character : code === 0x20 ? ' ' : `\\u{${code.toString(16)}}`;
  }
  return out;
}

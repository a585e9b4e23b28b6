import { z } from 'zod';
import { createRedactor } from '../policy/judge/redact';
import { Name } from '../policy/contracts/diff';
import {
  AnyFunction,
  described,
  givenName,
  isPromise,
  ParserShape,
  requireShape,
  shapeProblem,
  SyncFunction,
  ZodSchema,
} from '../policy/contracts/definition-shape';
import { NO_EFFECT_METADATA } from '../policy/contracts/effect-metadata';
import type { ExtractedFacts, Facts } from '../policy/contracts/facts';
import { misconfigured } from '../policy/contracts/failure';
import { frozenRegistry } from '../policy/contracts/registry';
import type {
  ClaimCheck,
  DiffMeasure,
  DiffText,
  SourceTool,
  SourceToolDefinition,
  SourceToolRegistry,
  Touched,
} from '../policy/contracts/source-tool';
import { StagingRecord } from '../policy/contracts/staging-record';
import type { TargetAccess, TargetEffects } from '../policy/contracts/target-effects';
import { oneLineTitle } from '../policy/text/change-title';
import { claimedRows } from '../policy/text/claimed-rows';
import { textRenderer } from '../policy/text/render/text';
import { wholeTexts } from '../policy/text/whole-texts';
import { checkedFacts } from './checked-facts';

const UNKNOWN: DiffMeasure = Object.freeze({ operations: null, deletions: null, rows: null });

const ToolShape = z.strictObject({
  sourceTool: z.string(),
  mode: z.enum(['enforced', 'cooperative']),
  parser: ParserShape,
  facts: AnyFunction,
  normalized: AnyFunction.optional(),
  texts: SyncFunction.optional(),
  measure: SyncFunction.optional(),
  touched: SyncFunction.optional(),
  claims: SyncFunction.optional(),
  title: SyncFunction.optional(),
  render: z
    .strictObject({
      name: z.string().min(1),
      revision: z.int().min(1),
      language: z.string().min(1),
      render: SyncFunction,
    })
    .optional(),
  effectMetadata: z
    .strictObject({
      members: z.record(z.string(), SyncFunction),
      refused: z.array(z.string()),
      required: z.array(z.string()).optional(),
    })
    .refine(({ members, required = [] }) => required.every((name) => Object.hasOwn(members, name)), {
      path: ['required'],
      error: 'expected names of "members"',
    })
    .optional(),
  factsMembers: z.record(z.string(), z.literal(true)).optional(),
  stagingSettings: ZodSchema.optional(),
  staging: AnyFunction.nullable(),
});

/** What `defineSourceTool` returns. */
const DefinedTool = ToolShape.required({
  normalized: true,
  texts: true,
  measure: true,
  touched: true,
  claims: true,
  title: true,
  render: true,
  effectMetadata: true,
});

/** Throws TypeError if an extension's source tool was not made by `defineSourceTool`. It may come from another copy of this package. */
export function requireDefinedTool(tool: unknown, where: string): void {
  const name = givenName(tool, 'sourceTool');
  requireShape(`${where}${name}: expected a source tool that defineSourceTool returned`, DefinedTool, tool);
}

/**
 * Defines a source tool; the built-in tools use it as well. Throws TypeError for a member that is missing, unknown or invalid, such
 * as an async `measure`, on an enforced tool without staging, and on a cooperative tool with staging. A reader that returns something
 * else than its type also throws TypeError, when it is called.
 */
export function defineSourceTool<F extends ExtractedFacts>(tool: SourceToolDefinition<F>): SourceTool {
  requireShape(`Source tool${givenName(tool, 'sourceTool')}`, ToolShape, tool);
  if (!Name.safeParse(tool.sourceTool).success) {
    throw new TypeError(
      `Source tool "${tool.sourceTool}": expected 1 to 63 of A-Z a-z 0-9 . _ -, starting with a letter or digit`,
    );
  }
  if (tool.mode === 'enforced' && tool.staging === null) {
    throw new TypeError(
      `Source tool "${tool.sourceTool}" is enforced but has no staging; give it staging, or make it cooperative`,
    );
  }
  if (tool.mode === 'cooperative' && tool.staging !== null) {
    throw new TypeError(
      `Source tool "${tool.sourceTool}" is cooperative but has staging; remove the staging, or make it enforced`,
    );
  }
  const { sourceTool, mode, parser, facts, normalized, texts, measure, touched, claims, title, staging } = tool;
  // The cast is safe because `given` comes from `facts` of the same tool.
  const factsOf = (given: Facts): F | null => (given.ok ? (given as F) : null);
  /** The result of a reader. A promise, or `undefined` instead of null, would be read as a change without any effect. */
  const valid = <T>(member: string, expected: string, result: T, isValid: (result: T) => boolean): T => {
    if (!isPromise(result) && isValid(result)) return result;
    if (isPromise(result)) void Promise.allSettled([result]);
    throw new TypeError(`Source tool "${sourceTool}": ${member} returned ${described(result)}; expected ${expected}`);
  };
  return Object.freeze({
    sourceTool,
    mode,
    parser: Object.freeze({ ...parser }),
    facts: async (diff) => checkedFacts(sourceTool, await facts(diff)),
    normalized: async (diff) => (normalized === undefined ? null : normalized(diff)),
    texts: (given, diff) => {
      const typed = factsOf(given);
      return typed === null || texts === undefined
        ? wholeTexts(diff.raw)
        : valid('texts', TEXTS, texts(typed, diff), areTexts);
    },
    measure: (given, diff) => {
      const typed = factsOf(given);
      if (typed === null) return UNKNOWN;
      if (measure === undefined) return { ...UNKNOWN, rows: claimedRows(diff.metadata) };
      return valid('measure', MEASURE, measure(typed, diff), isMeasure);
    },
    touched: (given, diff) => {
      const typed = factsOf(given);
      return typed === null || touched === undefined
        ? null
        : valid('touched', TOUCHED, touched(typed, diff), areTouched);
    },
    claims: (given, diff) => {
      const typed = factsOf(given);
      return typed === null || claims === undefined ? null : valid('claims', CLAIMS, claims(typed, diff), isClaims);
    },
    title: (given, diff, record) => {
      const typed = factsOf(given);
      if (typed === null) return `${sourceTool}: ${diff.raw.length} bytes that cannot be read`;
      const measured = record?.origin === 'measured' ? record : null;
      const text = title === undefined ? `${sourceTool}: ${diff.raw.length} bytes` : title(typed, diff, measured);
      // The title becomes a search attribute, which Temporal does not encrypt.
      return oneLineTitle(createRedactor().redact(valid('title', 'a string', text, (t) => typeof t === 'string')));
    },
    render: Object.freeze({ ...(tool.render ?? textRenderer) }),
    effectMetadata: Object.freeze({ ...(tool.effectMetadata ?? NO_EFFECT_METADATA) }),
    ...(tool.factsMembers === undefined ? {} : { factsMembers: Object.freeze({ ...tool.factsMembers }) }),
    ...(tool.stagingSettings === undefined ? {} : { stagingSettings: tool.stagingSettings }),
    staging: staging === null ? null : async () => checkedEffects(sourceTool, await staging()),
  } satisfies SourceTool);
}

const TEXTS = 'an array of {side, text, spanOf}';
const MEASURE = '{operations, deletions, rows}, each a whole number of at least 0, or null if unknown';
const TOUCHED = 'an array of {kind, schema, name, text, evidence}, or null if unknown';
const CLAIMS = '{subject, rows, tables}, or null if there is nothing to compare';

function areTexts(texts: readonly DiffText[]): boolean {
  return Array.isArray(texts) && texts.every((t) => areStrings(t?.side, t?.text) && typeof t.spanOf === 'function');
}

function isMeasure(measure: DiffMeasure | null | undefined): boolean {
  const { operations, deletions, rows } = measure ?? {};
  return [operations, deletions, rows].every((n) => n === null || (Number.isSafeInteger(n) && (n as number) >= 0));
}

function areTouched(touched: readonly Touched[] | null): boolean {
  if (touched === null) return true;
  return Array.isArray(touched) && touched.every((t) => areStrings(t?.kind, t?.name, t?.text, t?.evidence));
}

function isClaims(claims: ClaimCheck | null | undefined): boolean {
  return claims === null || (areStrings(claims?.subject) && Array.isArray(claims?.tables) && claims.rows !== undefined);
}

function areStrings(...values: readonly unknown[]): boolean {
  return values.every((value) => typeof value === 'string');
}

/**
 * The functions with checked results. Throws CONFIGURATION_ERROR if one is missing. An invalid result of `stage` throws
 * CONFIGURATION_ERROR as well; after one of `commit` or `seal` it is unknown whether the change was applied.
 */
function checkedEffects(sourceTool: string, effects: TargetEffects): TargetEffects {
  const missing = (['stage', 'commit', 'seal'] as const).filter((name) => typeof effects?.[name] !== 'function');
  if (missing.length > 0)
    throw misconfigured(
      `Source tool "${sourceTool}": staging gave no function ${missing.join(', ')}; let it return {stage, commit, seal}`,
    );
  const invalid = (member: string, problem: string): string =>
    `Source tool "${sourceTool}": ${member} returned an invalid result: ${problem}`;
  return Object.freeze({
    ...effects,
    stage: async (ctx) => {
      const staged = await effects.stage(ctx);
      const problem = shapeProblem(StagedShape, staged);
      if (problem !== null) throw misconfigured(invalid('stage', problem));
      return staged;
    },
    commit: async (ctx) => {
      const result = await effects.commit(ctx);
      const problem = shapeProblem(CommitShape, result);
      return problem === null ? result : { kind: 'unknown', explanation: invalid('commit', problem) };
    },
    seal: async (ctx) => {
      const readBack = await effects.seal(ctx);
      const problem = shapeProblem(ReadBackShape, readBack);
      return problem === null ? readBack : { found: 'unknown', explanation: invalid('seal', problem) };
    },
  } satisfies TargetEffects);
}

const explanation = z.string();
const effect = z.record(z.string(), z.unknown());

const StagedShape = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('staged'), record: StagingRecord, preview: effect }),
  z.object({ kind: z.literal('rejected'), stale: z.literal(true).optional(), explanation }),
]);
const CommitShape = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('applied'), effect, replayed: z.boolean() }),
  z.object({ kind: z.literal('compensated'), explanation, effect }),
  z.object({ kind: z.literal('sealed') }),
  z.object({ kind: z.enum(['stale', 'refused', 'post_failed', 'unknown']), explanation }),
]);
const ReadBackShape = z.discriminatedUnion('found', [
  z.object({ found: z.literal(true), effect }),
  z.object({ found: z.literal(false) }),
  z.object({ found: z.literal('undone'), effect, explanation }),
  z.object({ found: z.literal('unknown'), explanation }),
]);

/** An immutable registry of source tools. Throws on a duplicate name, or if the number differs from `expectedCount`. */
export function sourceToolRegistry(tools: readonly SourceTool[], expectedCount?: number): SourceToolRegistry {
  return frozenRegistry(
    'Source tool',
    tools.map((tool) => [tool.sourceTool, defineSourceTool(tool)] as const),
    expectedCount,
  );
}

/** The URL of a database target. Throws CONFIGURATION_ERROR if the target is not a database. */
export function urlOf(target: TargetAccess): string {
  if (target.url !== undefined) return target.url;
  throw misconfigured(
    `target: "${target.name}" is not a database in this committer's configuration; use another target for this source tool`,
    { target: target.name },
  );
}

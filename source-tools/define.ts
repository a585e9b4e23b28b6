import { createRedactor } from '../policy/judge/redact';
import { Name } from '../policy/contracts/diff';
import { NO_EFFECT_METADATA } from '../policy/contracts/effect-metadata';
import type { ExtractedFacts, Facts } from '../policy/contracts/facts';
import { misconfigured } from '../policy/contracts/failure';
import { frozenRegistry } from '../policy/contracts/registry';
import type {
  DiffMeasure,
  SourceTool,
  SourceToolDefinition,
  SourceToolRegistry,
} from '../policy/contracts/source-tool';
import type { TargetAccess } from '../policy/contracts/target-effects';
import { oneLineTitle } from '../policy/text/change-title';
import { claimedRows } from '../policy/text/claimed-rows';
import { textRenderer } from '../policy/text/render/text';
import { wholeTexts } from '../policy/text/whole-texts';

const UNKNOWN: DiffMeasure = Object.freeze({ operations: null, deletions: null, rows: null });

/**
 * Defines a source tool; the built-in tools use it as well. Throws TypeError on an invalid name, on an enforced tool without
 * staging, and on a cooperative tool with staging.
 */
export function defineSourceTool<F extends ExtractedFacts>(tool: SourceToolDefinition<F>): SourceTool {
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
  return Object.freeze({
    sourceTool,
    mode,
    parser: Object.freeze({ ...parser }),
    facts: async (diff) => facts(diff),
    normalized: async (diff) => (normalized === undefined ? null : normalized(diff)),
    texts: (given, diff) => {
      const typed = factsOf(given);
      return typed === null || texts === undefined ? wholeTexts(diff.raw) : texts(typed, diff);
    },
    measure: (given, diff) => {
      const typed = factsOf(given);
      if (typed === null) return UNKNOWN;
      return measure === undefined ? { ...UNKNOWN, rows: claimedRows(diff.metadata) } : measure(typed, diff);
    },
    touched: (given, diff) => {
      const typed = factsOf(given);
      return typed === null || touched === undefined ? null : touched(typed, diff);
    },
    claims: (given, diff) => {
      const typed = factsOf(given);
      return typed === null || claims === undefined ? null : claims(typed, diff);
    },
    title: (given, diff, record) => {
      const typed = factsOf(given);
      if (typed === null) return `${sourceTool}: ${diff.raw.length} bytes that cannot be read`;
      const measured = record?.origin === 'measured' ? record : null;
      const text = title === undefined ? `${sourceTool}: ${diff.raw.length} bytes` : title(typed, diff, measured);
      // The title becomes a search attribute, which Temporal does not encrypt.
      return oneLineTitle(createRedactor().redact(text));
    },
    render: Object.freeze({ ...(tool.render ?? textRenderer) }),
    effectMetadata: Object.freeze({ ...(tool.effectMetadata ?? NO_EFFECT_METADATA) }),
    ...(tool.factsMembers === undefined ? {} : { factsMembers: Object.freeze({ ...tool.factsMembers }) }),
    ...(tool.stagingSettings === undefined ? {} : { stagingSettings: tool.stagingSettings }),
    staging: staging === null ? null : async () => Object.freeze({ ...(await staging()) }),
  } satisfies SourceTool);
}

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

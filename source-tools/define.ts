import { Name } from '../policy/contracts/diff';
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
import { claimedRows } from '../policy/text/claimed-rows';
import { textRenderer } from '../policy/text/render/text';
import { wholeTexts } from '../policy/text/whole-texts';

const UNKNOWN: DiffMeasure = Object.freeze({ operations: null, deletions: null, rows: null });

/**
 * The one way to bring a source tool, for ours and for yours. Throws at once on a bad name, on a tool that is enforced
 * without staging, or cooperative with it.
 */
export function defineSourceTool<F extends ExtractedFacts>(tool: SourceToolDefinition<F>): SourceTool {
  if (!Name.safeParse(tool.sourceTool).success) {
    throw new TypeError(
      `Source tool "${tool.sourceTool}": expected 1 to 63 of A-Z a-z 0-9 . _ -, beginning with a letter or digit`,
    );
  }
  if (tool.mode === 'enforced' && tool.staging === null) {
    throw new TypeError(
      `Source tool "${tool.sourceTool}" is enforced but has no staging; give it staging, or make it cooperative`,
    );
  }
  if (tool.mode === 'cooperative' && tool.staging !== null) {
    throw new TypeError(
      `Source tool "${tool.sourceTool}" is cooperative but has staging; leave it out, or make it enforced`,
    );
  }
  const { sourceTool, mode, parser, facts, texts, measure, touched, claims, staging } = tool;
  // Facts come from `facts` of the same tool, so they are of its type.
  const read = (given: Facts): F | null => (given.ok ? (given as F) : null);
  return Object.freeze({
    sourceTool,
    mode,
    parser: Object.freeze({ ...parser }),
    facts: async (diff) => facts(diff),
    texts: (given, diff) => {
      const own = texts === undefined ? null : read(given);
      return own === null || texts === undefined ? wholeTexts(diff.raw) : texts(own, diff);
    },
    measure: (given, diff) => {
      const own = read(given);
      if (own === null) return UNKNOWN;
      return measure === undefined ? { ...UNKNOWN, rows: claimedRows(diff.metadata) } : measure(own, diff);
    },
    touched: (given, diff) => {
      const own = read(given);
      return own === null || touched === undefined ? null : touched(own, diff);
    },
    claims: (given, diff) => {
      const own = read(given);
      return own === null || claims === undefined ? null : claims(own, diff);
    },
    render: Object.freeze({ ...(tool.render ?? textRenderer) }),
    staging: staging === null ? null : async () => Object.freeze({ ...(await staging()) }),
  } satisfies SourceTool);
}

/** Complete when made; duplicates and a wrong count throw (V31, T67). */
export function sourceToolRegistry(tools: readonly SourceTool[], expectedCount?: number): SourceToolRegistry {
  return frozenRegistry(
    'Source tool',
    tools.map((tool) => [tool.sourceTool, defineSourceTool(tool)] as const),
    expectedCount,
  );
}

/** The URL of a target that has one. Throws CONFIGURATION_ERROR: a bundle that names this target for this tool cannot be served. */
export function urlOf(target: TargetAccess): string {
  if ('url' in target) return target.url;
  throw misconfigured(
    `target: "${target.name}" is no database in this committer's configuration; name another target for this source tool`,
    { target: target.name },
  );
}

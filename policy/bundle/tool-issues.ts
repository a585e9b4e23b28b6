import { checkExpression, type ConditionName, type ExpressionUse } from '../rules/condition/check-expression';
import type { SourceTool, SourceToolRegistry } from '../contracts/source-tool';
import { StagingRecord } from '../contracts/staging-record';
import type { Candidate } from './expand';
import { didYouMean, fromZod, orRegister, problem, type Path, type Problem } from './issue';
import type { Bundle } from './schema';

export type Tools = Pick<SourceToolRegistry, 'get' | 'keys'>;

/** Why a target cannot accept the diffs of one of its source tools: it is unknown here, or its settings are invalid. */
export function targetToolIssues(bundle: Bundle, targetName: string, sourceTool: string, tools: Tools): Problem[] {
  const target = bundle.targets[targetName];
  if (target === undefined) return [];
  const tool = tools.get(sourceTool);
  const path: Path = ['targets', targetName, 'sourceTools', target.sourceTools.indexOf(sourceTool)];
  if (tool === undefined)
    return [
      problem(
        path,
        `Unknown source tool "${sourceTool}": it is not registered here`,
        orRegister(sourceTool, tools.keys(), 'tools'),
      ),
    ];
  if (tool.mode === 'cooperative' && !target.cooperative.includes(sourceTool))
    return [
      problem(
        path,
        `"${sourceTool}" is not committed by Countersign: the requester performs the effect`,
        `Add "cooperative: [${sourceTool}]" to the target.`,
      ),
    ];
  if (tool.stagingSettings === undefined) return [];
  const parsed = tool.stagingSettings.safeParse(target.staging);
  const keys = Object.keys((tool.stagingSettings as { shape?: object }).shape ?? {});
  return parsed.success ? [] : fromZod(parsed.error, target.staging, keys, ['targets', targetName, 'staging']);
}

/**
 * Names of conditions that diffs of this tool do not have. `candidates`: those that read diffs of the tool. `accepted`: the
 * tools of the bundle.
 */
export function conditionIssues(
  candidates: readonly Candidate[],
  tool: SourceTool,
  accepted: readonly SourceTool[],
): Problem[] {
  return candidates.flatMap((candidate) => {
    const when = whenOf(candidate);
    const checked = when === null ? null : checkExpression(when);
    if (checked === null || !checked.ok) return [];
    const others = accepted.filter((other) => candidate.limits.sourceTools?.includes(other.sourceTool) ?? true);
    const path = [...candidate.configPath, 'when'];
    return [...checked.use.reads].flatMap(([name, fields]) =>
      [...(fields ?? [])].flatMap((field) => memberIssue(path, name, field, { use: checked.use, tool, others }) ?? []),
    );
  });
}

function whenOf({ definition, config }: Candidate): string | null {
  if (definition.implementation !== 'condition' && definition.implementation !== 'staged_condition') return null;
  const { when } = config as { readonly when?: unknown };
  return typeof when === 'string' ? when : null;
}

interface Context {
  readonly use: ExpressionUse;
  readonly tool: SourceTool;
  /** All tools whose diffs the condition reads. */
  readonly others: readonly SourceTool[];
}

function memberIssue(path: Path, name: ConditionName, field: string, context: Context): Problem | null {
  switch (name) {
    case 'metadata':
      return null; // The agent may claim anything.
    case 'diff':
      return unknownMember(path, name, field, DIFF_MEMBERS);
    case 'staging':
      return unknownMember(path, name, field, STAGING_MEMBERS);
    case 'facts':
      return factIssue(path, field, context);
    default:
      return name satisfies never;
  }
}

const DIFF_MEMBERS = ['sourceTool', 'bytes', 'diffSha'];
const STAGING_MEMBERS = ['rows', ...Object.keys(StagingRecord.shape)];

function unknownMember(path: Path, name: string, field: string, known: readonly string[]): Problem | null {
  if (known.includes(field)) return null;
  return problem(path, `"${name}" has no member "${field}"`, didYouMean(field, known));
}

/** Members of all facts, and of the refusal that takes their place. */
const ALL_FACTS = ['ok', 'kind', 'parser', 'code', 'message', 'span'];

/** A tool whose facts are not declared is not checked. `has(…)` may ask for what only some of the tools have. */
function factIssue(path: Path, field: string, { use, tool, others }: Context): Problem | null {
  if (hasFact(tool, field) !== false) return null;
  const having = others.filter((other) => hasFact(other, field) !== false).map(({ sourceTool }) => sourceTool);
  if (having.length > 0 && use.tested.has(`facts.${field}`)) return null;
  return problem(
    path,
    `${tool.sourceTool} has no fact "${field}"`,
    having.length === 0
      ? didYouMean(field, Object.keys(tool.factsMembers ?? {}))
      : `Add "sourceTools: [${having.join(', ')}]" to the entry, or test it with has(facts.${field}).`,
  );
}

/** Null if the tool does not declare its facts. */
function hasFact({ factsMembers }: SourceTool, field: string): boolean | null {
  return factsMembers === undefined ? null : ALL_FACTS.includes(field) || Object.hasOwn(factsMembers, field);
}

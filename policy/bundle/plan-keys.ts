import { didYouMean, problem, type Path, type Problem } from './issue';
import type { Bundle } from './schema';

/** A target with one of the source tools that it accepts. Each has its own plan. */
export interface PlanKey {
  readonly target: string;
  readonly sourceTool: string;
}

/** What an entry, a policy or a waiver is limited to. Absent: every source tool, every target. */
export interface Limits {
  readonly sourceTools?: readonly string[] | undefined;
  readonly targets?: readonly string[] | undefined;
}

/** All keys of a bundle, in declared order. */
export function planKeys(bundle: Bundle): PlanKey[] {
  return Object.entries(bundle.targets).flatMap(([target, { sourceTools }]) =>
    sourceTools.map((sourceTool) => ({ target, sourceTool })),
  );
}

/** The source tools that the targets of a bundle accept, each once. */
export function toolsOf(bundle: Bundle): string[] {
  return [...new Set(Object.values(bundle.targets).flatMap((target) => target.sourceTools))];
}

export function isWithin({ sourceTools, targets }: Limits, key: PlanKey): boolean {
  return (sourceTools?.includes(key.sourceTool) ?? true) && (targets?.includes(key.target) ?? true);
}

/** Limits that name a source tool which no target accepts, or a target that the bundle does not have. */
export function unknownLimits(bundle: Bundle, { sourceTools = [], targets = [] }: Limits, path: Path): Problem[] {
  const [tools, names] = [toolsOf(bundle), Object.keys(bundle.targets)];
  return [
    ...targets.flatMap((target, j) =>
      names.includes(target)
        ? []
        : [problem([...path, 'targets', j], `Unknown target "${target}"`, didYouMean(target, names))],
    ),
    ...sourceTools.flatMap((tool, j) =>
      tools.includes(tool)
        ? []
        : [problem([...path, 'sourceTools', j], `No target accepts diffs of "${tool}"`, didYouMean(tool, tools))],
    ),
  ];
}

import type { Plan } from '../contracts/plan';
import { problem, toIssues, type Issue, type Locate } from './issue';
import type { Bundle } from './schema';

const RULE = 'cross_unknown_tool';

/**
 * Source tools of the bundle whose every change the rule `cross_unknown_tool` finds, because its setting `known` does not list
 * them. `plans`: all of the bundle.
 */
export function unknownTools(bundle: Bundle, plans: readonly Plan[], locate: Locate): Issue[] {
  const found = plans.flatMap(({ target, sourceTool, validators }) => {
    const rule = validators.find(({ implementation }) => implementation === RULE);
    const known = rule?.config['known'];
    if (rule === undefined || !Array.isArray(known) || known.includes(sourceTool)) return [];
    const index = bundle.targets[target]?.sourceTools.indexOf(sourceTool) ?? 0;
    return [
      problem(
        ['targets', target, 'sourceTools', index],
        `The rule ${RULE} (level ${rule.level}) fires for every change of "${sourceTool}"`,
        `Once rules of this bundle read it, add it to the setting: ${RULE}: { config: { known: [${sourceTool}, …] } }`,
      ),
    ];
  });
  return toIssues(found, locate);
}

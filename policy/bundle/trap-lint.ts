import { isJsonObject, type JsonValue } from '../contracts/canonical-json';
import type { Plan } from '../contracts/plan';
import { BUILTIN_UNIT } from '../rules/builtin';
import type { ValidatorRegistry } from '../rules/registry';
import { ALWAYS_APPROVE } from '../validators/always-approve';
import { problem, toIssues, type Issue, type Locate, type Path, type Problem } from './issue';
import type { Bundle } from './schema';

/** Parts of a bundle that are valid and let more pass than their author expects. `plans`: all of the bundle. */
export function traps(bundle: Bundle, plans: readonly Plan[], registry: ValidatorRegistry, locate: Locate): Issue[] {
  const entries = bundle.validators.flatMap((entry, i) => [
    ...loweredRules(entry, ['validators', i, 'level'], registry),
    ...literalSigns(entry as JsonValue, ['validators', i]),
  ]);
  return toIssues(
    [...similarTargets(bundle), ...entries, ...plans.flatMap((plan) => onlyAdvice(bundle, plan))],
    locate,
  );
}

/** Rules that forbid by default, if the level of the pack is lower and the entry does not name them. */
function loweredRules(entry: Bundle['validators'][number], path: Path, registry: ValidatorRegistry): Problem[] {
  if (!('pack' in entry) || (entry.level !== 'confirm' && entry.level !== 'advise')) return [];
  const { pack, level, rules } = entry;
  const lowered = registry
    .keys()
    .flatMap((key) => registry.get(key) ?? [])
    .filter((d) => d.pack === pack && d.defaultLevel === 'forbid')
    .map(({ implementation }) => implementation)
    .filter((name) => !Object.hasOwn(rules, name));
  const [first] = lowered;
  if (first === undefined) return [];
  const message = `The level "${level}" of the pack also replaces "forbid", the default of ${lowered.join(', ')}`;
  return [problem(path, message, `List under "rules" what shall forbid, such as ${first}: forbid`)];
}

/** Members of settings that contain globs. */
const GLOBS = new Set([
  'paths',
  'also',
  'except',
  'allow',
  'deny',
  'uncounted',
  'tests',
  'configs',
  'pipelines',
  'scripts',
]);

/** What shells, gitignore or OpenAPI read as a wildcard, an exception or a parameter. `[id]` and `{{name}}` are ordinary names. */
const SIGNS = /^(?:\.{1,2}\/|!|\s)|\?|(?<!\{)\{[^{}]*\}|\[[!^]?(?:\w-\w)+\]|\s$/;

/** Globs with signs that are literal here, so that they match no ordinary path. */
function literalSigns(value: JsonValue, path: Path): Problem[] {
  if (typeof value === 'string') {
    const [sign] = SIGNS.exec(value) ?? [];
    if (sign === undefined || !path.slice(-2).some((part) => GLOBS.has(String(part)))) return [];
    const message = `In the glob ${JSON.stringify(value)}, ${JSON.stringify(sign)} is literal`;
    return [problem(path, message, 'Only * and ** are wildcards. Write one glob for each case.')];
  }
  if (Array.isArray(value)) return value.flatMap((item: JsonValue, i) => literalSigns(item, [...path, i]));
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([key, member]) => literalSigns(member, [...path, key]));
}

function similarTargets({ targets }: Bundle): Problem[] {
  const names = Object.keys(targets);
  return names.flatMap((name, i) => {
    const other = names.slice(0, i).find((earlier) => earlier.toLowerCase() === name.toLowerCase());
    if (other === undefined) return [];
    const message = `"${name}" and "${other}" are two targets: names differ by case`;
    return [problem(['targets', name], message, 'Use one spelling.', true)];
  });
}

/** A plan of which no validator holds a change. `always-approve` says so itself. */
function onlyAdvice(bundle: Bundle, { target, sourceTool, validators }: Plan): Problem[] {
  const own = validators.filter(({ unit, id }) => unit !== BUILTIN_UNIT && id !== ALWAYS_APPROVE);
  if (own.length === 0 || own.some(({ level }) => level !== 'advise')) return [];
  const index = bundle.targets[target]?.sourceTools.indexOf(sourceTool) ?? 0;
  const message = `No validator holds a change of "${sourceTool}": all of them have level "advise"`;
  return [problem(['targets', target, 'sourceTools', index], message, 'Set some of them to "confirm" or "forbid".')];
}

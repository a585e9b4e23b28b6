import { isJsonObject, type JsonValue } from '../contracts/canonical-json';
import type { Plan } from '../contracts/plan';
import { BUILTIN_UNIT } from '../rules/builtin';
import type { ValidatorRegistry } from '../rules/registry';
import { ALWAYS_APPROVE } from '../validators/always-approve';
import { problem, toIssues, type Issue, type Locate, type Path, type Problem } from './issue';
import { peopleLints } from './people-lints';
import type { Bundle, BundleWaiver } from './schema';

/** Parts of a bundle that are valid and let more pass than their author expects. `plans`: all of the bundle. */
export function traps(bundle: Bundle, plans: readonly Plan[], registry: ValidatorRegistry, locate: Locate): Issue[] {
  const entries = bundle.validators.flatMap((entry, i) => [
    ...loweredRules(entry, ['validators', i, 'level'], registry),
    ...textsIn(entry as JsonValue, ['validators', i]).flatMap(([path, text]) => [
      ...literalSigns(text, path),
      ...misreadPattern(text, path),
      ...constantCondition(text, path),
    ]),
  ]);
  return toIssues(
    [
      ...similarTargets(bundle),
      ...peopleLints(bundle),
      ...entries,
      ...plans.flatMap((plan) => onlyAdvice(bundle, plan)),
      ...targetsWithoutRules(bundle, plans, registry),
    ],
    locate,
  );
}

/** Rules that forbid by default, if the level of the pack is lower and the entry does not name them. */
function loweredRules(entry: Bundle['validators'][number], path: Path, registry: ValidatorRegistry): Problem[] {
  if (!('pack' in entry) || entry.level === undefined || entry.level === 'forbid') return [];
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
const SIGNS = /^(?:\.{1,2}\/|!|\s)|\?|\\|(?<!\{)\{[^{}]*\}|\[[!^]?(?:\w-\w)+\]|\s$/;

/** Globs with signs that are literal here, so that they match no ordinary path. */
function literalSigns(glob: string, path: Path): Problem[] {
  const [sign] = SIGNS.exec(glob) ?? [];
  if (sign === undefined || !path.slice(-2).some((part) => GLOBS.has(String(part)))) return [];
  const message = `In the glob ${JSON.stringify(glob)}, ${JSON.stringify(sign)} is literal`;
  return [
    problem(path, message, 'Only * and ** are wildcards, and / separates folders. Write one glob for each case.'),
  ];
}

/** `^` at the start and `$` at the end of a pattern without the flag `m`, and slashes with flags as in JavaScript. */
const ANCHORED = /^(?:\(\?[a-ln-z]+\))?(?:(\^)|(?!\(\?[a-z]*m)[^]*[^\\](\$)$)/;
const SLASHES = /^\/[^]*\/[gimsu]{1,3}$/;

/** Forbidden patterns that match less than they seem to. */
function misreadPattern(pattern: string, path: Path): Problem[] {
  if (path.at(-2) !== 'forbidden') return [];
  const text = JSON.stringify(pattern);
  if (SLASHES.test(pattern))
    return [
      problem(path, `In the pattern ${text}, the slashes are literal`, 'Remove them; a flag is written as (?i).'),
    ];
  const [, start, end] = ANCHORED.exec(pattern) ?? [];
  if (start === undefined && end === undefined) return [];
  const message = `In the pattern ${text}, "${start ?? end}" is the ${start === undefined ? 'end' : 'start'} of the whole diff, not of a line`;
  return [problem(path, message, 'For lines, begin with (?m). For the whole diff, write \\A or \\z.')];
}

const TEXT_LITERAL = /'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"/g;
const LITERALS: ReadonlySet<string> = new Set(['true', 'false', 'null', 'in']);

/** A condition without a name of anything in the change. Only `true` is written on purpose: it holds every change. */
function constantCondition(expression: string, path: Path): Problem[] {
  if (path.at(-2) !== 'condition' || path.at(-1) !== 'when' || expression.trim() === 'true') return [];
  const names = expression.replaceAll(TEXT_LITERAL, '').match(/[a-z_]\w*/gi) ?? [];
  if (!names.every((name) => LITERALS.has(name))) return [];
  const message = `The condition ${JSON.stringify(expression)} reads nothing of the change`;
  return [problem(path, message, 'Read a member of the change, such as diff.bytes, or remove the condition.')];
}

/** All texts in a value, each with its path. */
function textsIn(value: JsonValue, path: Path): (readonly [Path, string])[] {
  if (typeof value === 'string') return [[path, value]];
  if (Array.isArray(value)) return value.flatMap((item: JsonValue, i) => textsIn(item, [...path, i]));
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([key, member]) => textsIn(member, [...path, key]));
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

/** Targets without a rule for a source tool for which other targets have one: the limited entries may not have been extended to a new target. */
function targetsWithoutRules(bundle: Bundle, plans: readonly Plan[], registry: ValidatorRegistry): Problem[] {
  const definitions = registry.keys().flatMap((key) => registry.get(key) ?? []);
  // Packs such as `secrets` read every tool, even if some of their rules do not.
  const general = new Set(definitions.filter((d) => d.sourceTools === '*').map((d) => d.pack));
  const hasRules = ({ validators }: Plan): boolean =>
    validators.some(({ id, implementation }) => {
      const definition = registry.get(implementation);
      return id === ALWAYS_APPROVE || (definition !== undefined && !general.has(definition.pack));
    });
  const elsewhere = new Set(plans.filter(hasRules).map(({ sourceTool }) => sourceTool));
  return plans.flatMap((plan) => {
    const { target, sourceTool } = plan;
    if (hasRules(plan) || !elsewhere.has(sourceTool)) return [];
    const index = bundle.targets[target]?.sourceTools.indexOf(sourceTool) ?? 0;
    const message = `No rule for "${sourceTool}" reads the changes of this target: the rules for it are limited to other targets`;
    return [problem(['targets', target, 'sourceTools', index], message, 'Add the target to their "targets".')];
  });
}

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

/** Waivers that have expired at `at` (ISO 8601, UTC). */
export function expiredWaivers(bundle: Bundle, at: string, locate: Locate): Issue[] {
  const expired = bundle.waivers.flatMap((waiver, i) =>
    Date.parse(at) < Date.parse(waiver.expires)
      ? []
      : [
          problem(
            ['waivers', i, 'expires'],
            `Waiver "${waiver.id}" expired at ${waiver.expires}`,
            'Remove the waiver, or give it a new reason and date.',
          ),
        ],
  );
  return toIssues(expired, locate);
}

/** Waivers that no change can use: they have no effect, but a reader of the bundle expects one. `plans`: all of the bundle. */
export function unusedWaivers(bundle: Bundle, plans: readonly Plan[], locate: Locate): Issue[] {
  const used = new Set(plans.flatMap((plan) => plan.waivers.map(({ id }) => id)));
  const unused = bundle.waivers.flatMap((waiver, i) => {
    const path = ['waivers', i, 'id'];
    if (!used.has(waiver.id))
      return [
        problem(
          path,
          `Waiver "${waiver.id}" is never used: ${waiver.validatorId} does not run for its targets and source tools`,
          'Remove it, or correct its scope.',
        ),
      ];
    const first = bundle.waivers.slice(0, i).find((earlier) => covers(earlier, waiver));
    if (first === undefined) return [];
    return [problem(path, `Waiver "${waiver.id}" is never used: "${first.id}" covers it`, 'Remove one of the two.')];
  });
  return toIssues(unused, locate);
}

/** Whether `wide` waives whatever `narrow` does, at least as long. */
function covers(wide: BundleWaiver, narrow: BundleWaiver): boolean {
  if (wide.validatorId !== narrow.validatorId || Date.parse(wide.expires) < Date.parse(narrow.expires)) return false;
  return Object.entries(wide.scope).every(([limit, allowed]) => {
    const own = narrow.scope[limit as keyof BundleWaiver['scope']];
    return own !== undefined && own.every((value) => (allowed as readonly string[]).includes(value));
  });
}

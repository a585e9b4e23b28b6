import type { Phase } from '../contracts/finding';
import type { Level } from '../contracts/plan';
import { AGGREGATE } from '../contracts/readings';
import { JUDGE_ID, JUDGE_IMPLEMENTATION } from '../judge/config';
import { BUILTIN_VALIDATORS } from '../rules/builtin';
import type { ValidatorDefinition } from '../rules/define';
import type { ValidatorRegistry } from '../rules/registry';
import { ALWAYS_APPROVE } from '../validators/always-approve';
import { didYouMean, orRegister, problem, type Path, type Problem } from './issue';
import { idOf } from './level';
import { isWithin, type Limits, type PlanKey } from './plan-keys';
import type { Bundle, BundleEntry } from './schema';

/** One validator that an entry declares. Its config is not validated yet. */
export interface Candidate {
  readonly id: string;
  readonly unit: string;
  readonly definition: ValidatorDefinition;
  readonly level: Level;
  readonly phase: Phase;
  readonly config: unknown;
  /** Paths for issues: of the entry or the rule, and of its config. */
  readonly path: Path;
  readonly configPath: Path;
  /** What the entry is limited to. */
  readonly limits: Limits;
}

export interface Expansion {
  readonly candidates: readonly Candidate[];
  readonly issues: readonly Problem[];
}

/** The validators of each entry for all targets and source tools; one item for each entry, in declared order. */
export function expandEntries(bundle: Bundle, registry: ValidatorRegistry): Expansion[] {
  return bundle.validators.map((entry, i) => {
    const { candidates, issues } = expandEntry(entry, ['validators', i], registry);
    const { sourceTools, targets } = entry;
    return { candidates: candidates.map((candidate) => ({ ...candidate, limits: { sourceTools, targets } })), issues };
  });
}

/** The candidates that read diffs of one source tool for one target. */
export function candidatesFor(expansions: readonly Expansion[], key: PlanKey): Candidate[] {
  return expansions.flatMap(({ candidates }) => candidates.filter((candidate) => reads(candidate, key)));
}

/** Whether the validator reads diffs of this source tool, and its entry is not limited to other tools or targets. */
export function reads({ definition, limits }: Candidate, key: PlanKey): boolean {
  const canRead = definition.sourceTools === '*' || definition.sourceTools.includes(key.sourceTool);
  return canRead && isWithin(limits, key);
}

function expandEntry(entry: BundleEntry, path: Path, registry: ValidatorRegistry): Expansion {
  const named = (implementation: string, member: string, { level, ...config }: Named): Expansion =>
    one({ implementation, name: config.name, config, level }, path, [...path, member], registry);
  if ('pack' in entry) return expandPack(entry, path, registry);
  if ('judge' in entry) {
    const { judge: config, version } = entry;
    const wanted = {
      implementation: JUDGE_IMPLEMENTATION,
      id: JUDGE_ID,
      unit: JUDGE_IMPLEMENTATION,
      config,
      version,
      level: 'confirm',
    } as const;
    return one(wanted, path, [...path, 'judge'], registry);
  }
  if ('validator' in entry) return named('rule_validator', 'validator', entry.validator);
  if ('composite' in entry) return named('composite', 'composite', entry.composite);
  if ('aggregate' in entry) return named(AGGREGATE, 'aggregate', entry.aggregate);
  if ('condition' in entry) {
    const { staged, ...settings } = entry.condition;
    return named(staged ? 'staged_condition' : 'condition', 'condition', settings);
  }
  if ('rule' in entry) return expandRule(entry, path, registry);
  const config = entry[ALWAYS_APPROVE];
  return one(
    { implementation: 'always_approve', id: ALWAYS_APPROVE, unit: ALWAYS_APPROVE, config },
    path,
    [...path, ALWAYS_APPROVE],
    registry,
  );
}

/** The settings of an entry that gives its validator a name. */
interface Named {
  readonly name: string;
  readonly level?: Level | undefined;
}

function expandRule(
  entry: Extract<BundleEntry, { readonly rule: string }>,
  path: Path,
  registry: ValidatorRegistry,
): Expansion {
  const { rule, level, version, phase, config = {} } = entry;
  const registered = registry.get(rule);
  if (registered !== undefined && OWN_FORM.has(registered.implementation)) {
    return refuse(
      problem(
        [...path, 'rule'],
        `"${rule}" cannot be used as a rule`,
        'It is built in or has another form of entry: see `countersign policy schema`.',
      ),
    );
  }
  return one({ implementation: rule, name: rule, config, level, version, phase }, path, [...path, 'config'], registry, [
    ...path,
    'rule',
  ]);
}

/** Registry keys that cannot be used with `rule:`, because they have another form of entry or none. */
const OWN_FORM: ReadonlySet<string> = new Set([
  JUDGE_IMPLEMENTATION,
  'rule_validator',
  'composite',
  'condition',
  'staged_condition',
  AGGREGATE,
  'always_approve',
  ...BUILTIN_VALIDATORS.map((d) => d.implementation),
]);

interface Wanted {
  readonly implementation: string;
  readonly name?: string;
  readonly id?: string;
  readonly unit?: string;
  readonly config: unknown;
  readonly level?: Level | undefined;
  readonly version?: string | undefined;
  readonly phase?: Phase | undefined;
}

function one(
  wanted: Wanted,
  path: Path,
  configPath: Path,
  registry: ValidatorRegistry,
  namePath: Path = path,
): Expansion {
  const definition = registry.get(wanted.implementation);
  if (definition === undefined) {
    const known = registry.keys().filter((key) => !OWN_FORM.has(key));
    return refuse(
      problem(
        namePath,
        `Unknown rule "${wanted.implementation}": it is not registered here`,
        orRegister(wanted.implementation, known, 'rules'),
      ),
    );
  }
  const version = versionIssue(definition, wanted.version, [...path, 'version']);
  if (version !== null) return refuse(version);
  const level = wanted.level ?? definition.defaultLevel;
  const name = wanted.name ?? wanted.implementation;
  return {
    issues: [],
    candidates: [
      {
        id: wanted.id ?? idOf(level, name),
        unit: wanted.unit ?? name,
        definition,
        level,
        phase: wanted.phase ?? definition.phase,
        config: wanted.config,
        path,
        configPath,
        limits: {},
      },
    ],
  };
}

function expandPack(entry: Extract<BundleEntry, { pack: string }>, path: Path, registry: ValidatorRegistry): Expansion {
  const all = registry.keys().flatMap((key) => registry.get(key) ?? []);
  const members = all.filter((definition) => definition.pack === entry.pack);
  if (members.length === 0) {
    const packs = [...new Set(all.flatMap((definition) => definition.pack ?? []))];
    return refuse(problem([...path, 'pack'], `Unknown pack "${entry.pack}"`, orRegister(entry.pack, packs, 'rules')));
  }
  const issues: Problem[] = [];
  const names = members.map((definition) => definition.implementation);
  for (const rule of Object.keys(entry.rules)) {
    if (!names.includes(rule))
      issues.push(
        problem([...path, 'rules', rule], `Pack "${entry.pack}" has no rule "${rule}"`, didYouMean(rule, names), true),
      );
  }
  const candidates = members.flatMap((definition): Candidate[] => {
    const setting = Object.hasOwn(entry.rules, definition.implementation)
      ? entry.rules[definition.implementation]
      : undefined;
    if (setting === 'off') return [];
    const own = typeof setting === 'object' ? setting : { level: setting };
    const rulePath = setting === undefined ? [...path, 'pack'] : [...path, 'rules', definition.implementation];
    const version = versionIssue(definition, 'version' in own ? own.version : undefined, [...rulePath, 'version']);
    if (version !== null) issues.push(version);
    const level = own.level ?? entry.level ?? definition.defaultLevel;
    const config = 'config' in own ? (own.config ?? {}) : {};
    return [
      {
        id: idOf(level, definition.implementation),
        unit: entry.pack,
        definition,
        level,
        phase: definition.phase,
        config,
        path: rulePath,
        configPath: [...rulePath, 'config'],
        limits: {},
      },
    ];
  });
  return { candidates, issues };
}

function versionIssue(definition: ValidatorDefinition, wanted: string | undefined, path: Path): Problem | null {
  if (wanted === undefined || wanted === definition.version) return null;
  return problem(
    path,
    `"${definition.implementation}" has version ${definition.version}, but the bundle requires ${wanted}`,
    `Change the version to ${definition.version} after reading what changed, or install ${wanted}.`,
  );
}

function refuse(issue: Problem): Expansion {
  return { candidates: [], issues: [issue] };
}

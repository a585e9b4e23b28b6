import type { Phase } from '../contracts/finding';
import type { Level } from '../contracts/plan';
import { AGGREGATE } from '../contracts/readings';
import { BUILTIN_VALIDATORS } from '../rules/builtin';
import type { ValidatorDefinition } from '../rules/define';
import type { ValidatorRegistry } from '../rules/registry';
import { ALWAYS_APPROVE } from '../validators/always-approve';
import { didYouMean, issueAt, type Issue, type Locate, type Path } from './issue';
import { idOf } from './level';
import type { Bundle, BundleEntry } from './schema';

/** Registry key of the judge, which has its own form of entry and cannot be used with `rule:`. */
const JUDGE = 'llm_judge';
export const JUDGE_ID = 'guardian.llm_judge';

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
  /** Source tools that the entry is limited to; null: every tool that the validator reads. */
  readonly onlyFor: readonly string[] | null;
}

export interface Expansion {
  readonly candidates: readonly Candidate[];
  readonly issues: readonly Issue[];
}

/** The validators of each entry for all source tools; one item for each entry, in declared order. */
export function expandEntries(bundle: Bundle, registry: ValidatorRegistry, locate: Locate): Expansion[] {
  return bundle.validators.map((entry, i) => {
    const { candidates, issues } = expandEntry(entry, ['validators', i], registry, locate);
    const allowed = entry.sourceTools;
    return { candidates: candidates.map((candidate) => ({ ...candidate, onlyFor: allowed ?? null })), issues };
  });
}

/** The candidates that read diffs of one source tool. */
export function candidatesFor(expansions: readonly Expansion[], sourceTool: string): Candidate[] {
  return expansions.flatMap(({ candidates }) => candidates.filter((candidate) => looksAt(candidate, sourceTool)));
}

export function looksAt({ definition, onlyFor }: Candidate, sourceTool: string): boolean {
  const reads = definition.sourceTools === '*' || definition.sourceTools.includes(sourceTool);
  return reads && (onlyFor === null || onlyFor.includes(sourceTool));
}

function expandEntry(entry: BundleEntry, path: Path, registry: ValidatorRegistry, locate: Locate): Expansion {
  if ('pack' in entry) return expandPack(entry, path, registry, locate);
  if ('judge' in entry) {
    return one(
      {
        implementation: JUDGE,
        id: JUDGE_ID,
        unit: JUDGE,
        config: entry.judge,
        version: entry.version,
        level: 'confirm',
      },
      path,
      [...path, 'judge'],
      registry,
      locate,
    );
  }
  if ('validator' in entry) {
    const { level, ...config } = entry.validator;
    return one(
      { implementation: 'rule_validator', name: config.name, config, level },
      path,
      [...path, 'validator'],
      registry,
      locate,
    );
  }
  if ('composite' in entry) {
    const { level, ...config } = entry.composite;
    return one(
      { implementation: 'composite', name: config.name, config, level },
      path,
      [...path, 'composite'],
      registry,
      locate,
    );
  }
  if ('condition' in entry) {
    const { level, staged, ...config } = entry.condition;
    const implementation = staged ? 'staged_condition' : 'condition';
    return one({ implementation, name: config.name, config, level }, path, [...path, 'condition'], registry, locate);
  }
  if ('aggregate' in entry) {
    const { level, ...config } = entry.aggregate;
    return one(
      { implementation: AGGREGATE, name: config.name, config, level },
      path,
      [...path, 'aggregate'],
      registry,
      locate,
    );
  }
  if ('rule' in entry) return expandRule(entry, path, registry, locate);
  const config = entry[ALWAYS_APPROVE];
  return one(
    { implementation: 'always_approve', id: ALWAYS_APPROVE, unit: ALWAYS_APPROVE, config },
    path,
    [...path, ALWAYS_APPROVE],
    registry,
    locate,
  );
}

function expandRule(
  entry: Extract<BundleEntry, { readonly rule: string }>,
  path: Path,
  registry: ValidatorRegistry,
  locate: Locate,
): Expansion {
  const { rule, level, version, phase, config = {} } = entry;
  const registered = registry.get(rule);
  if (registered !== undefined && !mayBeNamed(registered)) {
    return refuse(
      issueAt(
        locate,
        [...path, 'rule'],
        `"${rule}" cannot be used as a rule`,
        'It is built in or has another form of entry: see `countersign policy schema`.',
      ),
    );
  }
  return one(
    { implementation: rule, name: rule, config, level, version, phase },
    path,
    [...path, 'config'],
    registry,
    locate,
    [...path, 'rule'],
  );
}

const OWN_FORM: ReadonlySet<string> = new Set([
  JUDGE,
  'rule_validator',
  'composite',
  'condition',
  'staged_condition',
  AGGREGATE,
  'always_approve',
  ...BUILTIN_VALIDATORS.map((d) => d.implementation),
]);

function mayBeNamed(definition: ValidatorDefinition): boolean {
  return !OWN_FORM.has(definition.implementation);
}

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
  locate: Locate,
  namePath: Path = path,
): Expansion {
  const definition = registry.get(wanted.implementation);
  if (definition === undefined) {
    const known = registry.keys().filter((key) => !OWN_FORM.has(key));
    return refuse(
      issueAt(
        locate,
        namePath,
        `Unknown rule "${wanted.implementation}": it is not registered here`,
        didYouMean(wanted.implementation, known),
      ),
    );
  }
  const version = versionIssue(definition, wanted.version, [...path, 'version'], locate);
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
        onlyFor: null,
      },
    ],
  };
}

function expandPack(
  entry: Extract<BundleEntry, { pack: string }>,
  path: Path,
  registry: ValidatorRegistry,
  locate: Locate,
): Expansion {
  const all = registry.keys().flatMap((key) => registry.get(key) ?? []);
  const members = all.filter((definition) => definition.pack === entry.pack);
  if (members.length === 0) {
    const packs = [...new Set(all.flatMap((definition) => definition.pack ?? []))];
    return refuse(issueAt(locate, [...path, 'pack'], `Unknown pack "${entry.pack}"`, didYouMean(entry.pack, packs)));
  }
  const issues: Issue[] = [];
  const names = members.map((definition) => definition.implementation);
  for (const rule of Object.keys(entry.rules)) {
    if (!names.includes(rule))
      issues.push(
        issueAt(
          locate,
          [...path, 'rules', rule],
          `Pack "${entry.pack}" has no rule "${rule}"`,
          didYouMean(rule, names),
          true,
        ),
      );
  }
  const candidates = members.flatMap((definition): Candidate[] => {
    const setting = Object.hasOwn(entry.rules, definition.implementation)
      ? entry.rules[definition.implementation]
      : undefined;
    if (setting === 'off') return [];
    const own = typeof setting === 'object' ? setting : { level: setting };
    const rulePath = setting === undefined ? [...path, 'pack'] : [...path, 'rules', definition.implementation];
    const version = versionIssue(
      definition,
      'version' in own ? own.version : undefined,
      [...rulePath, 'version'],
      locate,
    );
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
        onlyFor: null,
      },
    ];
  });
  return { candidates, issues };
}

function versionIssue(
  definition: ValidatorDefinition,
  wanted: string | undefined,
  path: Path,
  locate: Locate,
): Issue | null {
  if (wanted === undefined || wanted === definition.version) return null;
  return issueAt(
    locate,
    path,
    `"${definition.implementation}" has version ${definition.version}, but the bundle requires ${wanted}`,
    `Change the version to ${definition.version} after reading what changed, or install ${wanted}.`,
  );
}

function refuse(issue: Issue): Expansion {
  return { candidates: [], issues: [issue] };
}

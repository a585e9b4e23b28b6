import { canonicalJson } from '../contracts/canonical-json';
import { errorMessage } from '../contracts/error-message';
import { fromZod, pathText, problem, toIssues, type Issue, type Locate, type Problem, type Path } from './issue';
import { keysOf } from './json-schema';
import { BundleSchema, type Bundle } from './schema';
import { readYaml } from './yaml-source';

type ParsedBundle =
  | { readonly ok: true; readonly bundle: Bundle; readonly locate: Locate }
  | { readonly ok: false; readonly issues: readonly Issue[] };

/**
 * Parses and validates a bundle, or returns all of its issues in text order. Never throws. Does not check names against
 * the registries; `compilePlan` does.
 */
export function parseBundle(yamlText: string): ParsedBundle {
  const source = readYaml(yamlText);
  if (!source.ok) return source;
  const placeholders = placeholderIssues(source.data);
  if (placeholders.length > 0) return { ok: false, issues: toIssues(placeholders, source.locate) };
  const parsed = BundleSchema.safeParse(source.data);
  if (!parsed.success)
    return { ok: false, issues: toIssues(fromZod(parsed.error, source.data, keysOf(BundleSchema)), source.locate) };
  const issues = crossCheck(parsed.data);
  if (issues.length > 0) return { ok: false, issues: toIssues(issues, source.locate) };
  try {
    // As deep as what is hashed later: a plan contains settings of the bundle.
    canonicalJson({ bundle: parsed.data });
  } catch (error) {
    const message = `The bundle cannot be hashed: ${errorMessage(error)}`;
    const fix = 'Write it with fewer levels, and without half of a surrogate pair.';
    return { ok: false, issues: toIssues([problem([], message, fix)], source.locate) };
  }
  return { ok: true, bundle: parsed.data, locate: source.locate };
}

/** Checks that involve several members. */
function crossCheck(bundle: Bundle): Problem[] {
  return [...targetIssues(bundle), ...groupIssues(bundle), ...nameIssues(bundle), ...validatorIssues(bundle)];
}

function targetIssues(bundle: Bundle): Problem[] {
  return Object.entries(bundle.targets).flatMap(([name, target]) => {
    const issues: Problem[] = [];
    if (target.answers === 'unsigned' && !target.development) {
      issues.push(
        problem(
          ['targets', name, 'answers'],
          'Unsigned answers outside development would let anyone with access to the Temporal namespace approve',
          'Use "signed", or set "development: true" for a target that is not production.',
        ),
      );
    }
    target.cooperative.forEach((tool, i) => {
      if (target.sourceTools.includes(tool)) return;
      issues.push(
        problem(
          ['targets', name, 'cooperative', i],
          `"${tool}" is not a source tool of target "${name}"`,
          `Add it to targets.${name}.sourceTools, or remove it here.`,
        ),
      );
    });
    return [...issues, ...repeated(target.sourceTools, ['targets', name, 'sourceTools'], 'Source tool')];
  });
}

function groupIssues(bundle: Bundle): Problem[] {
  const issues: Problem[] = [];
  const known = Object.keys(bundle.groups);
  for (const [name, { members }] of Object.entries(bundle.groups)) {
    if (members.length === 0)
      issues.push(
        problem(
          ['groups', name, 'members'],
          `Group "${name}" has no members, so no one could answer`,
          'Add a person, or remove the group.',
        ),
      );
    issues.push(...repeated(members, ['groups', name, 'members'], 'Member'));
  }
  const uses: readonly (readonly [Path, string | undefined, number])[] = [
    [[], bundle.defaultGroup, 1],
    [['implicit'], bundle.implicit.group, bundle.implicit.quorum],
    ...bundle.policies.map(({ group, quorum }, i) => [['policies', i], group, quorum] as const),
  ];
  for (const [of, named, quorum] of uses) {
    const path = named === undefined || of.length === 0 ? ['defaultGroup'] : [...of, 'group'];
    const group = named ?? bundle.defaultGroup;
    const members = bundle.groups[group]?.members;
    const like = known.length === 0 ? 'Add it under "groups".' : `Use one of: ${known.join(', ')}`;
    if (members === undefined) issues.push(problem(path, `Unknown group "${group}"`, like));
    else if (members.length > 0 && members.length < quorum)
      issues.push(
        problem(
          [...of, 'quorum'],
          `Group "${group}" has ${members.length} member(s), fewer than the quorum of ${quorum}`,
          'Lower the quorum, or add members.',
        ),
      );
  }
  // The default group is checked for itself and for each policy that names no group: keep one issue.
  return issues.filter(
    (issue, i) =>
      issues.findIndex((other) => pathText(other.path) === pathText(issue.path) && other.message === issue.message) ===
      i,
  );
}

function nameIssues(bundle: Bundle): Problem[] {
  const reserved = bundle.policies.flatMap((policy, i) =>
    policy.key === 'implicit'
      ? [
          problem(
            ['policies', i, 'key'],
            'The key "implicit" is reserved for the policy that applies if no other matches',
            'Choose another key.',
          ),
        ]
      : [],
  );
  const keys = bundle.policies.map((policy) => policy.key);
  const waivers = bundle.waivers.map((waiver) => waiver.id);
  return [
    ...reserved,
    ...repeated(keys, ['policies'], 'Policy key', 'key'),
    ...repeated(waivers, ['waivers'], 'Waiver', 'id'),
  ];
}

function validatorIssues(bundle: Bundle): Problem[] {
  if (bundle.validators.length > 0) return [];
  return [
    problem(
      ['validators'],
      'The bundle has no validators, so no change would be checked',
      'Add at least one; to opt out explicitly, write "- always-approve: {reason: …}".',
    ),
  ];
}

function repeated(names: readonly string[], path: readonly PropertyKey[], what: string, member?: string): Problem[] {
  return names.flatMap((name, i) =>
    names.indexOf(name) === i
      ? []
      : [
          problem(
            member === undefined ? [...path, i] : [...path, i, member],
            `${what} "${name}" is a duplicate`,
            'Keep one of the two.',
          ),
        ],
  );
}

/** `${NAME}`, also with a default value, as shells and compose files write it. `${{ … }}` of pipelines is an ordinary text. */
const PLACEHOLDER = /\$\{[A-Za-z_][^{}]*\}/;

/** Placeholders in keys and values. Nothing replaces them, so the text would be used as it is. */
export function placeholderIssues(data: unknown, path: Path = []): Problem[] {
  if (typeof data === 'string') return issueOf(data, path, false);
  if (typeof data !== 'object' || data === null) return [];
  if (Array.isArray(data)) return data.flatMap((item, i) => placeholderIssues(item, [...path, i]));
  return Object.entries(data).flatMap(([key, value]) => [
    ...issueOf(key, [...path, key], true),
    ...placeholderIssues(value, [...path, key]),
  ]);
}

function issueOf(text: string, path: Path, atKey: boolean): Problem[] {
  const [found] = PLACEHOLDER.exec(text) ?? [];
  if (found === undefined) return [];
  const fix = 'Write the value, or replace it before the check, for example with envsubst.';
  return [problem(path, `"${found}" is not replaced: a bundle has no variables`, fix, atKey)];
}

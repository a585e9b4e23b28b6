import { JUDGE_ID } from '../judge/config';
import { BUILTIN_VALIDATORS } from '../rules/builtin';
import type { CallbackRegistry } from '../rules/callback';
import { candidatesFor, reads, type Candidate, type Expansion } from './expand';
import { didYouMean, orRegister, problem, type Problem } from './issue';
import { classOf, idOf } from './level';
import { isWithin, planKeys, toolsOf, unknownLimits, type PlanKey } from './plan-keys';
import type { Bundle, BundlePolicy } from './schema';

type Ids = ReadonlyMap<string, 'POLICY' | 'SAFETY' | 'shadow'>;

/**
 * Issues for parts of a bundle that could never have an effect, over all of its targets and tools: an entry that reads no
 * tool of any target, a policy or waiver for an unknown validator, a callback that is not registered.
 */
export function orphanIssues(bundle: Bundle, expansions: readonly Expansion[], callbacks: CallbackRegistry): Problem[] {
  return [
    ...entryIssues(bundle, expansions),
    ...policyIssues(bundle, expansions, callbacks),
    ...waiverIssues(bundle, idsIn(planKeys(bundle), expansions), attestedIds(expansions)),
  ];
}

function entryIssues(bundle: Bundle, expansions: readonly Expansion[]): Problem[] {
  const keys = planKeys(bundle);
  return expansions.flatMap(({ candidates }, i) => {
    const limits = limitIssues(bundle, candidates, i, keys);
    if (limits.length > 0 || candidates.length === 0) return limits;
    if (candidates.some((candidate) => keys.some((key) => reads(candidate, key)))) return [];
    const fix = `The targets accept ${toolsOf(bundle).join(', ')}. Correct the entry, or remove it.`;
    return [problem(['validators', i], 'This entry matches no target', fix)];
  });
}

/** Source tools and targets that entry `i` is limited to, but which do not exist or whose diffs its validators do not read. */
function limitIssues(bundle: Bundle, candidates: readonly Candidate[], i: number, keys: readonly PlanKey[]): Problem[] {
  const path = ['validators', i];
  const unknown = unknownLimits(bundle, bundle.validators[i] ?? {}, path);
  if (unknown.length > 0 || candidates.length === 0) return unknown;
  const readsSome = (within: (key: PlanKey) => boolean): boolean =>
    keys.some((key) => within(key) && candidates.some((candidate) => reads(candidate, key)));
  const { sourceTools = [], targets = [] } = bundle.validators[i] ?? {};
  return [
    ...sourceTools.flatMap((tool, j) =>
      readsSome(({ sourceTool }) => sourceTool === tool)
        ? []
        : [problem([...path, 'sourceTools', j], `The entry does not read diffs of "${tool}"`, 'Remove it here.')],
    ),
    ...targets.flatMap((name, j) =>
      readsSome(({ target }) => target === name)
        ? []
        : [problem([...path, 'targets', j], `The entry reads no diffs for target "${name}"`, 'Remove it here.')],
    ),
  ];
}

/** Why a validator that is not POLICY never asks anyone. */
function neverAsks(kind: 'SAFETY' | 'shadow'): string {
  return kind === 'shadow' ? 'it has level "shadow"' : 'it is SAFETY and never asks anyone';
}

/** What to do about an id without a prefix, or with the prefix of another level. Null for other ids. */
function prefixFix(id: string, ids: Ids): string | null {
  const named = [...ids.keys()].find((own) => own.endsWith(`.${id}`));
  if (named !== undefined) return `Write its id: "${named}".`;
  const [prefix, name] = id.split(/\.(.*)/);
  const other = `${prefix === 'guardian' ? 'safety' : 'guardian'}.${name}`;
  const kind = prefix === 'guardian' || prefix === 'safety' ? ids.get(other) : undefined;
  if (kind === undefined) return null;
  return kind === 'SAFETY'
    ? `At level "forbid" or "advise" its id is "${other}", and no one is asked. Set the rule to level "confirm", or remove it here.`
    : `At its level the id is "${other}".`;
}

/** Ids that a policy or waiver may name in the plans of these keys, with their class or `shadow`. */
function idsIn(keys: readonly PlanKey[], expansions: readonly Expansion[]): Ids {
  const ids = new Map<string, 'POLICY' | 'SAFETY' | 'shadow'>();
  for (const key of keys) {
    for (const { id, level } of candidatesFor(expansions, key))
      if (level !== 'shadow') ids.set(id, classOf(level));
      else if (!ids.has(id)) ids.set(id, 'shadow');
  }
  for (const { defaultLevel, implementation } of BUILTIN_VALIDATORS)
    ids.set(idOf(defaultLevel, implementation), classOf(defaultLevel));
  return ids;
}

function policyIssues(bundle: Bundle, expansions: readonly Expansion[], callbacks: CallbackRegistry): Problem[] {
  const keys = planKeys(bundle);
  const all = idsIn(keys, expansions);
  const asked = [...all].filter(([, kind]) => kind === 'POLICY').map(([id]) => id);
  return bundle.policies.flatMap((policy, i) => {
    const path = ['policies', i, 'match'] as const;
    const issues = unknownLimits(bundle, policy.match, path);
    const matched = keys.filter((key) => isWithin(policy.match, key));
    if (issues.length === 0 && matched.length === 0)
      issues.push(problem(path, 'This policy matches no target', 'Correct "sourceTools" or "targets".'));
    const ids = issues.length > 0 ? all : idsIn(matched, expansions);
    policy.match.validatorIds?.forEach((id, j) => {
      const at = [...path, 'validatorIds', j];
      const kind = ids.get(id);
      if (kind === undefined && all.has(id))
        issues.push(
          problem(
            at,
            `"${id}" cannot trigger this policy: the targets and source tools that the policy is limited to do not have it`,
            prefixFix(id, ids) ?? 'Correct "sourceTools" or "targets", or remove it here.',
          ),
        );
      else if (kind === undefined)
        issues.push(
          problem(
            at,
            `Unknown validator "${id}": it can never trigger this policy`,
            prefixFix(id, all) ?? didYouMean(id, asked),
          ),
        );
      else if (kind !== 'POLICY')
        issues.push(
          problem(
            at,
            `"${id}" cannot trigger this policy: ${neverAsks(kind)}`,
            'Set the rule to level "confirm", or remove it here.',
          ),
        );
    });
    if (policy.callback === null) return issues;
    if (!policy.requiresConfirmation) issues.push(...aloneIssues(bundle, policy, i));
    const { key, version } = policy.callback;
    const registered = callbacks.get(key);
    if (registered === undefined)
      issues.push(
        problem(
          ['policies', i, 'callback', 'key'],
          `Unknown callback "${key}": it is not registered here`,
          orRegister(key, [...callbacks.keys()], 'callbacks'),
        ),
      );
    else if (registered.version !== version)
      issues.push(
        problem(
          ['policies', i, 'callback', 'version'],
          `Callback "${key}" has version ${registered.version}, but the policy requires ${version}`,
          `Change the version to ${registered.version} after reading what changed.`,
        ),
      );
    return issues;
  });
}

/** Issues of a policy whose callback answers without a person. */
function aloneIssues({ judgeWhen }: Bundle, { key, match }: BundlePolicy, i: number): Problem[] {
  const issues: Problem[] = [];
  if (match.validatorIds === undefined)
    issues.push(
      problem(
        ['policies', i, 'match'],
        `Policy "${key}" would let a callback answer every finding, such as one about an earlier rejection`,
        'List the findings that it may answer in match.validatorIds, or remove "requiresConfirmation: false".',
      ),
    );
  if (judgeWhen === 'onlyIfClean')
    issues.push(
      problem(
        ['judgeWhen'],
        `A change could commit without judge and without a person: its finding skips the judge, and policy "${key}" lets a callback answer it`,
        'Set judgeWhen to "unlessHardBlock", or remove "requiresConfirmation: false".',
      ),
    );
  return issues;
}

/** Ids of the judge and of aggregate limits. Their findings are in signed records, which a waiver cannot change. */
function attestedIds(expansions: readonly Expansion[]): readonly string[] {
  const candidates = expansions.flatMap((expansion) => expansion.candidates);
  return candidates.filter(({ definition }) => definition.kind === 'attested').map(({ id }) => id);
}

function waiverIssues(bundle: Bundle, ids: Ids, attested: readonly string[]): Problem[] {
  const builtin = new Set([
    ...BUILTIN_VALIDATORS.map(({ defaultLevel, implementation }) => idOf(defaultLevel, implementation)),
    ...attested,
  ]);
  return bundle.waivers.flatMap((waiver, i) => {
    const path = ['waivers', i, 'validatorId'];
    if (builtin.has(waiver.validatorId) || waiver.validatorId === JUDGE_ID)
      return [
        problem(
          path,
          `"${waiver.validatorId}" cannot be waived`,
          'Only findings of rules can be waived. Remove the waiver.',
        ),
      ];
    const kind = ids.get(waiver.validatorId);
    if (kind === undefined)
      return [
        problem(
          path,
          `Unknown validator "${waiver.validatorId}": there is nothing to waive`,
          prefixFix(waiver.validatorId, ids) ??
            didYouMean(
              waiver.validatorId,
              [...ids.keys()].filter((id) => !builtin.has(id)),
            ),
        ),
      ];
    if (kind !== 'POLICY')
      return [
        problem(
          path,
          `"${waiver.validatorId}" cannot be waived: ${neverAsks(kind)}`,
          'Set the rule to level "confirm", or remove the waiver.',
        ),
      ];
    return unknownLimits(bundle, waiver.scope, ['waivers', i, 'scope']);
  });
}

import { compilePlan } from '../../../policy/bundle/compile-plan';
import type { Plan, PlanValidator } from '../../../policy/contracts/plan';
import { ourTools } from '../../support/source-tools';
import { bundleOf, registry } from './fixtures';

type Members = Readonly<Record<string, string>>;
const own = (plan: Plan): PlanValidator[] => plan.validators.filter((v) => v.unit !== 'builtin');

describe('entries and policies that are limited to targets', () => {
  const targets = '\n  live: {sourceTools: [SQLDryRun]}\n  trial: {sourceTools: [SQLDryRun]}';
  const compiledFor = (target: string, members: Members) =>
    compilePlan(bundleOf({ targets, ...members }), registry, { target, sourceTool: 'SQLDryRun', tools: ourTools });
  const madeFor = (target: string, members: Members) => {
    const compiled = compiledFor(target, members);
    if (!compiled.ok) throw new Error(JSON.stringify(compiled.issues));
    return compiled;
  };
  const forLive = {
    validators:
      '\n  - pack: demo-pack\n    targets: [live]\n  - pack: demo-pack\n    level: advise\n    targets: [trial]\n  - validator: {name: both, rules: []}',
    policies:
      '\n  - {key: two, name: Two, match: {validatorIds: [guardian.demo_drop], targets: [live]}, quorum: 2}\n  - {key: all_live, name: All, match: {targets: [live]}}\n  - {key: any, name: Any}',
  };

  test('are part of the plans of these targets only, where a rule may have another level', () => {
    expect(own(madeFor('live', forLive).plan).map(({ id }) => id)).toEqual([
      'guardian.demo_drop',
      'safety.demo_rows',
      'safety.demo_style',
      'guardian.both',
    ]);
    expect(own(madeFor('trial', forLive).plan).map(({ id, level }) => [id, level])).toEqual([
      ['safety.demo_drop', 'advise'],
      ['safety.demo_rows', 'advise'],
      ['safety.demo_style', 'advise'],
      ['guardian.both', 'confirm'],
    ]);
    expect(madeFor('live', forLive).plan.policies.map(({ key, match }) => [key, match])).toEqual([
      ['two', { validatorIds: ['guardian.demo_drop'] }],
      ['all_live', {}],
      ['any', {}],
    ]);
    expect(madeFor('trial', forLive).plan.policies.map(({ key }) => key)).toEqual(['any']);
  });

  test('do not change the hash of the plan of another target', () => {
    const changed = { ...forLive, policies: forLive.policies.replace('quorum: 2', 'quorum: 3') };
    expect(madeFor('trial', changed).planHash).toBe(madeFor('trial', forLive).planHash);
    expect(madeFor('live', changed).planHash).not.toBe(madeFor('live', forLive).planHash);
  });

  test.each<[string, Members, RegExp]>([
    [
      'an unknown target of an entry',
      { validators: '\n  - pack: demo-pack\n    targets: [live, trail]' },
      /validators\[0\]\.targets\[1\]: Unknown target "trail".*Did you mean "trial"/,
    ],
    [
      'a target whose diffs the entry does not read',
      {
        targets: `${targets}\n  api: {sourceTools: [HTTPPatch]}`,
        validators: '\n  - pack: demo-pack\n    rules: {demo_drop: off}\n  - rule: demo_drop\n    targets: [live, api]',
      },
      /validators\[1\]\.targets\[1\]: The entry reads no diffs for target "api"/,
    ],
    [
      'an unknown target of a policy',
      { policies: '\n  - {key: p, name: P, match: {targets: [lve]}}' },
      /policies\[0\]\.match\.targets\[0\]: Unknown target "lve"/,
    ],
    [
      'a policy for a validator that no target of the policy has [T67]',
      {
        validators: '\n  - pack: demo-pack\n    targets: [live]\n  - validator: {name: both, rules: []}',
        policies: '\n  - {key: p, name: P, match: {validatorIds: [guardian.demo_drop], targets: [trial]}}',
      },
      /"guardian\.demo_drop" cannot trigger this policy: the targets and source tools that the policy is limited to do not have it\. Correct/,
    ],
    [
      'a policy for a validator that its targets have at another level [T67]',
      {
        ...forLive,
        policies: '\n  - {key: p, name: P, match: {validatorIds: [guardian.demo_drop], targets: [trial]}}',
      },
      /"guardian\.demo_drop" cannot trigger this policy: .* do not have it\. At level "forbid" or "advise" its id is "safety\.demo_drop"/,
    ],
    [
      'a policy whose target does not accept its source tool [T67]',
      {
        targets: `${targets}\n  api: {sourceTools: [HTTPPatch]}`,
        policies: '\n  - {key: p, name: P, match: {targets: [live], sourceTools: [HTTPPatch]}}',
      },
      /policies\[0\]\.match: This policy matches no target/,
    ],
    [
      'a target that an entry left without validators',
      { validators: '\n  - pack: demo-pack\n    targets: [trial]' },
      /No enforced validator reads diffs of "SQLDryRun" for target "live"/,
    ],
  ])('are refused: %s', (_what, members, expected) => {
    const compiled = compiledFor('live', members);
    expect(compiled.ok ? [] : compiled.issues.map(({ path, message, fix }) => `${path}: ${message}. ${fix}`)).toEqual([
      expect.stringMatching(expected),
    ]);
  });
});

import { z } from 'zod';
import { planProblems } from '../../../policy/bundle/check-plan';
import { compilePlan } from '../../../policy/bundle/compile-plan';
import { planKeys } from '../../../policy/bundle/plan-keys';
import { idOf, prefixProblem } from '../../../policy/bundle/level';
import { type Plan, planHash, type PlanValidator } from '../../../policy/contracts/plan';
import type { SourceTool, SourceTools } from '../../../policy/contracts/source-tool';
import { sqlRenderer } from '../../../source-tools/sql/render';
import { builtinsOf } from '../../../policy/rules/builtin';
import { demoRule } from '../../support/demo-rule';
import { compile, bundleOf, planOf, refusals, registry, registryOf } from './fixtures';
import { ourTools } from '../../support/source-tools';

const BUILTIN_IDS = [
  'safety.contract_violation',
  'safety.too_many_violations',
  'guardian.metadata_mismatch',
  'guardian.base_unverifiable',
  'guardian.previously_rejected',
  'guardian.circuit_open',
];
const own = (plan: Plan): PlanValidator[] => plan.validators.filter((v) => v.unit !== 'builtin');

test('a pack adds one validator for each rule that reads the source tool; the level determines class and prefix', () => {
  const { plan } = planOf();
  expect(own(plan).map(({ id, class: c, level, unit, needsStaging }) => [id, c, level, unit, needsStaging])).toEqual([
    ['guardian.demo_drop', 'POLICY', 'confirm', 'demo-pack', false],
    ['safety.demo_rows', 'SAFETY', 'forbid', 'demo-pack', true],
    ['safety.demo_style', 'SAFETY', 'advise', 'demo-pack', false],
  ]);
  expect(own(planOf({}, 'HTTPPatch').plan).map((v) => v.id)).toEqual(['safety.demo_style', 'guardian.demo_http']);
});

test('every plan ends with the built-in validators in their order, each with class and logic_hash', () => {
  const last = planOf().plan.validators.slice(-6);
  expect(last.map((v) => v.id)).toEqual(BUILTIN_IDS);
  expect(last.map((v) => v.kind)).toEqual(['derived', 'derived', 'derived', 'derived', 'attested', 'attested']);
  expect(last.map((v) => v.class)).toEqual(['SAFETY', 'SAFETY', 'POLICY', 'POLICY', 'POLICY', 'POLICY']);
  expect(builtinsOf({ waivers: [] }).map((d) => idOf(d.defaultLevel, d.implementation))).toEqual(BUILTIN_IDS);
});

test('rules are configured by level, by settings or "off"; shadow validators are listed separately', () => {
  const { plan } = planOf({
    validators:
      '\n  - pack: demo-pack\n    rules:\n      demo_drop: forbid\n      demo_rows: {level: shadow, config: {limit: 3}}\n      demo_style: off',
  });
  expect(own(plan).map((v) => [v.id, v.class])).toEqual([['safety.demo_drop', 'SAFETY']]);
  expect(plan.shadow.map((v) => [v.id, v.level, v.config])).toEqual([['guardian.demo_rows', 'shadow', { limit: 3 }]]);
});

test('a rule overrides the level of its pack', () => {
  const { plan } = planOf({ validators: '\n  - pack: demo-pack\n    level: advise\n    rules: {demo_drop: confirm}' });
  expect(own(plan).map((v) => v.id)).toEqual(['guardian.demo_drop', 'safety.demo_rows', 'safety.demo_style']);
});

test('validators keep the declared order of their entries [G35, G45]', () => {
  const { plan } = planOf({
    validators:
      '\n  - validator: {name: zebra, rules: [{diffSize: {name: s, maxRows: 5}}]}\n  - judge: {model: m}\n  - pack: demo-pack\n  - composite: {name: apple, children: []}\n  - always-approve: {reason: trying it out}',
  });
  expect(own(plan).map((v) => [v.id, v.unit, v.implementation, v.kind])).toEqual([
    ['guardian.zebra', 'zebra', 'rule_validator', 'derived'],
    ['guardian.llm_judge', 'llm_judge', 'llm_judge', 'attested'],
    ['guardian.demo_drop', 'demo-pack', 'demo_drop', 'derived'],
    ['safety.demo_rows', 'demo-pack', 'demo_rows', 'derived'],
    ['safety.demo_style', 'demo-pack', 'demo_style', 'derived'],
    ['guardian.apple', 'apple', 'composite', 'derived'],
    ['always-approve', 'always-approve', 'always_approve', 'derived'],
  ]);
  expect(own(plan)[0]?.config).toEqual({
    name: 'zebra',
    policyVersion: '',
    rules: [{ diffSize: { name: 's', maxRows: 5 } }],
  });
});

test('`rule` adds a custom rule with level, config and phase', () => {
  const team = demoRule('team_rule', { pack: 'team-rules' });
  const { plan } = planOf(
    {
      validators: '\n  - rule: team_rule\n    level: forbid\n    phase: post\n    version: v1\n    config: {limit: 2}',
    },
    'SQLDryRun',
    registryOf(team as never),
  );
  expect(own(plan)).toMatchObject([
    { id: 'safety.team_rule', class: 'SAFETY', phase: 'post', config: { limit: 2 }, version: 'v1' },
  ]);
});

test('entries may be limited to source tools', () => {
  const members = { validators: '\n  - pack: demo-pack\n  - judge: {model: m}\n    sourceTools: [HTTPPatch]' };
  expect(own(planOf(members).plan).some((v) => v.id === 'guardian.llm_judge')).toBe(false);
  expect(own(planOf(members, 'HTTPPatch').plan).some((v) => v.id === 'guardian.llm_judge')).toBe(true);
});

test('each target and tool has its own plan, cooperative if the target says so', () => {
  const targets = '\n  shop: {sourceTools: [SQLDryRun, HTTPPatch], cooperative: [HTTPPatch]}';
  expect(planKeys(bundleOf({ targets }))).toEqual([
    { target: 'shop', sourceTool: 'SQLDryRun' },
    { target: 'shop', sourceTool: 'HTTPPatch' },
  ]);
  expect(planOf({ targets }).plan.mode).toBe('enforced');
  expect(planOf({ targets }, 'HTTPPatch').plan.mode).toBe('cooperative');
});

test('policies inherit group, deadline, four eyes and message from the bundle', () => {
  const { plan } = planOf({
    deadline: '2h',
    policies:
      '\n  - {key: a, name: A}\n  - {key: b, name: B, group: leads, deadline: 30m, quorum: 2, fourEyes: false, confirmationMessage: "Sure? {action}"}',
  });
  expect(plan.policies).toMatchObject([
    { key: 'a', group: 'dba', quorum: 1, fourEyes: true, deadlineMs: 7_200_000, requiresConfirmation: true },
    {
      key: 'b',
      group: 'leads',
      quorum: 2,
      fourEyes: false,
      deadlineMs: 1_800_000,
      confirmationMessage: 'Sure? {action}',
    },
  ]);
  expect(plan.implicitPolicy).toMatchObject({ group: 'dba', quorum: 1, fourEyes: true, deadlineMs: 7_200_000 });
  expect(Object.keys(plan.groups)).toEqual(['dba', 'leads']);
});

describe('refuses, with place and help,', () => {
  test.each([
    [
      'an unknown pack [T40]',
      { validators: '\n  - pack: demo-pakc' },
      /^14:11 validators\[0\]\.pack: Unknown pack "demo-pakc" \| Did you mean "demo-pack"\? COUNTERSIGN_EXTENSIONS names the modules with rules of your own\.$/,
    ],
    [
      'an unknown rule of a pack [T40]',
      { validators: '\n  - pack: demo-pack\n    rules: {demo_drpo: off}' },
      /^15:13 .*has no rule "demo_drpo" \| Did you mean "demo_drop"\?$/,
    ],
    [
      'an unregistered rule [G25, T40]',
      { validators: '\n  - rule: nothing_like_it' },
      /^14:11 validators\[0\]\.rule: Unknown rule "nothing_like_it".*COUNTERSIGN_EXTENSIONS names the modules with rules/,
    ],
    [
      'another version of a rule than the installed one [G33, T40]',
      { validators: '\n  - pack: demo-pack\n    rules: {demo_drop: {version: v2}}' },
      /^15:34 .*"demo_drop" has version v1, but the bundle requires v2/,
    ],
    [
      'settings that the rule does not know',
      { validators: '\n  - pack: demo-pack\n    rules: {demo_drop: {config: {limits: 1}}}' },
      /^15:34 .*Unknown key "limits" \| Did you mean "limit"/,
    ],
    [
      'settings of the wrong type',
      { validators: '\n  - pack: demo-pack\n    rules: {demo_drop: {config: {limit: many}}}' },
      /^15:41 .*config\.limit:/,
    ],
    [
      'a duplicate pack [T13]',
      { validators: '\n  - pack: demo-pack\n  - pack: demo-pack' },
      /^15:11 validators\[1\]\.pack: The pack "demo-pack" is listed twice for target "shop"[^\n]*$/,
    ],
    [
      'two validators with the same name [F2, T13]',
      { validators: '\n  - validator: {name: a1, rules: []}\n  - composite: {name: a1, children: []}' },
      /^15:5 .*Duplicate validator "guardian\.a1"/,
    ],
    [
      'two validators with the same name and different levels [F2, T13]',
      { validators: '\n  - validator: {name: a1, rules: []}\n  - validator: {name: a1, level: forbid, rules: []}' },
      /Duplicate validator "safety\.a1"/,
    ],
    ['a second judge', { validators: '\n  - judge: {model: a}\n  - judge: {model: b}' }, /^15:5 .*Duplicate judge/],
    [
      'the name of a built-in validator [T13]',
      { validators: '\n  - validator: {name: circuit_open, rules: []}' },
      /Duplicate validator "guardian\.circuit_open"/,
    ],
    ['a built-in validator as a rule', { validators: '\n  - rule: metadata_mismatch' }, /cannot be used as a rule/],
    [
      'an entry that reads no tool of any target [V31]',
      {
        targets: '\n  shop: {sourceTools: [SQLDryRun]}',
        validators: '\n  - pack: demo-pack\n  - always-approve: {reason: r}\n    sourceTools: [GitPatch]',
      },
      /^15:19 validators\[1\]\.sourceTools\[0\]: No target accepts diffs of "GitPatch"/,
    ],
    [
      'an entry whose rule reads no tool of any target [V31]',
      {
        targets: '\n  shop: {sourceTools: [SQLDryRun]}',
        validators: '\n  - rule: demo_style\n  - rule: demo_http',
      },
      /^14:5 validators\[1\]: This entry matches no target/,
    ],
    [
      'a policy for an unknown validator [V31, T67]',
      { policies: '\n  - {key: p, name: P, match: {validatorIds: [guardian.demo_drpo]}}' },
      /Unknown validator "guardian\.demo_drpo".*Did you mean "guardian\.demo_drop"/,
    ],
    [
      'a policy for the name of a rule instead of its id',
      { policies: '\n  - {key: p, name: P, match: {validatorIds: [demo_drop]}}' },
      /Unknown validator "demo_drop".*Write its id: "guardian\.demo_drop"/,
    ],
    [
      'a policy for the id of a rule at another level: the prefix follows the level',
      { policies: '\n  - {key: p, name: P, match: {validatorIds: [guardian.demo_rows]}}' },
      /Unknown validator "guardian\.demo_rows".*At level "forbid" or "advise" its id is "safety\.demo_rows", and no one is asked/,
    ],
    [
      'a waiver for the id that a rule has at another level',
      {
        waivers:
          '\n  - {id: w, validatorId: safety.demo_drop, reason: r, expires: 2027-01-01T00:00:00Z, scope: {tenants: [t]}}',
      },
      /Unknown validator "safety\.demo_drop".*At its level the id is "guardian\.demo_drop"/,
    ],
    [
      'a policy for a SAFETY validator, which never asks anyone [V31, T67]',
      { policies: '\n  - {key: p, name: P, match: {validatorIds: [safety.demo_rows]}}' },
      /it is SAFETY and never asks anyone/,
    ],
    [
      'a policy for a shadow validator [V31, T67]',
      {
        validators: '\n  - pack: demo-pack\n    rules: {demo_drop: shadow}',
        policies: '\n  - {key: p, name: P, match: {validatorIds: [guardian.demo_drop]}}',
      },
      /cannot trigger this policy: it has level "shadow"/,
    ],
    [
      'a policy for a source tool that no target accepts [V31, T67]',
      { policies: '\n  - {key: p, name: P, match: {sourceTools: [GitPatch]}}' },
      /No target accepts diffs of "GitPatch"/,
    ],
    [
      'an unknown callback [V30]',
      { policies: '\n  - {key: p, name: P, callback: {key: in-windwo, version: v2}}' },
      /Unknown callback "in-windwo".*Did you mean "in-window"\? COUNTERSIGN_EXTENSIONS names the modules with callbacks/,
    ],
    [
      'another version of a callback than the installed one',
      { policies: '\n  - {key: p, name: P, callback: {key: in-window, version: v1}}' },
      /Callback "in-window" has version v2, but the policy requires v1/,
    ],
    [
      'a callback as a path to code [V30]',
      { policies: '\n  - {key: p, name: P, callback: {key: ../evil/module.js, version: v1}}' },
      /callback\.key/,
    ],
    [
      'a callback that answers alone findings that its policy does not name',
      {
        policies:
          '\n  - {key: p, name: P, match: {sourceTools: [SQLDryRun]}, requiresConfirmation: false, callback: {key: in-window, version: v2}}',
      },
      /policies\[0\]\.match: Policy "p" would let a callback answer every finding/,
    ],
    [
      'a callback that answers alone the finding for which the judge is skipped',
      {
        judgeWhen: 'onlyIfClean',
        policies:
          '\n  - {key: p, name: P, match: {validatorIds: [guardian.demo_drop]}, requiresConfirmation: false, callback: {key: in-window, version: v2}}',
      },
      /judgeWhen: A change could commit without judge and without a person/,
    ],
    [
      'a waiver of an unknown validator',
      {
        waivers:
          '\n  - {id: w, validatorId: guardian.nothing, reason: r, expires: 2027-01-01T00:00:00Z, scope: {tenants: [t]}}',
      },
      /nothing to waive/,
    ],
    [
      'a waiver of a built-in validator',
      {
        waivers:
          '\n  - {id: w, validatorId: safety.contract_violation, reason: r, expires: 2027-01-01T00:00:00Z, scope: {tenants: [t]}}',
      },
      /cannot be waived/,
    ],
    [
      'a waiver of the judge',
      {
        validators: '\n  - judge: {model: m}',
        waivers:
          '\n  - {id: w, validatorId: guardian.llm_judge, reason: r, expires: 2027-01-01T00:00:00Z, scope: {tenants: [t]}}',
      },
      /cannot be waived/,
    ],
  ] as const)('%s', (_what, members, expected) => {
    expect(refusals(members).join('\n')).toMatch(new RegExp(expected.source, 'm'));
  });

  test('a plan without an enforced validator, and names always-approve [F38, T19]', () => {
    expect(refusals({ validators: '\n  - pack: demo-pack\n    sourceTools: [HTTPPatch]' }).join()).toMatch(
      /No enforced validator reads diffs of "SQLDryRun".*always-approve/,
    );
    expect(refusals({ validators: '\n  - pack: demo-pack\n    level: shadow' }).join()).toMatch(
      /level "shadow".*always-approve/,
    );
    expect(own(planOf({ validators: '\n  - always-approve: {reason: sandbox}' }).plan)).toMatchObject([
      { id: 'always-approve', class: 'SAFETY', level: 'advise', config: { reason: 'sandbox' } },
    ]);
  });

  test('an unknown target, and a source tool that the target does not accept [F10, T14]', () => {
    const bundle = bundleOf();
    expect(compilePlan(bundle, registry, { target: 'shopp', sourceTool: 'SQLDryRun', tools: ourTools })).toMatchObject({
      ok: false,
      issues: [{ message: 'Unknown target "shopp"', fix: 'Did you mean "shop"?' }],
    });
    expect(
      compilePlan(bundle, registry, { target: '__proto__', sourceTool: 'SQLDryRun', tools: ourTools }),
    ).toMatchObject({
      ok: false,
    });
    expect(compile({}, 'GitPatch')).toMatchObject({ ok: false, issues: [{ path: 'targets.shop.sourceTools' }] });
  });

  test('a registry without the built-in validators', () => {
    const bare = registryOf();
    const without = {
      get: (key: string) => (key === 'circuit_open' ? undefined : bare.get(key)),
      keys: () => bare.keys().filter((key) => key !== 'circuit_open'),
    };
    expect(refusals({}, 'SQLDryRun', without).join()).toMatch(/lacks the built-in validator "circuit_open"/);
  });

  test('settings that cannot be hashed [T36]', () => {
    const odd = demoRule('team_odd', {
      pack: 'team-rules',
      config: z.unknown().transform(() => ({ pattern: /DROP/i })) as never,
    });
    expect(refusals({ validators: '\n  - rule: team_odd' }, 'SQLDryRun', registryOf(odd as never)).join()).toMatch(
      /cannot be hashed: .*RegExp/,
    );
  });
});

test('entries for other targets and tools are checked but do not affect this plan', () => {
  const base = planOf();
  const targets =
    '\n  shop:\n    sourceTools: [SQLDryRun, HTTPPatch]\n  lab:\n    sourceTools: [GitPatch]\n    development: true';
  const policies = '\n  - {key: p, name: P, match: {validatorIds: [guardian.demo_http]}, group: leads}';
  const waivers =
    '\n  - {id: w, validatorId: guardian.demo_http, reason: r, expires: 2027-01-01T00:00:00Z, scope: {targets: [lab]}}';
  const validators = '\n  - pack: demo-pack\n  - always-approve: {reason: r}\n    sourceTools: [GitPatch]';
  expect(planOf({ targets, policies, waivers, validators }).planHash).toBe(base.planHash);
  expect(planOf({ policies }, 'HTTPPatch').plan.policies).toHaveLength(1);
});

test('a waiver is part of the plans with the validator that it waives', () => {
  const { plan } = planOf({
    waivers:
      '\n  - {id: w, validatorId: guardian.demo_drop, reason: "OPS-7", expires: 2027-01-01T00:00:00Z, scope: {tenants: [acme]}}',
  });
  expect(plan.waivers).toEqual([
    {
      id: 'w',
      validatorId: 'guardian.demo_drop',
      reason: 'OPS-7',
      expiresAt: '2027-01-01T00:00:00Z',
      scope: { tenants: ['acme'] },
    },
  ]);
});

test('the plan is a deeply frozen copy, so that later changes to the bundle do not affect it [G45]', () => {
  const bundle = bundleOf({
    validators: '\n  - validator: {name: ddl, rules: [{tableWhitelist: {name: t, allowed: [a]}}]}',
  });
  const compiled = compilePlan(bundle, registry, { target: 'shop', sourceTool: 'SQLDryRun', tools: ourTools });
  if (!compiled.ok) throw new Error('refused');
  const before = planHash(compiled.plan);
  (bundle.groups['dba'] as { members: string[] }).members.push('mallory');
  const entry = bundle.validators[0] as unknown as {
    validator: { rules: [{ tableWhitelist: { allowed: string[] } }] };
  };
  entry.validator.rules[0].tableWhitelist.allowed.push('users');
  expect(planHash(compiled.plan)).toBe(before);
  expect(() => (compiled.plan.validators as unknown[]).push({})).toThrow(/not extensible/);
  expect(() => {
    (compiled.plan.validators[0] as unknown as { config: { name: string } }).config.name = 'x';
  }).toThrow(/read only/);
});

describe('planProblems', () => {
  const { plan } = planOf();
  const changed = (index: number, change: Partial<PlanValidator>): Plan => ({
    ...plan,
    validators: plan.validators.map((v, i) => (i === index ? { ...v, ...change } : v)),
  });

  test('finds none in a plan compiled by this process', () => {
    expect(planProblems(plan, registry, ourTools)).toEqual([]);
    expect(
      planProblems(
        planOf({ validators: '\n  - always-approve: {reason: r}\n  - judge: {model: m}' }).plan,
        registry,
        ourTools,
      ),
    ).toEqual([]);
  });

  test.each([
    ['guardian.x as SAFETY [T39]', changed(0, { class: 'SAFETY' }), /prefix requires POLICY/],
    ['safety.x as POLICY [T39]', changed(1, { class: 'POLICY' }), /prefix requires SAFETY/],
    ['an id outside the naming registry [G4, G25]', changed(0, { id: 'Guardian.Demo' }), /expected guardian\.<rule>/],
    ['a class that its level does not give', changed(0, { level: 'forbid' }), /level forbid requires class SAFETY/],
    ['an unregistered implementation [T40]', changed(0, { implementation: 'gone' }), /no implementation "gone"/],
    [
      'another version [G33, T68]',
      changed(0, { version: 'v9', logic_hash: 'f'.repeat(64) }),
      /the plan was made with v9/,
    ],
    [
      'a logic_hash that is not recomputed here [G33]',
      changed(0, { logic_hash: '0'.repeat(64) }),
      /the plan was made with v1/,
    ],
    [
      'settings that were changed under an old logic_hash [G18]',
      changed(0, { config: { limit: 99 } }),
      /the plan was made with/,
    ],
    ['derived passed off as attested', changed(0, { kind: 'attested' }), /this process has kind derived/],
    ['a rule that would run before the dry run it reads', changed(1, { needsStaging: false }), /needs the dry run/],
    [
      'a duplicate',
      { ...plan, validators: [plan.validators[0], ...plan.validators] as PlanValidator[] },
      /Duplicate validator guardian\.demo_drop/,
    ],
    [
      'a missing built-in validator',
      { ...plan, validators: plan.validators.slice(0, -1) },
      /does not end with the built-in/,
    ],
    [
      'built-in validators in another order',
      { ...plan, validators: [...plan.validators.slice(0, -2), ...plan.validators.slice(-2).reverse()] },
      /does not end with the built-in/,
    ],
    [
      'a plan with built-in validators only [F38]',
      { ...plan, validators: plan.validators.slice(-6) },
      /no validators besides the built-in ones/,
    ],
    ['another decide revision', { ...plan, decideRevision: 99 }, /requires decide revision 99/],
    ['unsigned answers outside development', { ...plan, answers: 'unsigned' as const }, /unsigned answers/],
  ])('finds %s', (_what, bad, message) => {
    expect(planProblems(bad as Plan, registry, ourTools).join('\n')).toMatch(message);
  });
});

test.each([
  ['guardian.a_b', 'POLICY', null],
  ['safety.a_b', 'SAFETY', null],
  ['always-approve', 'SAFETY', null],
  ['guardian.a', 'SAFETY', 'POLICY'],
  ['safety.a', 'POLICY', 'SAFETY'],
  ['always-approve', 'POLICY', 'SAFETY'],
  ['judge.a', 'POLICY', 'expected'],
  ['guardian.A', 'POLICY', 'expected'],
] as const)('prefix and class of %s as %s are checked [T39]', (id, hookClass, problem) => {
  if (problem === null) expect(prefixProblem(id, hookClass)).toBeNull();
  else expect(prefixProblem(id, hookClass)).toMatch(problem);
});

describe('what is read through the source tool', () => {
  const tools = (change: Partial<SourceTool>) => ({
    get: (name: string) => {
      const tool = ourTools.get(name);
      return tool === undefined ? undefined : { ...tool, ...change };
    },
  });
  const READS = [
    'bytes',
    'facts',
    'metadata',
    'staging',
    'texts',
    'measure',
    'touched',
    'claims',
    'rendering',
  ] as const;
  const rules = registryOf(
    ...READS.map((read) => demoRule(`team_${read}`, { pack: 'team-rules', reads: [read] }) as never),
    demoRule('team_parser', {
      pack: 'team-rules',
      reads: ['facts'],
      parser: ourTools.get('SQLDryRun')?.parser as { name: string; version: string },
    }) as never,
    demoRule('team_older', {
      pack: 'team-rules',
      reads: ['facts'],
      parser: { name: 'libpg-query', version: '1' },
    }) as never,
    demoRule('team_engine', { pack: 'team-rules', reads: ['facts'], parser: { name: 'cel', version: '1' } }) as never,
  );
  const hashes = (using: SourceTools): ReadonlyMap<string, string> => {
    const compiled = compilePlan(bundleOf({ validators: '\n  - pack: team-rules' }), rules, {
      target: 'shop',
      sourceTool: 'SQLDryRun',
      tools: { get: (name) => using.get(name), keys: () => ourTools.keys() },
    });
    if (!compiled.ok) throw new Error(JSON.stringify(compiled.issues));
    return new Map(compiled.plan.validators.map((v) => [v.implementation, v.logic_hash]));
  };
  const moved = (change: Partial<SourceTool>): string[] => {
    const [before, after] = [hashes(ourTools), hashes(tools(change))];
    return [...before.keys()].filter((name) => before.get(name) !== after.get(name));
  };

  test('another facts revision of the tool is another logic_hash for what reads texts, measure, places or claims, or facts, and for nothing else [G18]', () => {
    const parser = { name: 'libpg-query', version: 'another' };
    expect(moved({ parser })).toEqual([
      'team_facts',
      'team_texts',
      'team_measure',
      'team_touched',
      'team_claims',
      'team_parser',
      'team_older',
      'team_engine',
      'metadata_mismatch',
    ]);
  });

  test('another revision of its renderer is another logic_hash for what reads the rendering, and for nothing else [G18]', () => {
    expect(moved({ render: { ...sqlRenderer, revision: 99 } })).toEqual(['team_rendering']);
  });

  test('a process with another revision of the tool does not run the plan [G33]', () => {
    const { plan } = planOf({ validators: '\n  - pack: team-rules' }, 'SQLDryRun', rules);
    const problems = planProblems(plan, rules, tools({ parser: { name: 'libpg-query', version: 'another' } }));
    expect(problems.map((problem) => problem.split(':')[0])).toEqual([
      'guardian.team_facts',
      'guardian.team_texts',
      'guardian.team_measure',
      'guardian.team_touched',
      'guardian.team_claims',
      'guardian.team_parser',
      'guardian.team_older',
      'guardian.team_engine',
      'guardian.metadata_mismatch',
    ]);
  });
});

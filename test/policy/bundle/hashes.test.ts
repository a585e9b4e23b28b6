import { logicHash, Plan, planHash, type PlanValidator } from '../../../policy/contracts/plan';
import { ruleValidatorDefinition } from '../../../policy/validators/definitions';
import { demoRule } from '../../support/demo-rule';
import { reversed } from '../../support/reversed';
import { planOf, registryOf } from './fixtures';

const POLICIES =
  '\n  - {key: p, name: P, callback: {key: in-window, version: v2}, metadata: {hours: 9}}\n  - {key: q, name: Q}';
const WAIVERS =
  '\n  - {id: w, validatorId: guardian.demo_drop, reason: r, expires: 2027-01-01T00:00:00Z, scope: {tenants: [t]}}';
const { plan, planHash: hash } = planOf({ policies: POLICIES, waivers: WAIVERS });

const at = (index: number, change: Partial<PlanValidator>): Partial<Plan> => ({
  validators: plan.validators.map((v, i) => (i === index ? { ...v, ...change } : v)),
});
const policy = (change: Partial<Plan['policies'][number]>): Partial<Plan> => ({
  policies: plan.policies.map((p, i) => (i === 0 ? { ...p, ...change } : p)),
});
const waiver = (change: Partial<Plan['waivers'][number]>): Partial<Plan> => ({
  waivers: plan.waivers.map((w) => ({ ...w, ...change })),
});
const implicit = (change: Partial<Plan['implicitPolicy']>): Partial<Plan> => ({
  implicitPolicy: { ...plan.implicitPolicy, ...change },
});

describe('planHash changes with every member of the plan', () => {
  const changes: Readonly<Record<keyof Plan, readonly Partial<Plan>[]>> = {
    decideRevision: [{ decideRevision: 2 }],
    domain: [{ domain: 'global' }],
    provider: [{ provider: 'other' }],
    model: [{ model: 'other' }],
    mode: [{ mode: 'cooperative' }],
    target: [{ target: 'other' }],
    sourceTool: [{ sourceTool: 'SQLCAS' }],
    development: [{ development: true }],
    inlineBytes: [{ inlineBytes: true }],
    answers: [{ answers: 'unsigned' }],
    judgeWhen: [{ judgeWhen: 'onlyIfClean' }],
    onJudgeFailure: [{ onJudgeFailure: 'forbid' }],
    autoResolve: [{ autoResolve: 'warnOnly' }],
    commitWindowMs: [{ commitWindowMs: 1 }],
    staging: [{ staging: { lockTimeoutMs: 1 } }],
    shadow: [{ shadow: [plan.validators[0] as PlanValidator] }],
    groups: [
      { groups: { ...plan.groups, other: { members: [] } } },
      { groups: { dba: { members: ['ada', 'bob'] } } },
      { groups: { dba: { members: ['bob', 'ada', 'eve'] } } },
    ],
    validators: [
      at(0, { id: 'guardian.other' }),
      at(0, { version: 'v2' }),
      at(0, { class: 'SAFETY' }),
      at(0, { level: 'forbid' }),
      at(0, { phase: 'post' }),
      at(0, { kind: 'attested' }),
      at(0, { unit: 'other' }),
      at(0, { implementation: 'other' }),
      at(0, { needsStaging: true }),
      at(0, { config: { limit: 11 } }),
      at(0, { logicRevision: 2 }),
      at(0, { logic_hash: '0'.repeat(64) }),
      { validators: plan.validators.slice(1) },
      { validators: [plan.validators[0] as PlanValidator, ...plan.validators] },
      {
        validators: [
          plan.validators[1] as PlanValidator,
          plan.validators[0] as PlanValidator,
          ...plan.validators.slice(2),
        ],
      },
    ],
    policies: [
      policy({ key: 'other' }),
      policy({ name: 'other' }),
      policy({ match: { sourceTools: ['SQLDryRun'] } }),
      policy({ match: { validatorIds: ['guardian.demo_drop'] } }),
      policy({ requiresConfirmation: false }),
      policy({ triggerCardinality: 'single' }),
      policy({ callback: null }),
      policy({ callback: { key: 'other', version: 'v2' } }),
      policy({ callback: { key: 'in-window', version: 'v3' } }),
      policy({ metadata: { hours: 10 } }),
      policy({ group: 'other' }),
      policy({ quorum: 2 }),
      policy({ fourEyes: false }),
      policy({ deadlineMs: 1 }),
      policy({ confirmationMessage: 'other' }),
      { policies: [...plan.policies].reverse() },
      { policies: [] },
    ],
    implicitPolicy: [
      implicit({ group: 'other' }),
      implicit({ quorum: 2 }),
      implicit({ fourEyes: false }),
      implicit({ deadlineMs: 1 }),
      implicit({ confirmationMessage: 'other' }),
    ],
    waivers: [
      waiver({ id: 'other' }),
      waiver({ validatorId: 'other' }),
      waiver({ reason: 'other' }),
      waiver({ expiresAt: '2028-01-01T00:00:00Z' }),
      waiver({ scope: { tenants: ['u'] } }),
      { waivers: [] },
    ],
  };

  test.each(
    Object.entries(changes).flatMap(([member, list]) =>
      list.map((change, i) => [`${member} (${i + 1})`, change] as const),
    ),
  )('%s [G18, G35, G43, T34]', (_what, change) => {
    expect(planHash({ ...plan, ...change })).not.toBe(hash);
  });

  test('and the table above lists every member of a plan', () => {
    expect(Object.keys(changes).sort()).toEqual(Object.keys(Plan.shape).sort());
  });
});

test('planHash does not depend on the order of keys [G43, T35]', () => {
  expect(planHash(reversed(plan) as Plan)).toBe(hash);
});

test('100 compilations give the same planHash [G43, G23]', () => {
  const hashes = Array.from({ length: 100 }, () => planOf({ policies: POLICIES, waivers: WAIVERS }).planHash);
  expect(new Set(hashes)).toEqual(new Set([hash]));
});

test.each(['snapshotHash', 'indexHash', 'findings', 'createdAt', 'apiKey', 'sessionId', 'diffSha'])(
  'refuses a plan with a member %s: planHash covers no world state, time, secret or diff [G19, G43, T34]',
  (member) => {
    expect(Plan.safeParse({ ...plan, [member]: 'x' }).success).toBe(false);
    expect(Plan.safeParse({ ...plan, ...at(0, { [member]: 'x' } as never) }).success).toBe(false);
  },
);

test.each(['domain', 'provider', 'model'] as const)('%s is required and not empty [G43]', (member) => {
  expect(Plan.safeParse({ ...plan, [member]: '' }).success).toBe(false);
  expect(Plan.safeParse({ ...plan, [member]: undefined }).success).toBe(false);
});

test('refuses a plan without validators instead of allowing everything [G45, T19]', () => {
  expect(Plan.safeParse({ ...plan, validators: [] }).success).toBe(false);
  expect(Plan.safeParse({ ...plan, validators: undefined }).success).toBe(false);
});

test('throws for undefined in a plan instead of omitting it from the hash [G44, T36]', () => {
  expect(() => planHash({ ...plan, domain: undefined as never })).toThrow(/undefined/);
  expect(() => planHash({ ...plan, ...at(0, { config: { limit: undefined } as never }) })).toThrow(/undefined/);
});

describe('logic_hash', () => {
  const base = {
    id: 'guardian.a',
    version: 'v1',
    logicRevision: 1,
    config: { forbidden: ['(?i)DROP'] },
    parser: { name: 'p', version: '1' },
  };
  const same = logicHash(base);

  test.each([
    ['id', { id: 'guardian.b' }],
    ['version', { version: 'v2' }],
    ['logicRevision', { logicRevision: 2 }],
    ['a pattern', { config: { forbidden: ['(?i)GRANT'] } }],
    ['another setting', { config: { forbidden: ['(?i)DROP'], more: 1 } }],
    ['the order of a list of settings', { config: { forbidden: [] } }],
    ['parser name', { parser: { name: 'q', version: '1' } }],
    ['parser version', { parser: { name: 'p', version: '2' } }],
    ['no parser', { parser: null }],
  ])('changes with %s [G18, G34, T10]', (_what, change) => {
    expect(logicHash({ ...base, ...change })).not.toBe(same);
  });

  test('is SHA-256 over id, version, revision, settings and parser, without class, level, phase and function name [G5, G34]', () => {
    expect(same).toMatch(/^[0-9a-f]{64}$/);
    const more = { ...base, class: 'SAFETY', level: 'forbid', phase: 'post', evaluate: () => 1 };
    expect(logicHash(more)).toBe(same);
  });

  test.each([
    [/DROP/i],
    [new Set(['DROP'])],
    [new Map()],
    [Number.POSITIVE_INFINITY],
    [Number.NaN],
    [undefined],
    [() => 1],
    [1n],
    [Symbol('x')],
    [new Date(0)],
  ])('throws for %p in the settings, which JSON would omit or change [G44, T10, T36]', (value) => {
    expect(() => logicHash({ ...base, config: { value } })).toThrow(TypeError);
  });

  const of = (validators: string, registry = registryOf()): PlanValidator =>
    planOf({ validators }, 'SQLDryRun', registry).plan.validators[0] as PlanValidator;
  const pattern = (source: string, level = 'confirm'): PlanValidator =>
    of(`\n  - validator: {name: ddl, level: ${level}, rules: [{pattern: {name: p, forbidden: ["${source}"]}}]}`);

  test('of a compiled PatternRule depends on the text of its pattern [T10]', () => {
    expect(pattern('(?i)DROP').logic_hash).not.toBe(pattern('(?i)GRANT').logic_hash);
    expect(pattern('(?i)DROP').logic_hash).not.toBe(pattern('DROP').logic_hash);
    expect(pattern('(?i)DROP').logic_hash).toBe(pattern('(?i)DROP').logic_hash);
  });

  test('does not change with an explicit default, because parsed settings are hashed', () => {
    expect(of('\n  - pack: demo-pack\n    rules: {demo_drop: {config: {limit: 10}}}').logic_hash).toBe(
      of('\n  - pack: demo-pack').logic_hash,
    );
    expect(of('\n  - pack: demo-pack\n    rules: {demo_drop: {config: {limit: 11}}}').logic_hash).not.toBe(
      of('\n  - pack: demo-pack').logic_hash,
    );
  });

  test('of a rule changes with its revision and its parser, not with its texts [G18, G34]', () => {
    const compiled = (more: Parameters<typeof demoRule>[1]) =>
      of('\n  - rule: team_x', registryOf(demoRule('team_x', { pack: 'team-rules', ...more }) as never)).logic_hash;
    const before = compiled({});
    expect(compiled({ logicRevision: 2 })).not.toBe(before);
    expect(compiled({ version: 'v2' })).not.toBe(before);
    expect(compiled({ parser: { name: 'q', version: '1' } })).not.toBe(before);
    expect(compiled({ why: 'Said otherwise.', docs: 'docs/rules/other.md' })).toBe(before);
    expect(compiled({ apply: () => ({ fires: true, reason: 'x', evidence: ['y'] }) })).toBe(before);
  });

  test('is the same in a fresh process and after another transform [G52, T11]', () => {
    // A pinned value of an earlier run. It changes only with the settings or the revision below.
    const config = ruleValidatorDefinition.config.parse({
      name: 'ddl',
      rules: [{ pattern: { name: 'p', forbidden: ['(?i)DROP'] } }],
    });
    expect(
      logicHash({
        id: 'guardian.ddl',
        version: 'v1',
        logicRevision: 1,
        config,
        parser: { name: 're2js', version: '2.10.0' },
      }),
    ).toBe('c90894544c74ec60968efc65ad34f5a3f2b3f38adf3243d9c6384b0b745ba861');
  });
});

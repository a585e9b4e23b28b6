import { readYaml } from '../../../policy/bundle/yaml-source';
import { parseBundle } from '../../../policy/bundle/parse-bundle';
import { BASE, bundleOf, bundleText } from './fixtures';

const issuesOf = (text: string) => {
  const parsed = parseBundle(text);
  if (parsed.ok) throw new Error('accepted');
  return parsed.issues;
};

test('parses a bundle and fills in every default', () => {
  expect(bundleOf()).toMatchObject({
    version: 1,
    judgeWhen: 'unlessHardBlock',
    onJudgeFailure: 'ask',
    autoResolve: 'any',
    commitWindow: '15m',
    deadline: '24h',
    targets: { shop: { development: false, inlineBytes: false, answers: 'signed', cooperative: [], staging: {} } },
    implicit: { quorum: 1, fourEyes: true },
    policies: [],
    waivers: [],
  });
});

test('by default a policy requires confirmation for every cardinality and has no callback [V5]', () => {
  expect(bundleOf({ policies: '\n  - {key: p, name: P}' }).policies[0]).toMatchObject({
    requiresConfirmation: true,
    triggerCardinality: null,
    callback: null,
    metadata: {},
    match: {},
    confirmationMessage: 'A person must confirm this change.',
  });
});

test.each(['single', 'multiple'])('knows the cardinality %s [V6]', (cardinality) => {
  expect(
    bundleOf({ policies: `\n  - {key: p, name: P, triggerCardinality: ${cardinality}}` }).policies[0]
      ?.triggerCardinality,
  ).toBe(cardinality);
});

describe('reports the place, the problem and the fix for', () => {
  test.each([
    [
      'an unknown key, at the key itself',
      `${BASE}colour: red\n`,
      { line: 16, column: 1, path: 'colour', message: 'Unknown key "colour"' },
    ],
    [
      'a misspelt key',
      BASE.replace('defaultGroup: dba', 'defaultGroop: dba'),
      {
        line: 13,
        column: 1,
        message: 'Unknown key "defaultGroop"',
        fix: 'Did you mean "defaultGroup"? Otherwise remove it.',
      },
    ],
    [
      'an unknown key of one letter, to which no key is similar',
      `${BASE}x: red\n`,
      { line: 16, column: 1, fix: 'Remove "x"; it is not a key of this object.' },
    ],
    [
      'a merge key',
      BASE.replace('groups:', 'groups:\n  <<: {dba: {members: [a]}}'),
      { line: 11, column: 3, message: 'The merge key "<<" is not supported' },
    ],
    [
      'an unknown key deep inside',
      BASE.replace('sourceTools: [SQLDryRun, HTTPPatch]', 'sourceTools: [SQLDryRun]\n    colour: red'),
      { line: 10, column: 5, path: 'targets.shop.colour' },
    ],
    ['a duplicate key', `${BASE}domain: other\n`, { line: 16, column: 1, message: 'Map keys must be unique' }],
    [
      'an unknown tag',
      BASE.replace('name: Shop', 'name: !secret Shop'),
      { line: 3, column: 7, message: 'Unresolved tag: !secret' },
    ],
    [
      'a wrong value of a choice',
      `${BASE}judgeWhen: always\n`,
      { line: 16, column: 12, path: 'judgeWhen', fix: 'Use one of: "unlessHardBlock", "onlyIfClean".' },
    ],
    [
      'a missing member',
      BASE.replace('domain: shop\n', ''),
      { path: 'domain', message: 'Missing "domain"', fix: 'Add "domain": expected text.' },
    ],
    [
      'a wrong level, within the form of entry that was meant',
      BASE.replace('- pack: demo-pack', '- pack: demo-pack\n    level: strict'),
      { line: 16, column: 12, path: 'validators[0].level' },
    ],
    [
      'an unknown key of an entry',
      BASE.replace('- pack: demo-pack', '- pack: demo-pack\n    colour: red'),
      { line: 16, column: 5, path: 'validators[0].colour' },
    ],
    [
      'an unknown form of entry',
      BASE.replace('- pack: demo-pack', '- pakc: demo-pack'),
      { line: 15, column: 5, path: 'validators[0]' },
    ],
    ...['24', '"24"', '24 h', '[24h]', 'null'].map((value): [string, string, object] => [
      `the duration ${value}`,
      `${BASE}deadline: ${value}\n`,
      { line: 16, column: 11, path: 'deadline', message: 'expected a whole number and a unit: 30s, 15m, 24h, 7d' },
    ]),
    [
      'a missing duration',
      BASE.replace('- pack: demo-pack', '- aggregate: { name: many, limits: { deletions: 1 } }'),
      { fix: 'Add "window": expected a whole number and a unit: 30s, 15m, 24h, 7d.' },
    ],
    [
      'a key that is not a string',
      `${BASE.replace('groups:', 'groups:\n  1: {members: [a]}')}`,
      { line: 11, column: 3, message: 'A key must be a string' },
    ],
    [
      '__proto__',
      BASE.replace('groups:', 'groups:\n  __proto__: {members: [a]}'),
      { line: 11, column: 3, message: 'The key "__proto__" is not allowed' },
    ],
    [
      'a number that JSON cannot represent',
      BASE.replace(
        'sourceTools: [SQLDryRun, HTTPPatch]',
        'sourceTools: [SQLDryRun]\n    staging: {statementTimeoutMs: 9007199254740993}',
      ),
      { line: 10, column: 35 },
    ],
    [
      'a second document',
      `${BASE}---\nversion: 1\n`,
      { message: expect.stringContaining('multiple documents') as string },
    ],
    ['nothing', '', { line: 1, column: 1, message: 'The file is empty' }],
    [
      'text instead of a list',
      BASE.replace('sourceTools: [SQLDryRun, HTTPPatch]', 'sourceTools: SQLDryRun'),
      { fix: 'Write a list, such as [a, b] here.' },
    ],
    [
      'a level that does not exist',
      BASE.replace('- pack: demo-pack', '- pack: demo-pack\n    rules: {demo_rule: Forbid}'),
      {
        path: 'validators[0].rules.demo_rule',
        fix: 'Use one of: "off" | "forbid", "confirm", "advise", "shadow" | keys with values, such as {key: value}',
      },
    ],
    ['no YAML at all', '{', { line: 1 }],
    ['a list', '- a', { line: 1, column: 1 }],
    [
      'a forbidden pattern that RE2 refuses',
      BASE.replace(
        '- pack: demo-pack',
        '- validator: {name: ddl, rules: [{pattern: {name: p, forbidden: ["(?=x)"]}}]}',
      ),
      {
        path: 'validators[0].validator.rules[0].pattern.forbidden[0]',
        message: expect.stringContaining('not RE2 syntax') as string,
      },
    ],
  ])('%s', (_what, text, expected) => {
    const issues = issuesOf(text);
    expect(issues).toContainEqual(expect.objectContaining(expected));
    for (const issue of issues) expect(issue.fix).not.toBe('');
  });

  test('all issues at once, in text order', () => {
    const issues = issuesOf(bundleText({ deadline: 'soon', name: '""', colour: 'red', commitWindow: '5' }));
    expect(issues.map((issue) => issue.line)).toEqual([...issues.map((issue) => issue.line)].sort((a, b) => a - b));
    expect(issues.map((issue) => issue.path).sort()).toEqual(['colour', 'commitWindow', 'deadline', 'name']);
  });
});

test('resolves aliases and refuses an alias bomb', () => {
  expect(bundleOf({ groups: '\n  dba: &x {members: [ada]}\n  leads: *x' }).groups['leads']).toEqual({
    members: ['ada'],
  });
  const bomb = [
    'a: &a [x,x,x,x,x,x,x,x,x]',
    ...'bcdefgh'.split('').map(
      (c, i) =>
        `${c}: &${c} [${Array(9)
          .fill(`*${'abcdefg'[i] ?? ''}`)
          .join(',')}]`,
    ),
  ].join('\n');
  const read = readYaml(bomb);
  expect(read.ok).toBe(false);
});

test('refuses extreme nesting without crashing', () => {
  expect(readYaml('['.repeat(20_000)).ok).toBe(false);
  expect(readYaml(`${'{a: '.repeat(5000)}1${'}'.repeat(5000)}`).ok).toBe(false);
});

describe('refuses a bundle that cannot be hashed, without throwing:', () => {
  const withSetting = (value: string) =>
    parseBundle(bundleText({ targets: `\n  shop: {sourceTools: [SQLDryRun], staging: {x: ${value}}}` }));
  const levels = (count: number): string => '['.repeat(count) + ']'.repeat(count);

  test('half of a surrogate pair', () => {
    expect(withSetting('"\\ud83d\\ude00"').ok).toBe(true);
    expect(withSetting('"\\ud83d"').ok).toBe(false);
  });

  test('too many levels', () => {
    expect([150, 195].map((count) => withSetting(levels(count)).ok)).toEqual([true, true]);
    for (const count of [196, 200, 201, 202, 500, 1000]) expect(withSetting(levels(count)).ok).toBe(false);
  });
});

test.each([
  [
    'unsigned answers outside development',
    { targets: '\n  shop: {sourceTools: [SQLDryRun], answers: unsigned}' },
    /Unsigned answers outside development/,
  ],
  ['a group without members', { groups: '\n  dba: {members: []}' }, /has no members/],
  ['an unknown default group', { defaultGroup: 'missing' }, /Unknown group "missing"/],
  ['an unknown group of a policy', { policies: '\n  - {key: p, name: P, group: missing}' }, /Unknown group "missing"/],
  [
    'a quorum that the group cannot meet',
    { policies: '\n  - {key: p, name: P, group: leads, quorum: 3}' },
    /Group "leads" has 2 member\(s\), fewer than the quorum of 3/,
  ],
  [
    'two policies with the same key',
    { policies: '\n  - {key: p, name: P}\n  - {key: p, name: Q}' },
    /"p" is a duplicate/,
  ],
  ['the reserved policy key', { policies: '\n  - {key: implicit, name: P}' }, /reserved/],
  [
    'two waivers with the same id',
    {
      waivers:
        '\n  - &w {id: w, validatorId: guardian.demo_drop, reason: r, expires: 2027-01-01T00:00:00Z, scope: {tenants: [t]}}\n  - *w',
    },
    /"w" is a duplicate/,
  ],
  [
    'a waiver without expiry',
    { waivers: '\n  - {id: w, validatorId: guardian.demo_drop, reason: r, scope: {tenants: [t]}}' },
    /Missing "expires"/,
  ],
  [
    'a waiver without reason',
    { waivers: '\n  - {id: w, validatorId: guardian.demo_drop, expires: 2027-01-01T00:00:00Z, scope: {tenants: [t]}}' },
    /Missing "reason"/,
  ],
  [
    'a waiver of everything',
    { waivers: '\n  - {id: w, validatorId: guardian.demo_drop, reason: r, expires: 2027-01-01T00:00:00Z, scope: {}}' },
    /at least one limit/,
  ],
  ['an unknown cardinality', { policies: '\n  - {key: p, name: P, triggerCardinality: some}' }, /Invalid option/],
  [
    'a cooperative tool that the target does not accept',
    { targets: '\n  shop: {sourceTools: [SQLDryRun], cooperative: [other]}' },
    /"other" is not a source tool of target "shop"/,
  ],
  ['no target', { targets: '{}' }, /at least one target/],
  ['an empty domain', { domain: '""' }, /Too small/],
] as const)('refuses %s', (_what, members, message) => {
  expect(
    issuesOf(bundleText(members))
      .map((issue) => issue.message)
      .join('\n'),
  ).toMatch(message);
});

test('accepts unsigned answers for a target that is marked as development', () => {
  expect(
    bundleOf({ targets: '\n  shop: {sourceTools: [SQLDryRun], answers: unsigned, development: true}' }).targets['shop']
      ?.answers,
  ).toBe('unsigned');
});

test.each(['[]', ''])(
  'refuses validators written as %j, and names always-approve if the list is empty [F38, T19]',
  (validators) => {
    const text = issuesOf(bundleText({ validators }))
      .map((issue) => issue.message + issue.fix)
      .join('\n');
    expect(text).toMatch(validators === '[]' ? /always-approve/ : /Missing "validators"/);
  },
);

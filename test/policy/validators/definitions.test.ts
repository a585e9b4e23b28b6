import { ValidatorResult } from '../../../policy/contracts/finding';
import { breakerSample } from '../../../policy/contracts/readings';
import type { ValidatorDefinition } from '../../../policy/rules/define';
import {
  alwaysApproveDefinition,
  compositeDefinition,
  ruleValidatorDefinition,
} from '../../../policy/validators/definitions';
import { diffOf } from './fixtures';
import { ruleInput } from '../../support/rule-input';

const INPUT_SHA = 'a'.repeat(64);
const NO_FACTS = { ok: false, code: 'none', message: '', span: null } as const;

function run<Config>(definition: ValidatorDefinition<Config>, config: unknown, text: string, metadata = {}) {
  const diff = diffOf(text, metadata);
  const parsed = definition.config.parse(config);
  const input = { ...ruleInput({ ...diff, facts: NO_FACTS, config: parsed }), config: parsed, inputSha: INPUT_SHA };
  return { diff, result: ValidatorResult.parse(definition.evaluate?.(input)) };
}

const CONFIG = {
  name: 'mine',
  policyVersion: 'p7',
  rules: [
    { pattern: { name: 'ddl', forbidden: ['(?i)\\bDROP\\b'] } },
    { diffSize: { name: 'size', maxRows: 10 } },
    { tableWhitelist: { name: 'tables', allowed: ['orders'] } },
  ],
};

test('a rule validator gives one finding with its rules in details and evidence in diff and metadata [F16, F27, G7, G9, G24]', () => {
  const { diff, result } = run(ruleValidatorDefinition, CONFIG, 'SELECT 1;\nDROP TABLE orders', {
    affected_rows: 11,
    table_name: 'orders',
  });
  expect(result).toEqual({
    validator_id: 'guardian.test',
    status: 'BLOCK',
    reason: 'ddl: the diff matches forbidden[0]; size: 11 rows exceed the limit of 10',
    evidenceRefs: [`diff:${diff.diffSha}#L2:C1-L2:C5`, `metadata:${INPUT_SHA}#/affected_rows`],
    details: {
      approved: false,
      score: 1 / 3,
      severity: 'block',
      validatorName: 'mine',
      policyVersion: 'p7',
      rules: {
        ddl: { approved: false, severity: 'block', reason: 'the diff matches forbidden[0]', matched: ['forbidden[0]'] },
        size: { approved: false, severity: 'block', reason: '11 rows exceed the limit of 10' },
        tables: { approved: true, severity: '', reason: '' },
      },
    },
  });
});

test.each([
  ['ALLOW', { affected_rows: 1, table_name: 'orders' }],
  ['WARN', { affected_rows: 1 }],
  ['WARN', { table_name: 'orders' }],
  ['BLOCK', { affected_rows: 1, table_name: 'users' }],
  ['BLOCK', { affected_rows: '1', table_name: 'orders' }],
])('is %s for the claim %j [F33, F35, T6]', (status, metadata) => {
  const { result } = run(ruleValidatorDefinition, CONFIG, 'UPDATE orders SET a = 1', metadata);
  expect(result.status).toBe(status);
  expect(result.evidenceRefs.length > 0).toBe(status !== 'ALLOW');
});

test('allows with score 1 without rules [F30, T1]', () => {
  expect(run(ruleValidatorDefinition, { name: 'mine', rules: [] }, 'x').result).toMatchObject({
    status: 'ALLOW',
    details: { score: 1, approved: true },
  });
});

test('lists at most 50 places and counts the rest', () => {
  const { result } = run(ruleValidatorDefinition, CONFIG, 'DROP '.repeat(80), {
    affected_rows: 0,
    table_name: 'orders',
  });
  expect(result.evidenceRefs).toHaveLength(50);
  expect(result.details).toMatchObject({ evidenceTotal: 80 });
});

test('gives the identical finding 100 times [G23]', () => {
  const texts = Array.from({ length: 100 }, () =>
    JSON.stringify(run(ruleValidatorDefinition, CONFIG, 'drop x; DROP y', {}).result),
  );
  expect(new Set(texts).size).toBe(1);
});

const child = (name: string, maxRows: number) => ({
  name,
  policyVersion: '',
  rules: [{ diffSize: { name: 'size', maxRows } }],
});

describe('composite', () => {
  test('runs every child and returns the worst result [F42, F47, F63]', () => {
    const config = {
      name: 'mine',
      policyVersion: 'c1',
      children: [child('small', 1), { name: 'inner', children: [child('large', 100)] }],
    };
    const { result } = run(compositeDefinition, config, 'x', { affected_rows: 5 });
    expect(result).toMatchObject({
      status: 'BLOCK',
      reason: 'small: size: 5 rows exceed the limit of 1',
      evidenceRefs: [`metadata:${INPUT_SHA}#/affected_rows`],
    });
    expect(result.details).toMatchObject({
      policyVersion: 'c1',
      score: 0,
      rules: { small: { approved: false }, inner: { approved: true, details: { large: { approved: true } } } },
    });
  });

  test('stops at the first rejection in mode waterfall [F44, T17]', () => {
    const { result } = run(
      compositeDefinition,
      { name: 'mine', mode: 'waterfall', children: [child('small', 1), child('never', 0)] },
      'x',
      { affected_rows: 5 },
    );
    expect(Object.keys(result.details?.['rules'] as object)).toEqual(['small']);
  });

  test('allows without children [F45, T2]', () => {
    expect(run(compositeDefinition, { name: 'mine', children: [] }, 'x').result).toMatchObject({
      status: 'ALLOW',
      details: { score: 1 },
    });
  });

  test('gives an ERROR for an unknown mode that bypassed the schema [F46, T15]', () => {
    const forged: ValidatorDefinition<never> = {
      ...compositeDefinition,
      config: { parse: (x: unknown) => x } as never,
    };
    expect(run(forged, { name: 'mine', policyVersion: '', mode: 'any', children: [] }, 'x').result).toMatchObject({
      status: 'BLOCK',
      errorClass: 'ErrValidatorBackend',
    });
  });

  test.each([
    ['an unknown mode [F41]', { name: 'mine', mode: 'any', children: [] }],
    ['two children with the same name [T13]', { name: 'mine', children: [child('a1', 1), child('a1', 2)] }],
    [
      'two rules with the same name [F25, T13]',
      {
        name: 'mine',
        children: [
          { name: 'a1', rules: [{ diffSize: { name: 's', maxRows: 1 } }, { diffSize: { name: 's', maxRows: 2 } }] },
        ],
      },
    ],
    ['a child without rules or children', { name: 'mine', children: [{ name: 'a1' }] }],
  ])('rejects %s', (_what, config) => {
    expect(compositeDefinition.config.safeParse(config).success).toBe(false);
  });
});

test('always-approve allows every diff, and its reason states the opt-out [F36, F37, T18]', () => {
  const { result } = run(alwaysApproveDefinition, { reason: 'sandbox' }, 'DROP DATABASE shop');
  expect(result).toMatchObject({
    status: 'ALLOW',
    reason: 'validation is opted out by always-approve: sandbox',
    details: { severity: '', validatorName: 'always-approve', score: 1 },
  });
  expect(breakerSample(result.status)).toBe('success');
});

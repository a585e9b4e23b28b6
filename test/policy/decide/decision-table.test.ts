import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { AdmittedAnswer } from '../../../policy/contracts/answer';
import type { PolicyCallbackResult, PolicyViolation } from '../../../policy/contracts/violation';
import { lastCountedAt } from '../../../policy/decide/decide';
import { COMBINATIONS, expected, nameOf, type Combination, type Expected } from '../../support/decision-table';
import {
  after,
  answerTo,
  decideOn,
  DISCLOSED_AT,
  findingsOf,
  HOUR,
  planOf,
  planValidator,
  policyOf,
  reasonOf,
  violationsOf,
} from '../../support/plan';

const RESULTS: Readonly<Record<Combination['callback'], Readonly<Record<string, PolicyCallbackResult>>>> = {
  none: {},
  passed: { p: { passed: true, message: null } },
  failed: { p: { passed: false, message: 'no' } },
  // A callback that threw has no result, and counts as failed.
  threw: {},
};

/** Runs `matchPolicies`, `buildViolations` and `decide` on the combination, first without an answer, then with it. */
function run(c: Combination): Expected {
  const validator = planValidator('x.rule', { class: c.class });
  const callback = c.callback === 'none' ? null : { key: 'ask', version: 'v1' };
  const plan = planOf([validator], {
    policies: [policyOf('p', { requiresConfirmation: c.requiresConfirmation, callback })],
  });
  const findings = findingsOf(plan, { 'x.rule': c.status });
  const callbacks = RESULTS[c.callback];
  const before = decideOn(plan, findings, { callbacks, reachable: c.human === 'noHandler' ? [] : ['ada'] });
  if (before.action !== 'WAIT')
    return { asked: false, outcome: before.action, reason: before.action === 'ROLLBACK' ? before.reason : '' };
  const [violation] = violationsOf(plan, findings, { callbacks });
  if (violation === undefined) throw new Error('waits without a violation');
  const decided =
    c.human === 'timeout'
      ? decideOn(plan, findings, { callbacks, at: after(24 * 60) })
      : decideOn(plan, findings, {
          callbacks,
          answers: [answerTo(violation, c.human === 'reject' ? 'reject' : 'confirm')],
        });
  if (decided.action === 'WAIT') throw new Error('still waits after the answer');
  return { asked: true, outcome: decided.action, reason: decided.action === 'ROLLBACK' ? reasonOf(decided) : '' };
}

describe('each of the 256 combinations has the outcome of the table', () => {
  test.each(COMBINATIONS.map((c) => [nameOf(c), c] as const))(
    '%s [V14, V15, V16, V17, V23, V25, G17, G20, G21]',
    (_name, c) => {
      expect(run(c)).toEqual(expected(c));
    },
  );
});

describe('the counts of the decision table', () => {
  const rows = COMBINATIONS.map((c) => ({ c, did: run(c) }));
  const commits = rows.filter(({ did }) => did.outcome === 'COMMIT');

  test('256 combinations: 117 commit, 139 roll back, 52 need a person', () => {
    expect([rows.length, commits.length, rows.length - commits.length]).toEqual([256, 117, 139]);
    expect(rows.filter(({ did }) => did.asked || did.reason === 'no_handler')).toHaveLength(52);
  });

  test('of 96 POLICY findings that fire, 21 commit: 13 by a person, 8 by a callback', () => {
    const firing = rows.filter(({ c }) => c.class === 'POLICY' && c.status !== 'ALLOW');
    const committed = firing.filter(({ did }) => did.outcome === 'COMMIT');
    expect([firing.length, committed.length]).toEqual([96, 21]);
    expect(committed.filter(({ did }) => did.asked)).toHaveLength(13);
    expect(committed.filter(({ did }) => !did.asked)).toHaveLength(8);
  });

  test('WARN and BLOCK have the same outcome under POLICY [G20]', () => {
    for (const { c, did } of rows)
      if (c.class === 'POLICY' && c.status === 'WARN') expect(run({ ...c, status: 'BLOCK' })).toEqual(did);
  });

  test('SAFETY never asks anyone [G21, T41]', () => {
    expect(rows.filter(({ c, did }) => c.class === 'SAFETY' && (did.asked || did.reason === 'no_handler'))).toEqual([]);
  });

  test('an ERROR commits only if a person confirms [F3, T64]', () => {
    for (const { c, did } of commits)
      if (c.status === 'ERROR') expect([c.class, c.human, did.asked]).toEqual(['POLICY', 'confirm', true]);
  });

  test('if a person was asked, only a confirm commits', () => {
    for (const { c, did } of rows) if (did.asked) expect(did.outcome === 'COMMIT').toBe(c.human === 'confirm');
  });
});

describe('an answer after the deadline of its violation, while another violation still waits', () => {
  const plan = planOf([planValidator('x.short'), planValidator('x.long')], {
    policies: [
      policyOf('short', { match: { validatorIds: ['x.short'] }, deadlineMs: HOUR }),
      policyOf('long', { match: { validatorIds: ['x.long'] }, deadlineMs: 24 * HOUR }),
    ],
  });
  const findings = findingsOf(plan, { 'x.short': 'BLOCK', 'x.long': 'BLOCK' });
  const [short, long] = violationsOf(plan, findings) as [PolicyViolation, PolicyViolation];
  const inTime = answerTo(short, 'confirm', 'ada', { admittedAt: after(30), digest: '5'.repeat(64) });
  const late = (decision: AdmittedAnswer['decision'], person = 'ada', more: Partial<AdmittedAnswer> = {}) =>
    answerTo(short, decision, person, { admittedAt: after(120), ...more });
  const decided = (...answers: readonly AdmittedAnswer[]) => decideOn(plan, findings, { answers, at: after(121) });

  test('a reject declines the change at once, as the committer refuses its commit [V14, V25]', () => {
    expect(decided(inTime)).toMatchObject({ action: 'WAIT', pending: [long.violationId] });
    const declined = { reason: 'declined', explanation: 'x.short declined by ada' };
    expect(decided(inTime, late('reject'))).toMatchObject(declined);
    expect(decided(inTime, late('reject'), answerTo(long, 'confirm', 'bob'))).toMatchObject(declined);
  });

  test('a reject wins over the time-out of its violation [V14]', () => {
    expect(reasonOf(decided())).toBe('expired');
    expect(reasonOf(decided(late('reject', 'bob')))).toBe('declined');
  });

  test('a retraction takes the confirmation back, and the violation has then expired', () => {
    expect(reasonOf(decided(inTime, late('retract', 'ada', { retracts: inTime.digest })))).toBe('expired');
  });

  test('a confirmation does not count [T62]', () => {
    expect(reasonOf(decided(late('confirm', 'bob')))).toBe('expired');
  });

  test('a confirmation does not move the start of the commit window', () => {
    const answers = [inTime, late('confirm', 'bob')];
    const given = { plan, violations: [short, long], answers, requester: null, disclosedAt: DISCLOSED_AT };
    expect(lastCountedAt({ ...given, at: after(121) })).toBe(after(30));
  });
});

/** The table as a file, which is optional: it is not part of this repository. */
const FILE = resolve(__dirname, '../../../../shared/spec/decision-table.csv');
const REASONS: Readonly<Record<string, string>> = {
  'hard block': 'forbidden',
  declined: 'declined',
  'confirmation timed out': 'expired',
  'confirmation required, no handler': 'no_handler',
};
const present = existsSync(FILE);
if (!present)
  console.warn('decision-table.csv was not found next to this checkout: only the generated combinations are tested');

(present ? describe : describe.skip)('decision-table.csv, row by row', () => {
  const [head = '', ...lines] = present ? readFileSync(FILE, 'utf8').trim().split(/\r?\n/) : [];
  const keys = head.split(',');
  // Only the last field, the reason, may contain a comma.
  const rows = lines.map((line) =>
    Object.fromEntries(
      keys.map((key, i) => [
        key,
        i === keys.length - 1 ? line.split(',').slice(i).join(',').replaceAll('"', '') : (line.split(',')[i] ?? ''),
      ]),
    ),
  );

  test('has all 256 rows', () => expect(rows).toHaveLength(256));

  test.each(rows.map((row, i) => [i + 2, row] as const))('line %i [V14]', (_line, row) => {
    const c = {
      status: row['status'],
      class: row['class'],
      requiresConfirmation: row['requiresConfirmation'] === 'true',
      callback: row['callback'],
      human: row['human'],
    } as Combination;
    expect(COMBINATIONS).toContainEqual(c);
    const did = run(c);
    expect(did.outcome).toBe(row['outcome']);
    const reason = row['reason'] ?? '';
    expect(did.reason).toBe(reason === '' ? '' : (REASONS[reason] ?? `unknown reason ${reason}`));
    expect(did.asked || did.reason === 'no_handler').toBe(row['humanConsulted'] === 'true');
  });
});

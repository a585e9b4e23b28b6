import type { AdmittedAnswer } from '../../../policy/contracts/answer';
import type { PolicyViolation } from '../../../policy/contracts/violation';
import { violationStatus } from '../../../policy/decide/violation-status';

const HOUR = 3_600_000;
const violation = { violationId: 'v', group: 'dba', fourEyes: true, quorum: 2, deadlineMs: HOUR } as PolicyViolation;
const groups = { dba: { members: ['alice', 'bob', 'rita'] } };

const answer = (person: string, more: Partial<AdmittedAnswer> = {}): AdmittedAnswer =>
  ({
    violationId: 'v',
    person,
    decision: 'confirm',
    digest: person,
    issuedAt: '2026-03-01T11:00:00.000Z',
    admittedAt: '2026-03-01T11:00:00.000Z',
    retracts: null,
    ...more,
  }) as AdmittedAnswer;

const DISCLOSED_AT = '2026-03-01T10:30:00.000Z';
const statusOf = (answers: readonly AdmittedAnswer[], disclosedAt: string | null = DISCLOSED_AT) =>
  violationStatus(violation, 'pending', { groups, requester: 'rita', answers, disclosedAt });
const confirmedBy = (...given: Parameters<typeof statusOf>) => statusOf(...given).confirmedBy;

it('names the people whose confirmations count: members, not the requester, each once, and not for another violation', () => {
  expect(confirmedBy([answer('alice'), answer('alice', { digest: 'again' })])).toEqual(['alice']);
  expect(confirmedBy([answer('rita'), answer('mallory'), answer('bob', { violationId: 'w' })])).toEqual([]);
});

it.each<[string, Partial<AdmittedAnswer>]>([
  ['retracted', { decision: 'retract', retracts: 'alice' }],
  ['rejected', { decision: 'reject' }],
])('does not name a person who has confirmed and then %s', (_what, more) => {
  const later = answer('alice', { digest: 'later', issuedAt: '2026-03-01T11:01:00.000Z', ...more });
  expect(confirmedBy([answer('alice'), answer('bob'), later])).toEqual(['bob']);
});

it('does not name a person whose confirmation came at or after the deadline, as `decide` does not count it', () => {
  const [before, at] = ['2026-03-01T11:29:59.999Z', '2026-03-01T11:30:00.000Z'];
  expect(confirmedBy([answer('alice', { admittedAt: before }), answer('bob', { admittedAt: at })])).toEqual(['alice']);
});

it('no longer names a person who rejected or retracted after the deadline', () => {
  const late = { digest: 'late', issuedAt: '2026-03-01T12:00:00.000Z', admittedAt: '2026-03-01T12:00:00.000Z' };
  for (const said of [{ decision: 'reject' }, { decision: 'retract', retracts: 'alice' }] as const)
    expect(confirmedBy([answer('alice'), answer('alice', { ...late, ...said })])).toEqual([]);
});

it('names who may answer: the members of the group, without the requester under four eyes', () => {
  expect(statusOf([]).mayAnswer).toEqual(['alice', 'bob']);
});

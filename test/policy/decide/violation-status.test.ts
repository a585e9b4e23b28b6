import type { AdmittedAnswer } from '../../../policy/contracts/answer';
import type { PolicyViolation } from '../../../policy/contracts/violation';
import { violationStatus } from '../../../policy/decide/violation-status';

const violation = { violationId: 'v', group: 'dba', fourEyes: true, quorum: 2 } as PolicyViolation;
const groups = { dba: { members: ['alice', 'bob', 'rita'] } };

const answer = (person: string, more: Partial<AdmittedAnswer> = {}): AdmittedAnswer =>
  ({
    violationId: 'v',
    person,
    decision: 'confirm',
    digest: person,
    issuedAt: '2026-03-01T11:00:00.000Z',
    retracts: null,
    ...more,
  }) as AdmittedAnswer;

const confirmedBy = (answers: readonly AdmittedAnswer[]) =>
  violationStatus(violation, 'pending', { groups, requester: 'rita', answers }).confirmedBy;

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

import type { Opened } from '../../activities/review-types';
import type { AdmittedAnswer } from '../../policy/contracts/answer';
import type { Submission } from '../../policy/contracts/diff';
import { Review } from '../../workflows/review-state';
import { planOf } from '../support/plan';

const sha = (digit: string): string => digit.repeat(64);
const submission = { tenant: 'acme', target: 'shop' } as unknown as Submission;
const answer: AdmittedAnswer = {
  violationId: sha('1'),
  fingerprint: sha('2'),
  decision: 'confirm',
  person: 'alice',
  signed: true,
  reason: '',
  issuedAt: '2026-03-01T12:00:00.000Z',
  retracts: null,
  admittedAt: '2026-03-01T12:00:01.000Z',
  digest: sha('3'),
};

test('a run that continues another has the whole state of that one, with every answer', () => {
  const first = new Review(sha('a'), sha('b'), submission);
  first.open({ plan: planOf([]), planHash: sha('c') } as unknown as Opened);
  first.state = 'INTERVENTION_REQUIRED';
  first.stagingSha = sha('d');
  first.fingerprint = sha('2');
  first.disclosedAt = '2026-03-01T11:00:00.000Z';
  first.reachable = ['alice', 'bob'];
  first.title = 'UPDATE accounts: 30 rows';
  first.keyOwners = { k1: 'alice' };
  first.keepRefusals([{ violationId: sha('1'), text: 'mallory: confirm x' }], {
    [sha('1')]: { code: 'unknown_key', message: 'no such key' },
  });
  first.dropped = 7;
  first.warn('a warning');
  first.findings.record('guardian.x', { kind: 'skipped', reasonCode: 'judge_when' });
  first.findings.complete();
  first.admit([answer, { ...answer, person: 'bob', digest: sha('4') }]);
  first.bounds.count('submit', null);
  const carried = JSON.parse(JSON.stringify(first.carry({ what: 'answers' }))) as ReturnType<typeof first.carry>;
  expect(carried).toMatchObject({
    fingerprint: sha('2'),
    answers: [{ person: 'alice' }, { person: 'bob' }],
    outcomes: [['guardian.x', {}]],
    warnings: ['a warning'],
    title: 'UPDATE accounts: 30 rows',
    refusals: { latest: [{ claim: 'mallory: confirm x', why: 'unknown_key: no such key' }], count: 1 },
  });
  const next = new Review(sha('a'), sha('b'), submission);
  next.restore(carried);
  expect(JSON.parse(JSON.stringify(next.carry({ what: 'answers' })))).toEqual(carried);
});

import { violationsOf } from '../../chaos/sweep/check';
import {
  ANSWER,
  COMMITTED,
  committer,
  DISCLOSED,
  insertedBefore,
  JUDGE_BLOCKS,
  observed,
  swapped,
  USUAL,
  VIOLATION,
  without,
  type Facts,
} from './support/checked-review';

const REJECT = ['answer_accepted', { ...ANSWER, decision: 'reject' }] as const;
const disclosing = (violation: object): Facts => swapped('disclosed', { ...DISCLOSED, violations: [violation] });
const answering = (answer: object): Facts => swapped('answer_accepted', { ...ANSWER, ...answer });
const SAFETY_BLOCK = { validator_id: 'vault', class: 'SAFETY', status: 'BLOCK' };

const BROKEN: readonly (readonly [string, Facts, string])[] = [
  [
    'a withdrawal before the intent',
    insertedBefore('intent', ['withdrawn', {}]),
    'K3: committed despite a row withdrawn',
  ],
  [
    'a change that superseded it before the intent',
    insertedBefore('intent', ['superseded', {}]),
    'K3: committed despite a row superseded',
  ],
  [
    'an answer that was taken back before the intent',
    insertedBefore('intent', ['retracted', {}]),
    'K3: committed despite a row retracted',
  ],
  ['a reject', insertedBefore('intent', REJECT), 'K3: committed despite a reject'],
  [
    'a reject of another fingerprint',
    insertedBefore('intent', ['answer_accepted', { ...REJECT[1], fingerprint: 'g' }]),
    'K3: committed despite a reject',
  ],
  ['a reject that was accepted after the intent', insertedBefore('effect', REJECT), 'K3: committed despite a reject'],
  ['a SAFETY BLOCK', swapped('findings', { findings: [SAFETY_BLOCK] }), 'K3: committed despite a SAFETY BLOCK'],
  [
    'a SAFETY BLOCK that was disclosed only',
    swapped('disclosed', { ...DISCLOSED, findings: [SAFETY_BLOCK] }),
    'K3: committed despite a SAFETY BLOCK',
  ],
  [
    'a finding that fired, without a disclosure',
    without('disclosed'),
    'K3: committed, but the finding of usual was not disclosed',
  ],
  [
    'two findings that fired, of which one was disclosed',
    swapped('findings', { findings: [USUAL, { ...USUAL, validator_id: 'dues' }] }),
    'K3: committed, but the finding of dues was not disclosed',
  ],
  [
    'a finding that was disclosed as allowed',
    swapped('disclosed', { ...DISCLOSED, findings: ['usual', 'dues'] }),
    'K3: committed, but the finding of usual was not disclosed',
  ],
  [
    'a judge that blocked in its attested record and was not disclosed',
    insertedBefore('disclosed', JUDGE_BLOCKS),
    'K3: committed, but the finding of judge was not disclosed',
  ],
  [
    'a judge that blocked in its attested record, without a disclosure',
    COMMITTED.flatMap((fact): Facts => (fact[0] === 'disclosed' ? [JUDGE_BLOCKS] : [fact])),
    'K3: committed, but the finding of judge was not disclosed',
  ],
  [
    'a disclosed finding without a violation',
    swapped('disclosed', { ...DISCLOSED, violations: [] }),
    'K3: committed, but usual fired without a violation',
  ],
  ['a hard block', disclosing({ ...VIOLATION, need: 'hard' }), 'K3: committed despite a hard block'],
  [
    'a callback without a result',
    disclosing({ ...VIOLATION, need: 'callback' }),
    'K3: committed, but the callback of usual did not pass',
  ],
  [
    'a callback that did not pass',
    disclosing({ ...VIOLATION, need: 'callback', callbackResult: { passed: false } }),
    'K3: committed, but the callback of usual did not pass',
  ],
  [
    'a violation with an unknown need',
    disclosing({ ...VIOLATION, need: undefined }),
    'K3: committed, but it is unknown who must answer usual',
  ],
  [
    'a violation without a quorum',
    disclosing({ ...VIOLATION, quorum: undefined }),
    'K3: committed, but the violation of usual has no quorum',
  ],
  ['an effect without an answer', without('answer_accepted'), 'K3: committed with 0 of 1 answers'],
  [
    'one person who answers twice for two',
    insertedBefore('intent', ['answer_accepted', ANSWER]).map((fact): Facts[number] =>
      fact[0] === 'disclosed' ? [fact[0], { ...DISCLOSED, violations: [{ ...VIOLATION, quorum: 2 }] }] : fact,
    ),
    'K3: committed with 1 of 2 answers',
  ],
  [
    'an answer that was accepted after the intent',
    insertedBefore('effect', ['answer_accepted', ANSWER]).filter(([kind], i) => kind !== 'answer_accepted' || i > 7),
    'K3: committed with 0 of 1 answers',
  ],
  ['an answer to another fingerprint', answering({ fingerprint: 'g' }), 'K3: committed with 0 of 1 answers'],
  ['an answer to another violation', answering({ violationId: 'w' }), 'K3: committed with 0 of 1 answers'],
  ['an answer of the requester', answering({ person: 'dana' }), 'K3: committed with 0 of 1 answers'],
];

test.each(BROKEN)('the checker of the crash sweep detects a commit despite %s', (_what, facts, expected) => {
  expect(violationsOf(observed(facts), committer)).toContain(expected);
});

test('the checker of the crash sweep takes an effect in the target for a commit, whatever the ledger says', () => {
  const facts = swapped('closed', { state: 'ROLLED_BACK', reason: 'declined' }).filter(
    ([kind]) => kind !== 'answer_accepted',
  );
  expect(violationsOf(observed(facts), committer)).toContain('K3: committed with 0 of 1 answers');
});

import { repairsOf, violationsOf } from '../../chaos/sweep/check';
import type { Observed } from '../../chaos/sweep/rules/review';
import {
  ANSWER,
  COMMITTED,
  committer,
  DISCLOSED,
  INTENT,
  insertedBefore,
  ledgerOf,
  observed,
  REJECTED,
  rolledBack,
  swapped,
  USUAL,
  without,
  type Facts,
} from './support/checked-review';

type Broken = readonly (readonly [string, Observed, string])[];

test.each([
  ['committed', observed(COMMITTED)],
  ['committed on a target without markers', observed(COMMITTED, { marker: 'not kept' })],
  [
    'committed, with a SAFETY WARN that was disclosed',
    observed(
      swapped('disclosed', {
        ...DISCLOSED,
        findings: [USUAL, { validator_id: 'vault', class: 'SAFETY', status: 'WARN' }],
      }),
    ),
  ],
  ['committed, with a message that was refused after its end', observed([...COMMITTED, ['answer_refused', {}]])],
  ['rolled back after a reject', rolledBack('declined', REJECTED)],
  [
    'committed without asking anyone',
    observed(
      COMMITTED.flatMap((fact) => {
        const [kind] = fact;
        if (kind === 'disclosed' || kind === 'answer_accepted') return [];
        if (kind === 'findings') return [['findings', { findings: [] }] as const];
        return [kind === 'intent' ? (['intent', { ...INTENT, fingerprint: null }] as const) : fact];
      }),
    ),
  ],
  [
    'a dry run whose overtaken attempt reports after the disclosure',
    observed(insertedBefore('intent', ['staged', { stagingSha: 't' }])),
  ],
  ['a dry run that was repeated', observed(insertedBefore('staged', ['staged', { stagingSha: 't' }]))],
])('the checker of the crash sweep reports nothing for a correct review: %s', (_what, seen) => {
  expect(violationsOf(seen, committer)).toEqual([]);
});

const LAST_ROWS: Facts = COMMITTED.slice(-4);
const ended = (more: Partial<NonNullable<Observed['workflow']>>): Partial<Observed> => ({
  workflow: { ...(observed(COMMITTED).workflow ?? { status: '', outcome: null, resets: 0 }), ...more },
});

const ROWS: Broken = [
  ['a missing submission', observed(without('submitted')), 'K5: 0 ledger rows of kind submitted'],
  ['a missing plan', observed(without('planned')), 'K5: 0 ledger rows of kind planned'],
  ['a missing effect row', observed(without('effect')), 'K5: 0 ledger rows of kind effect'],
  ['a missing receipt', observed(without('receipt')), 'K5: 0 ledger rows of kind receipt'],
  ['a missing closing row', observed(without('closed')), 'K5: 0 ledger rows of kind closed'],
  ['a missing head', observed(without('head')), 'K5: 0 ledger rows of kind head'],
  ['two heads', observed([...COMMITTED, ...COMMITTED.slice(-1)]), 'K5: 2 ledger rows of kind head'],
  [
    'one dry run twice',
    observed(insertedBefore('staged', ['staged', { stagingSha: 's' }])),
    'K5: two ledger rows of one dry run',
  ],
  [
    'two disclosures',
    observed(insertedBefore('intent', ['disclosed', DISCLOSED])),
    'K5: 2 ledger rows of kind disclosed',
  ],
  ['two intents', observed(insertedBefore('intent', ['intent', {}])), 'K5: 2 ledger rows of kind intent'],
  ['two rollbacks', observed([...COMMITTED, ['decided', {}], ['decided', {}]]), 'K5: 2 ledger rows of kind decided'],
  [
    'a disclosure after the intent',
    observed([...without('disclosed', 'effect', 'receipt', 'closed', 'head'), ['disclosed', DISCLOSED], ...LAST_ROWS]),
    'K5: the row disclosed follows the row intent',
  ],
  [
    'a closing row before the effect row',
    observed([...without('effect', 'receipt', 'closed', 'head'), ...LAST_ROWS.slice(2), ...LAST_ROWS.slice(0, 2)]),
    'K5: the row effect follows the row head',
  ],
  [
    'an answer that was accepted after the settlement',
    observed(insertedBefore('effect', ['answer_accepted', ANSWER])),
    'K5: a row answer_accepted after the settlement',
  ],
  [
    'an answer that was accepted after the end',
    observed([...COMMITTED, ['answer_accepted', ANSWER]]),
    'K5: a row answer_accepted after the row head',
  ],
  ['an open workflow', observed(COMMITTED, ended({ status: 'RUNNING', outcome: null })), 'K5: the workflow is RUNNING'],
  [
    'a workflow that completed without an outcome',
    observed(COMMITTED, ended({ outcome: null })),
    'K5: the workflow completed without an outcome',
  ],
  [
    'a workflow that was reset by hand',
    observed(insertedBefore('intent', ['repaired', { did: 'ended' }]), ended({ resets: 1 })),
    'K5: the workflow was reset 1 times, by the reconciler 0 times',
  ],
  ['two outcomes', observed(swapped('effect', { state: 'ROLLED_BACK' })), 'K5: two outcomes: ROLLED_BACK, COMMITTED'],
  [
    'a workflow with another outcome',
    observed(COMMITTED, ended({ outcome: { state: 'ROLLED_BACK' } })),
    'K5: two outcomes: COMMITTED, ROLLED_BACK',
  ],
  [
    'a modified ledger row',
    observed(COMMITTED, {
      ledger: ledgerOf(COMMITTED).map((line) => (line.n === 2 ? { ...line, actor: 'other' } : line)),
    }),
    'K7: the hash chain of the ledger is broken at row 2',
  ],
];

test.each(ROWS)('the checker of the crash sweep detects %s', (_what, seen, expected) => {
  expect(violationsOf(seen, committer)).toContain(expected);
});

test('the crash sweep lists what the reconciler did with a review and why, in the order of its rows', () => {
  const explanation = 'The workflow asks for an end that was refused';
  const ledger = ledgerOf([
    ['submitted', {}],
    ['repaired', { did: 'reset', found: 'task_fails', explanation: 'reset to event 4', runId: 'r', point: 4 }],
    ['repaired', { did: 'ended', found: 'refused_end', explanation, runId: 'r' }],
  ]);
  expect(repairsOf({ ledger })).toEqual([
    { did: 'reset', found: 'task_fails', explanation: 'reset to event 4' },
    { did: 'ended', found: 'refused_end', explanation },
  ]);
});

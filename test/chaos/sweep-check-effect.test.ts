import { violationsOf } from '../../chaos/sweep/check';
import type { Observed } from '../../chaos/sweep/rules/review';
import {
  COMMITTED,
  committer,
  EFFECT,
  insertedBefore,
  INTENT,
  observed,
  RECEIPT,
  REJECTED,
  rolledBack,
  signed,
  swapped,
  unsigned,
  without,
} from './support/checked-review';

const { changeId } = observed(COMMITTED);
const receipt = (more: object) =>
  swapped('receipt', { envelope: signed({ changeId, state: 'COMMITTED', reason: null, effect: EFFECT, ...more }) });
const outcome = (more: object): Partial<Observed> => ({
  workflow: {
    status: 'COMPLETED',
    outcome: { state: 'COMMITTED', reason: null, receipt: RECEIPT, ...more },
    resets: 0,
  },
});
const EARLY = new Date('2026-01-01T00:00:01.000Z');
const OTHER = { transaction: '8' };
const CONFIRMED = COMMITTED.slice(0, 7);

const BROKEN: readonly (readonly [string, Observed, string])[] = [
  ['an effect that was applied twice', observed(COMMITTED, { effects: 2 }), 'K1: 2 effects'],
  ['a target without the row of the change', observed(COMMITTED, { effects: -1 }), 'K1: -1 effects'],
  ['an effect without a marker', observed(COMMITTED, { marker: null }), 'K2: no marker, but 1 effects'],
  [
    'a marker that names no effect',
    observed(COMMITTED, { marker: { effect: null } }),
    'K2: a marker without an effect',
  ],
  ['a marker without an effect in the target', observed(COMMITTED, { effects: 0 }), 'K2: a marker, but 0 effects'],
  [
    'an effect under a sealed marker',
    observed(COMMITTED, { marker: { effect: { sealed: true } } }),
    'K2: no marker, but the ledger says COMMITTED',
  ],
  [
    'an effect of a review that was rolled back',
    { ...rolledBack('declined', REJECTED), effects: 1, marker: { effect: EFFECT } },
    'K2: a marker, but the ledger says not COMMITTED',
  ],
  [
    'a commit without an effect, on a target without markers',
    observed(COMMITTED, { effects: 0, marker: 'not kept' }),
    'K2: 0 effects, but the ledger says COMMITTED',
  ],
  [
    'an effect row with another effect than the marker',
    observed(swapped('effect', { state: 'COMMITTED', effect: OTHER })),
    'K2: effect row and marker name different effects',
  ],
  [
    'a rollback whose row names an effect',
    rolledBack('declined', REJECTED, { effect: { effect: EFFECT } }),
    'K2: effect row and marker name different effects',
  ],
  ['a missing settlement', observed(without('intent')), 'K4: 0 settlements'],
  ['two settlements', observed(insertedBefore('effect', ['decided', {}])), 'K4: 2 settlements'],
  [
    'a commit after a decision to roll back',
    observed(COMMITTED.map((fact) => (fact[0] === 'intent' ? ['decided', {}] : fact))),
    'K4: committed without an intent',
  ],
  [
    'an intent with another fingerprint',
    observed(swapped('intent', { ...INTENT, fingerprint: 'g' })),
    'K4: the intent names another fingerprint than the row disclosed',
  ],
  [
    'an intent with another plan',
    observed(swapped('intent', { ...INTENT, planHash: 'q' })),
    'K4: the intent names another planHash than the row planned',
  ],
  [
    'an intent with another dry run',
    observed(swapped('intent', { ...INTENT, stagingSha: 't' })),
    'K4: the intent names another stagingSha than the row disclosed',
  ],
  [
    'an intent with a dry run that has no row',
    observed(swapped('staged', { stagingSha: 't' })),
    'K4: the intent names a dry run without a row staged',
  ],
  [
    'a target that was written before the intent',
    observed(COMMITTED, { writtenAt: EARLY }),
    'K4: the target was written before the intent',
  ],
  [
    'a target without markers that was written before the intent',
    observed(COMMITTED, { writtenAt: EARLY, marker: 'not kept' }),
    'K4: the target was written before the intent',
  ],
  [
    'a receipt signed with another key',
    observed(swapped('receipt', { envelope: unsigned(RECEIPT) })),
    'K6: the receipt is not signed by the committer',
  ],
  [
    'a receipt for another change',
    observed(receipt({ changeId: 'd'.repeat(64) })),
    'K6: the receipt is for another change',
  ],
  [
    'a receipt with another outcome than the target',
    observed(receipt({ state: 'ROLLED_BACK', reason: 'declined' })),
    'K6: the receipt says ROLLED_BACK, but there are 1 effects',
  ],
  ['a receipt with another effect', observed(receipt({ effect: OTHER })), 'K6: receipt and effect row differ'],
  [
    'a closing row with another reason',
    rolledBack('declined', REJECTED, { closed: { reason: 'expired' } }),
    'K6: receipt and closing row differ',
  ],
  [
    'a settlement with another reason',
    rolledBack('declined', REJECTED, { decided: { reason: 'expired' } }),
    'K6: the receipt has another reason than the settlement',
  ],
  ['a commit with a reason', observed(receipt({ reason: 'declined' })), 'K6: the receipt says COMMITTED declined'],
  [
    'a workflow with another reason',
    observed(COMMITTED, outcome({ reason: 'declined' })),
    'K6: the receipt says COMMITTED null, but the workflow COMMITTED declined',
  ],
  [
    'a workflow with another receipt',
    observed(COMMITTED, outcome({ receipt: { ...RECEIPT, payload: '' } })),
    'K6: the workflow returned another receipt',
  ],
  [
    'a head signed with another key',
    observed(swapped('head', { envelope: unsigned(signed({})) })),
    'K6: the head is not signed by the committer',
  ],
  [
    'a head of another row',
    observed(swapped('head', { envelope: signed({ changeId, rows: 3, hash: '' }) })),
    'K6: the head names another row than the closing row',
  ],
  ...[
    ...['declined', 'withdrawn', 'commit_refused', 'workflow_lost', 'stale_base', 'commit_failed', 'forbidden'],
    ...['expired', 'superseded', 'policy_moved', 'no_handler', 'post_failed', 'contract_violation', 'unknown'],
  ].map(
    (reason) =>
      [
        `a rollback as ${reason} with only confirmations`,
        rolledBack(reason, CONFIRMED),
        `K6: rolled back as ${reason}, but no row supports it`,
      ] as const,
  ),
];

test.each(BROKEN)('the checker of the crash sweep detects %s', (_what, seen, expected) => {
  expect(violationsOf(seen, committer)).toContain(expected);
});

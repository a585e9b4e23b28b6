import { createPublicKey, verify } from 'node:crypto';
import { of, predicateOf, sameJson, type Body, type Review, type Rule } from './review';

/** K6: what the committer signed about the end of a review, and that its reason has a row. */
export const RECEIPT: readonly Rule[] = [
  receiptIsSigned,
  receiptAgreesWithTarget,
  receiptAgreesWithRows,
  receiptAgreesWithWorkflow,
  reasonHasRows,
  headNamesTheLastRow,
];

interface Envelope {
  readonly payloadType: string;
  readonly payload: string;
  readonly signatures: readonly { readonly sig: string }[];
}

const SPKI = Buffer.from('302a300506032b6570032100', 'hex');

function isSigned({ payloadType, payload, signatures }: Envelope, committer: string): boolean {
  const bytes = Buffer.from(payload, 'base64');
  const head = `DSSEv1 ${Buffer.byteLength(payloadType)} ${payloadType} ${bytes.length} `;
  const der = Buffer.concat([SPKI, Buffer.from(committer, 'hex')]);
  const key = createPublicKey({ key: der, format: 'der', type: 'spki' });
  const [signature] = signatures;
  return verify(null, Buffer.concat([Buffer.from(head), bytes]), key, Buffer.from(signature?.sig ?? '', 'base64'));
}

const envelopeIn = ({ lines }: Review, kind: 'receipt' | 'head'): Envelope | undefined =>
  of(lines, kind)[0]?.parsed['envelope'] as Envelope | undefined;

/** For rules about the content of the receipt. Without one, K5 has found that its row is absent. */
const aboutReceipt = (review: Review, rule: (predicate: Body, envelope: Envelope) => string[]): string[] => {
  const envelope = envelopeIn(review, 'receipt');
  return envelope === undefined ? [] : rule(predicateOf(envelope), envelope);
};

function receiptIsSigned(review: Review): string[] {
  return aboutReceipt(review, ({ changeId }, envelope) => [
    ...(isSigned(envelope, review.committer) ? [] : ['K6: the receipt is not signed by the committer']),
    ...(changeId === review.changeId ? [] : ['K6: the receipt is for another change']),
  ]);
}

function receiptAgreesWithTarget(review: Review): string[] {
  const { effects } = review;
  return aboutReceipt(review, ({ state }) =>
    (state === 'COMMITTED') === effects > 0
      ? []
      : [`K6: the receipt says ${String(state)}, but there are ${effects} effects`],
  );
}

/** The effect row agrees with the marker (K2), so the receipt does as well. */
function receiptAgreesWithRows(review: Review): string[] {
  const [effect, closed, decided] = ['effect', 'closed', 'decided'].map((kind) => of(review.lines, kind)[0]?.parsed);
  return aboutReceipt(review, (predicate) => {
    const { state, reason } = predicate;
    const differs = (row: Body | undefined, ...members: readonly string[]): boolean =>
      row !== undefined && members.some((member) => !sameJson(row[member], predicate[member]));
    return [
      ...(differs(effect, 'state', 'effect') ? ['K6: receipt and effect row differ'] : []),
      ...(differs(closed, 'state', 'reason') ? ['K6: receipt and closing row differ'] : []),
      ...(differs(decided, 'reason') ? ['K6: the receipt has another reason than the settlement'] : []),
      ...((state === 'COMMITTED') === (reason === null)
        ? []
        : [`K6: the receipt says ${String(state)} ${String(reason)}`]),
    ];
  });
}

function receiptAgreesWithWorkflow(review: Review): string[] {
  const outcome = review.workflow?.outcome ?? null;
  if (outcome === null) return [];
  return aboutReceipt(review, ({ state, reason }, envelope) => [
    ...(outcome['state'] === state && outcome['reason'] === reason
      ? []
      : [
          `K6: the receipt says ${String(state)} ${String(reason)}, but the workflow ${String(outcome['state'])} ${String(outcome['reason'])}`,
        ]),
    ...(sameJson(outcome['receipt'], envelope) ? [] : ['K6: the workflow returned another receipt']),
  ]);
}

const has =
  (kind: string, member?: string, value?: unknown) =>
  ({ beforeSettlement }: Review): boolean =>
    of(beforeSettlement, kind).some(({ parsed }) => member === undefined || parsed[member] === value);
const hasIntent = ({ lines }: Review): boolean => of(lines, 'intent').length > 0;

/** A row without which a review is not rolled back for this reason. Reviews of a sweep have no other reasons. */
const NEEDED: Readonly<Record<string, (review: Review) => boolean>> = {
  declined: has('answer_accepted', 'decision', 'reject'),
  withdrawn: has('withdrawn'),
  commit_refused: has('refused'),
  workflow_lost: has('repaired', 'did', 'ended'),
  stale_base: (review) => hasIntent(review) || has('staged', 'stale', true)(review),
  commit_failed: (review) =>
    hasIntent(review) || has('refused', 'check', 'step_failed')(review) || has('staged', 'rejected', true)(review),
  forbidden: (review) =>
    has('refused', 'check', 'step_failed')(review) ||
    of(review.beforeSettlement, 'findings').some(({ parsed }) =>
      (parsed['findings'] as readonly Body[]).some((f) => f['class'] === 'SAFETY' && f['status'] === 'BLOCK'),
    ),
};

function reasonHasRows(review: Review): string[] {
  return aboutReceipt(review, ({ state, reason }) =>
    state === 'ROLLED_BACK' && NEEDED[String(reason)]?.(review) !== true
      ? [`K6: rolled back as ${String(reason)}, but no row supports it`]
      : [],
  );
}

/** The head says where the rows end, so that a cut ledger is known to be incomplete. */
function headNamesTheLastRow(review: Review): string[] {
  const envelope = envelopeIn(review, 'head');
  const [closed] = of(review.lines, 'closed');
  if (envelope === undefined || closed === undefined) return [];
  const { rows, hash, changeId } = predicateOf(envelope);
  return [
    ...(isSigned(envelope, review.committer) ? [] : ['K6: the head is not signed by the committer']),
    ...(rows === closed.n + 1 && hash === closed.hash && changeId === review.changeId
      ? []
      : ['K6: the head names another row than the closing row']),
  ];
}

import { rowText } from '../../cli/evidence/row-text';
import { LedgerKind, type LedgerRow } from '../../policy/contracts/ledger';
import { parseEvidence } from '../../policy/evidence/bundle';
import { hex } from '../client/fakes';
import { publishedVectors, VECTOR_NAMES } from '../support/vectors';

const row = (kind: LedgerKind, body: object): LedgerRow => ({
  changeId: hex('c'),
  n: 0,
  prev: hex('0'),
  kind,
  at: '2026-11-20T10:00:00.000Z',
  actor: 'cs_review',
  body: body as LedgerRow['body'],
});

it.each(VECTOR_NAMES)('decodes every row of the published review %s, without raw envelopes or full digests', (name) => {
  const parsed = parseEvidence(publishedVectors().texts[name]);
  if (!parsed.ok) throw new Error(parsed.problem);
  const texts = parsed.bundle.rows.map(({ row: each }) => rowText(each));
  expect(texts.length).toBeGreaterThanOrEqual(10);
  for (const text of texts) expect(text).not.toMatch(/payload|[0-9a-f]{64}|\n|undefined|\?/);
});

it.each([
  [
    'answer_accepted',
    { person: 'bob', decision: 'reject', violationId: hex('a'), signed: false, reason: 'no\nnever' },
    'bob reject aaaaaaaa, unsigned: no / never',
  ],
  ['answer_refused', { code: 'expired', violationId: hex('a'), message: 'too late' }, 'expired aaaaaaaa: too late'],
  ['staged', { rejected: true, explanation: 'syntax error' }, 'rejected by the target: syntax error'],
  ['staged', { rejected: true, stale: true, explanation: 'main is at 3f' }, 'the target had changed: main is at 3f'],
  ['refused', { check: 'stage', explanation: 'frozen' }, 'stage: frozen'],
  ['spent', { nonce: 'x'.repeat(16), keyId: hex('b') }, 'keyId bbbbbbbb'],
  ['closed', { state: 'ROLLED_BACK', reason: 'expired', samples: {} }, 'ROLLED_BACK expired'],
  ['resolved', { envelope: { payload: 'not base64!' }, applied: true, reason: 'seen' }, 'applied true, reason seen'],
] as const)('a row %s says %p as %p', (kind, body, text) => {
  expect(rowText(row(kind, body))).toBe(text);
});

it.each(LedgerKind.options)('a row %s of any form is printed without an exception', (kind) => {
  const odd = [
    {},
    { envelope: null },
    { envelope: { payload: 'e30=' } },
    { envelope: { payload: '////' } },
    { record: [1], violations: 'x', submission: 7 },
  ];
  for (const body of odd) expect(typeof rowText(row(kind, body))).toBe('string');
});

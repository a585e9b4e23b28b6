import type { AnswerPredicate } from '../../policy/contracts/answer';
import { canonicalJson } from '../../policy/contracts/canonical-json';
import type { Envelope } from '../../policy/contracts/diff';
import { fromBase64, toBase64 } from '../../policy/evidence/base64';
import { statementOf } from '../../policy/evidence/statement';
import { signEnvelope } from '../../signing/envelope';
import { assessAnswer, type AnswerScope } from '../../signing/assess-answer';
import { lookup, testKey } from '../support/keys';
import { answerOf } from '../support/review/disclosed-change';

const sha = (letter: string): string => letter.repeat(64);
const NOW = '2026-03-01T12:00:00.000Z';
const dana = testKey('approver', 'dana');
const eli = testKey('approver', 'eli');
const keys = lookup(dana, eli);

const SIGNED = answerOf(dana.keyId, { decision: 'reject', reason: 'it drops the table', nonce: 'n'.repeat(20) });
const need = { need: 'human' as const, group: 'dba', members: ['dana', 'eli'], fourEyes: true };
const scope: AnswerScope = {
  changeId: SIGNED.changeId,
  context: SIGNED.context,
  answersMode: 'signed',
  development: false,
  fingerprint: SIGNED.fingerprint,
  requester: 'rita',
  violations: [{ violationId: SIGNED.violationId, ...need }],
};

/** Another value for each member, and the code for an answer signed with it; null if no rule reads the member. */
const OTHER = {
  changeId: [{ changeId: sha('9') }, 'wrong_context'],
  fingerprint: [{ fingerprint: sha('9') }, 'wrong_fingerprint'],
  violationId: [{ violationId: sha('9') }, 'unknown_violation'],
  decision: [{ decision: 'confirm' }, null],
  retracts: [{ decision: 'retract', retracts: sha('9') }, null],
  reason: [{ reason: 'fine' }, null],
  keyId: [{ keyId: eli.keyId }, 'bad_signature'],
  context: [{ context: { ...SIGNED.context, tenant: 'other' } }, 'wrong_context'],
  coverage: [{ coverage: 1 }, null],
  nonce: [{ nonce: 'm'.repeat(20) }, null],
  issuedAt: [{ issuedAt: '2026-03-01T12:20:00.000Z' }, 'expired'],
  expiresAt: [{ expiresAt: '2026-03-01T11:59:59.000Z' }, 'expired'],
} as const satisfies Record<keyof AnswerPredicate, readonly [Partial<AnswerPredicate>, string | null]>;
const MEMBERS = Object.entries(OTHER) as [keyof AnswerPredicate, readonly [Partial<AnswerPredicate>, string | null]][];

/** Bypasses `signPredicate`, which refuses a statement that names another key. */
const answer = (more: Partial<AnswerPredicate> = {}): Envelope =>
  signEnvelope(statementOf('answer', { ...SIGNED, ...more }), dana);
const codeOf = (sent: unknown): string => assessAnswer(sent, scope, keys, NOW).code;

/** The payload of one answer with the signature of another. */
const under = (words: Envelope, signature: Envelope): Envelope => ({ ...words, signatures: signature.signatures });

test('an unmodified answer counts', () => expect(codeOf(answer())).toBe('accepted'));

test.each(MEMBERS)('%s is bound: an answer that was changed after signing is refused [T60]', (_member, [more]) => {
  const changed = { ...SIGNED, ...more };
  const statement = JSON.parse(new TextDecoder().decode(fromBase64(answer().payload) ?? new Uint8Array())) as object;
  const onlyPredicate = toBase64(new TextEncoder().encode(canonicalJson({ ...statement, predicate: changed })));
  for (const forged of [under(answer(more), answer()), { ...answer(), payload: onlyPredicate }])
    expect(['bad_signature', 'malformed', 'unknown_key']).toContain(codeOf(forged));
});

const READ = MEMBERS.flatMap(([member, [more, code]]) => (code === null ? [] : [[member, code, more] as const]));
test.each(READ)('%s is compared: an answer signed with another value is refused as %s [T60]', (_member, code, more) =>
  expect(codeOf(answer(more))).toBe(code),
);

test.each(['tenant', 'target', 'environment'] as const)('%s of the context is compared separately', (member) => {
  const other = member === 'environment' ? 'development' : 'other';
  expect(codeOf(answer({ context: { ...SIGNED.context, [member]: other } }))).toBe('wrong_context');
});

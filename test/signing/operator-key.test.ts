/** A trust file can say until when the key of an operator counts: for one who left, or whose key is in other hands. */
import { PREDICATES, type PredicateOf, type StatementKind } from '../../policy/evidence/statement';
import { signPredicate } from '../../signing/envelope';
import { newKeyPair } from '../../signing/keys';
import { canSign, OperatorKeys, tooLate } from '../../signing/operator-key';
import { signedBy, signedByOperator } from '../../signing/signed-by';
import { parseTrust } from '../../signing/trust-file';
import { verifyEvidence } from '../../signing/verify-evidence';
import { isMet } from '../../signing/verify-review';
import { publishedVectors } from '../support/vectors';

const UNTIL = '2026-03-01T00:00:00.000Z';
const BEFORE = '2026-02-28T23:59:59.999Z';
const AFTER = '2026-03-01T00:00:00.001Z';
const [left, other] = [newKeyPair(), newKeyPair()];
const operators = [{ publicKey: left.publicKey, until: UNTIL }, other.publicKey];

const freeze = (at: string, key = left) =>
  signPredicate('target-freeze', { target: 'shop', n: 1, frozen: true, reason: 'r', keyId: key.keyId, at }, key);

test('a statement of the time or before counts, a later one does not, and names both times', () => {
  const read = (at: string, key = left) => signedBy('target-freeze', freeze(at, key), operators, 'operator');
  expect([read(BEFORE).ok, read(UNTIL).ok]).toEqual([true, true]);
  expect(read(AFTER)).toEqual({ ok: false, message: expect.stringContaining(`only until ${UNTIL}`) });
  expect(read(AFTER)).toEqual({ ok: false, message: expect.stringContaining(`of ${AFTER}`) });
  expect(read(AFTER, other).ok).toBe(true);
});

test('a statement that is dated back counts by the time of its row', () => {
  expect(signedByOperator('target-freeze', freeze(BEFORE), operators, BEFORE)).not.toBeNull();
  expect(signedByOperator('target-freeze', freeze(BEFORE), operators, AFTER)).toBeNull();
  expect(signedByOperator('target-freeze', freeze(AFTER), operators, BEFORE)).toBeNull();
});

test('the time of a time zone is compared as a moment, not as text', () => {
  const [offset] = OperatorKeys.parse([{ publicKey: left.publicKey, until: '2026-03-01T00:00:00Z' }]);
  expect(tooLate(offset ?? '', 'target-freeze', { at: UNTIL }, null)).toBeNull();
  expect(OperatorKeys.safeParse([{ publicKey: left.publicKey, until: '2026-03-01' }]).success).toBe(false);
  expect(OperatorKeys.safeParse([{ publicKey: left.publicKey, until: '2026-03-01T02:00:00+02:00' }]).success).toBe(
    false,
  );
});

/** Those that operators sign. All others are of keys in the registry or of committers. */
const OF_OPERATORS = [
  'key',
  'key-revocation',
  'enrollment',
  'policy-revision',
  'policy-revocation',
  'effect-resolution',
  'breaker-reset',
  'target-freeze',
] as const satisfies readonly StatementKind[];

test.each(OF_OPERATORS)('a statement %s has a time that is compared', (kind) => {
  const operator = { publicKey: left.publicKey, until: UNTIL };
  const times = ['addedAt', 'issuedAt', 'revokedAt', 'resolvedAt', 'at'];
  const predicate = (at: string) => Object.fromEntries(times.map((name) => [name, at]));
  expect(tooLate(operator, kind, predicate(BEFORE), null)).toBeNull();
  expect(tooLate(operator, kind, predicate(AFTER), null)).toContain(AFTER);
  expect(Object.keys(PREDICATES[kind].shape).filter((name) => times.includes(name))).toHaveLength(1);
});

test('a statement without a time does not count, whatever its kind', () => {
  const operator = { publicKey: left.publicKey, until: UNTIL };
  const kinds = Object.keys(PREDICATES) as StatementKind[];
  expect(kinds.filter((kind) => tooLate(operator, kind, {}, BEFORE) === null)).toEqual([]);
  const receipt = { at: BEFORE } as unknown as PredicateOf<'receipt'>;
  expect(tooLate(operator, 'receipt', receipt, BEFORE)).toContain('no time');
});

test('a key signs until its time, and one that is not listed never', () => {
  const at = (text: string) => canSign(operators, left.publicKey, new Date(text));
  expect([at(UNTIL), at(AFTER)]).toEqual([true, false]);
  expect(canSign(operators, other.publicKey, new Date(AFTER))).toBe(true);
  expect(canSign(operators, newKeyPair().publicKey, new Date(BEFORE))).toBe(false);
});

test('a trust file lists each operator once, and says what it expects', () => {
  const trust = (...keys: unknown[]) => JSON.stringify({ operators: keys, committers: [other.publicKey] });
  expect(parseTrust(trust(...operators)).operators).toEqual(operators);
  expect(() => parseTrust(trust(left.publicKey, { publicKey: left.publicKey, until: UNTIL }))).toThrow(
    'operators: expected each public key once',
  );
  for (const wrong of [{ publicKey: left.publicKey }, { publicKey: left.publicKey, until: null }, { until: UNTIL }])
    expect(() => parseTrust(trust(wrong))).toThrow(
      'operators.0: expected a public key, 64 lower-case hex digits, or {',
    );
  for (const until of ['2026-01-31T18:00:00+01:00', '2026-01-31', '2026-02-30T00:00:00Z'])
    expect(() => parseTrust(trust({ publicKey: left.publicKey, until }))).toThrow(
      'operators.0.until: expected a time in UTC, such as 2026-01-31T18:00:00Z',
    );
  expect(() => parseTrust(trust('x'))).toThrow('operators.0: expected 64 lower-case hex digits');
  expect(() => parseTrust(trust(other.publicKey).replace('{', '{"operators": [],'))).toThrow(
    'got invalid JSON: line 1 column 18: the second member of this name',
  );
});

test.each(['committed', 'passkey'] as const)(
  'evidence %s verifies only if its keys and policy were signed until the time',
  (name) => {
    const { texts, trust } = publishedVectors();
    const verified = (until: string) => {
      const listed = trust.operators.map((publicKey) => ({ publicKey: String(publicKey), until }));
      const { verdict, checks } = verifyEvidence(texts[name], { ...trust, operators: listed });
      return { verdict, failed: checks.filter((check) => !isMet(check)).map((check) => check.name) };
    };
    expect(verified('2099-01-01T00:00:00Z')).toEqual({ verdict: 'verified', failed: [] });
    const early = verified('2001-01-01T00:00:00Z');
    expect(early.verdict).toBe('failed');
    expect(early.failed).toEqual(expect.arrayContaining(['policy', 'keys']));
  },
);

import { trustFingerprint } from '../../../../gateway/inbox/page/trust-fingerprint';

const [olga, ulf, committer] = ['a'.repeat(64), 'b'.repeat(64), 'c'.repeat(64)];

test('browsers know the fingerprint that they remember, in any order of the keys, and another time gives another one', () => {
  const of = (...operators: Parameters<typeof trustFingerprint>[0]['operators']) =>
    trustFingerprint({ operators, committers: [committer] });
  // Of version 0.2.0, which knew keys without a time only.
  expect(of(olga, ulf)).toBe('cacf 2750 dc08 0809');
  expect(of(ulf, olga)).toBe(of(olga, ulf));
  const until = (at: string) => of(olga, { publicKey: ulf, until: at });
  const all = [of(olga, ulf), until('2026-01-31T18:00:00Z'), until('2026-02-28T18:00:00Z')];
  expect(new Set(all).size).toBe(3);
});

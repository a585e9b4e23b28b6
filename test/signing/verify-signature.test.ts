import { ed25519 } from '@noble/curves/ed25519.js';
import { p256 } from '@noble/curves/nist.js';
import { sha512 } from '@noble/hashes/sha2.js';
import { bytesToHex, concatBytes, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import * as browser from '../../signing/verify-signature.browser';
import * as node from '../../signing/verify-signature';

const MESSAGE = utf8ToBytes('statement');
const SECRET = new Uint8Array(32).fill(7);

/** Both implementations give the same result for each. */
describe.each([
  ['node', node],
  ['browser', browser],
])('verification on %s', (_name, { verifyEd25519, verifyEs256 }) => {
  describe('of Ed25519', () => {
    const key = bytesToHex(ed25519.getPublicKey(SECRET));
    const valid = ed25519.sign(MESSAGE, SECRET);
    const L = ed25519.Point.Fn.ORDER;
    const [r, s] = [valid.slice(0, 32), valid.slice(32)];
    const number = (bytes: Uint8Array): bigint => BigInt(`0x${bytesToHex(Uint8Array.from(bytes).reverse())}`);
    const bytes = (value: bigint): Uint8Array => hexToBytes(value.toString(16).padStart(64, '0')).reverse();

    // RFC 8032 §7.1, tests 1 to 3.
    it.each([
      [
        'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a',
        '',
        'e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b',
      ],
      [
        '3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c',
        '72',
        '92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00',
      ],
      [
        'fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025',
        'af82',
        '6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a',
      ],
    ])('accepts the published vector of %s', (publicKey, message, signature) => {
      expect(verifyEd25519(publicKey, hexToBytes(message), hexToBytes(signature))).toBe(true);
    });

    it.each<[string, Uint8Array]>([
      ['S + L', concatBytes(r, bytes(number(s) + L))],
      ['S = L', concatBytes(r, bytes(L))],
      ['the highest S', concatBytes(r, new Uint8Array(32).fill(255))],
      ['S = 0 and R = identity', concatBytes(bytes(1n), new Uint8Array(32))],
      [
        'R of small order',
        concatBytes(hexToBytes('ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f'), s),
      ],
      ['R that is not canonical', concatBytes(hexToBytes(`ee${'f'.repeat(60)}7f`), s)],
      ['a byte more', concatBytes(valid, Uint8Array.of(0))],
      ['a byte less', valid.slice(0, 63)],
      ['no bytes', new Uint8Array(0)],
    ])('refuses a signature with %s', (_what, signature) => {
      expect(verifyEd25519(key, MESSAGE, signature)).toBe(false);
    });

    it('refuses each flipped bit, and another message', () => {
      expect(verifyEd25519(key, MESSAGE, valid)).toBe(true);
      expect(verifyEd25519(key, utf8ToBytes('other'), valid)).toBe(false);
      for (let bit = 0; bit < 512; bit += 13) {
        const flipped = Uint8Array.from(valid, (byte, i) => (i === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte));
        expect(verifyEd25519(key, MESSAGE, flipped)).toBe(false);
      }
    });

    it('refuses a signature that only the equation with cofactor accepts', () => {
      // R' = R + T with T of order 8: 8(S·B) = 8(R' + k·A), but S·B differs from R' + k·A.
      const torsion = ed25519.Point.fromHex('26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05');
      const { scalar, pointBytes } = ed25519.utils.getExtendedPublicKey(SECRET);
      const nonce = 12345n;
      const mixed = ed25519.Point.BASE.multiply(nonce).add(torsion).toBytes();
      const k = number(sha512(concatBytes(mixed, pointBytes, MESSAGE))) % L;
      const signature = concatBytes(mixed, bytes((nonce + k * scalar) % L));
      expect(ed25519.verify(signature, MESSAGE, pointBytes, { zip215: true })).toBe(true);
      expect(verifyEd25519(key, MESSAGE, signature)).toBe(false);
    });

    it('throws for a key that may not be registered', () => {
      for (const bad of ['', key.toUpperCase(), '01'.padEnd(64, '0'), 'f'.repeat(64)])
        expect(() => verifyEd25519(bad, MESSAGE, valid)).toThrow(TypeError);
    });
  });

  describe('of ES256', () => {
    const point = p256.getPublicKey(SECRET, false).slice(1);
    const compact = p256.sign(MESSAGE, SECRET, { lowS: true });
    const n = p256.Point.Fn.ORDER;
    const [r, s] = [compact.slice(0, 32), compact.slice(32)];
    const number = (bytes: Uint8Array): bigint => BigInt(`0x${bytesToHex(bytes)}`);
    const hex = (value: bigint): string => {
      const digits = value.toString(16);
      const even = digits.length % 2 === 0 ? digits : `0${digits}`;
      return /^[89a-f]/.test(even) ? `00${even}` : even;
    };
    const tlv = (tag: string, content: string): string =>
      `${tag}${(content.length / 2).toString(16).padStart(2, '0')}${content}`;
    const der = (a: bigint, b: bigint): string => tlv('30', tlv('02', hex(a)) + tlv('02', hex(b)));
    const [R, S] = [number(r), number(s)];
    const check = (text: string): boolean => verifyEs256(point, MESSAGE, hexToBytes(text));

    it('accepts a signature with low and with high S, as authenticators make both', () => {
      expect([check(der(R, S)), check(der(R, n - S))]).toEqual([true, true]);
    });

    it.each<[string, string]>([
      ['r = 0', der(0n, S)],
      ['s = 0', der(R, 0n)],
      ['r = n', der(n, S)],
      ['s + n', der(R, S + n)],
      ['r and s swapped', der(S, R)],
      ['a negative s', tlv('30', tlv('02', hex(R)) + tlv('02', hex(n - S).replace(/^00/, '')))],
      ['a leading zero that r does not need', tlv('30', tlv('02', `00${hex(R)}`) + tlv('02', hex(S)))],
      ['a leading zero that s does not need', tlv('30', tlv('02', hex(R)) + tlv('02', `00${hex(S)}`))],
      ['a length in the long form', `3081${der(R, S).slice(2)}`],
      ['an indefinite length', `3080${der(R, S).slice(4)}0000`],
      ['a byte after the sequence', `${der(R, S)}00`],
      ['a third integer', tlv('30', tlv('02', hex(R)) + tlv('02', hex(S)) + tlv('02', '01'))],
      ['one integer', tlv('30', tlv('02', hex(R)))],
      ['an empty integer', tlv('30', tlv('02', hex(R)) + tlv('02', ''))],
      ['another tag', `31${der(R, S).slice(2)}`],
      ['the compact form', bytesToHex(compact)],
      ['33 digits', tlv('30', tlv('02', `7f${'0'.repeat(64)}`) + tlv('02', hex(S)))],
      ['no bytes', ''],
    ])('refuses %s', (_what, text) => expect(check(text)).toBe(false));

    it('refuses another message and another key', () => {
      expect(verifyEs256(point, utf8ToBytes('other'), hexToBytes(der(R, S)))).toBe(false);
      const other = p256.getPublicKey(new Uint8Array(32).fill(8), false).slice(1);
      expect(verifyEs256(other, MESSAGE, hexToBytes(der(R, S)))).toBe(false);
    });

    it('throws for a point that is not on the curve', () => {
      const off = Uint8Array.from(point, (byte, i) => (i === 63 ? byte ^ 1 : byte));
      for (const bad of [off, point.slice(1), new Uint8Array(64)])
        expect(() => verifyEs256(bad, MESSAGE, hexToBytes(der(R, S)))).toThrow(TypeError);
    });
  });
});

/** An Android attestation (Web Authentication Level 2, §8.4) whose certificates an attacker has made. */
import { generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import { concatBytes, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';

const SEQUENCE = 0x30;
const INTEGER = 0x02;
const ENUMERATED = 0x0a;
const BIT_STRING = 0x03;
const OCTET_STRING = 0x04;
const UTC_TIME = 0x17;

/** DER. */
function der(tag: number, ...parts: readonly Uint8Array[]): Uint8Array {
  const body = concatBytes(...parts);
  const length =
    body.length < 0x80
      ? [body.length]
      : body.length < 0x100
        ? [0x81, body.length]
        : [0x82, body.length >> 8, body.length & 0xff];
  return concatBytes(Uint8Array.of(tag, ...length), body);
}

const oid = (hex: string): Uint8Array => der(0x06, hexToBytes(hex));
const small = (tag: number, value: number): Uint8Array => der(tag, Uint8Array.of(value));
const bits = (bytes: Uint8Array): Uint8Array => der(BIT_STRING, Uint8Array.of(0), bytes);
const ECDSA_SHA256 = der(SEQUENCE, oid('2a8648ce3d040302'));
const P256 = der(SEQUENCE, oid('2a8648ce3d0201'), oid('2a8648ce3d030107'));

function nameOf(text: string): Uint8Array {
  return der(SEQUENCE, der(0x31, der(SEQUENCE, oid('550403'), der(0x0c, utf8ToBytes(text)))));
}

function certificate(
  subject: string,
  spki: Uint8Array,
  issuerKey: KeyObject,
  extensions: readonly Uint8Array[] = [],
): Uint8Array {
  const tbs = der(
    SEQUENCE,
    der(0xa0, small(INTEGER, 2)),
    small(INTEGER, 1),
    ECDSA_SHA256,
    nameOf('root'),
    der(SEQUENCE, der(UTC_TIME, utf8ToBytes('200101000000Z')), der(UTC_TIME, utf8ToBytes('491231235959Z'))),
    nameOf(subject),
    spki,
    ...(extensions.length === 0 ? [] : [der(0xa3, der(SEQUENCE, ...extensions))]),
  );
  return der(SEQUENCE, tbs, ECDSA_SHA256, bits(sign('sha256', tbs, issuerKey)));
}

/** Says that the certificate of this ES256 key (COSE, hex) may be revoked in the list at `crlUrl`. In CBOR. */
export function androidAttestation(cose: string, clientDataHash: Uint8Array, crlUrl: string): Uint8Array {
  const point = hexToBytes(`04${cose.slice(20, 84)}${cose.slice(90)}`);
  const root = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const description = der(
    SEQUENCE,
    ...[small(INTEGER, 3), small(ENUMERATED, 1), small(INTEGER, 4), small(ENUMERATED, 1)],
    ...[der(OCTET_STRING, clientDataHash), der(OCTET_STRING), der(SEQUENCE), der(SEQUENCE)],
  );
  const lists = der(SEQUENCE, der(SEQUENCE, der(0xa0, der(0xa0, der(0x86, utf8ToBytes(crlUrl))))));
  const leaf = certificate('leaf', der(SEQUENCE, P256, bits(point)), root.privateKey, [
    der(SEQUENCE, oid('2b06010401d679020111'), der(OCTET_STRING, description)),
    der(SEQUENCE, oid('551d1f'), der(OCTET_STRING, lists)),
  ]);
  const rootSpki = new Uint8Array(root.publicKey.export({ type: 'spki', format: 'der' }));
  const own = certificate('root', rootSpki, root.privateKey);
  const bytes = (value: Uint8Array): Uint8Array =>
    concatBytes(Uint8Array.of(0x59, value.length >> 8, value.length & 0xff), value);
  const key = (name: string): Uint8Array => concatBytes(Uint8Array.of(0x60 + name.length), utf8ToBytes(name));
  // CBOR: {"alg": -7, "sig": bytes, "x5c": [leaf, own]}
  const members = [
    key('alg'),
    Uint8Array.of(0x26),
    key('sig'),
    bytes(new Uint8Array(70)),
    key('x5c'),
    Uint8Array.of(0x82),
  ];
  return concatBytes(Uint8Array.of(0xa3), ...members, bytes(leaf), bytes(own));
}

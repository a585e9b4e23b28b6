import { canonicalJson } from '../../../policy/contracts/canonical-json';
import { sha256HexOfText } from '../../../policy/contracts/hash';
import type { InboxTrust } from '../api';

/** First 16 digits of the SHA-256 of the keys, in groups of four. */
export function trustFingerprint({ operators, committers }: InboxTrust): string {
  // A key without a time as it is: browsers remember fingerprints of keys that could not have one.
  const texts = operators.map((key) => (typeof key === 'string' ? key : canonicalJson(key)));
  const sha = sha256HexOfText(canonicalJson({ operators: texts.sort(), committers: [...committers].sort() }));
  return (sha.slice(0, 16).match(/.{4}/g) ?? []).join(' ');
}

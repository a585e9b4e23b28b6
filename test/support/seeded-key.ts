import { createHash, createPrivateKey } from 'node:crypto';
import { signingKey, type SigningKey } from '../../signing/keys';

const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');

const made = new Map<string, SigningKey>();

/** Deterministic Ed25519 key for a name, for the published vectors only: anyone can derive it. */
export function seededKey(name: string): SigningKey {
  const known = made.get(name);
  if (known !== undefined) return known;
  const seed = createHash('sha256').update(`countersign test vector key: ${name}`).digest();
  const der = Buffer.concat([PKCS8_PREFIX, seed]);
  const key = Object.freeze(signingKey(createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })));
  made.set(name, key);
  return key;
}

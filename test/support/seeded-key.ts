import { createHash, createPrivateKey } from 'node:crypto';
import { signingKey, type SigningKey } from '../../signing/keys';

const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');

/** Deterministic Ed25519 key for a name, for the published vectors only: anyone can derive it. */
export function seededKey(name: string): SigningKey {
  const seed = createHash('sha256').update(`countersign test vector key: ${name}`).digest();
  return signingKey(createPrivateKey({ key: Buffer.concat([PKCS8_PREFIX, seed]), format: 'der', type: 'pkcs8' }));
}

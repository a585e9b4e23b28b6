import { createHash, createPrivateKey } from 'node:crypto';
import { signingKey, type SigningKey } from '../../signing/keys';

const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');

/** The same Ed25519 key for the same name, everywhere: for published vectors. Good for nothing else: everybody has it. */
export function seededKey(name: string): SigningKey {
  const seed = createHash('sha256').update(`countersign test vector key: ${name}`).digest();
  return signingKey(createPrivateKey({ key: Buffer.concat([PKCS8_PREFIX, seed]), format: 'der', type: 'pkcs8' }));
}

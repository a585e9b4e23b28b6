import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';

const ITERATIONS = 4096;

/**
 * SCRAM verifier in PostgreSQL's format (RFC 5803), so that the plain password does not appear in the server's log or statistics. Only
 * printable ASCII is allowed, because other characters need SASLprep.
 */
export function scramVerifier(password: string): string {
  if (!/^[\x20-\x7e]{8,200}$/.test(password))
    throw new TypeError('Password of a target role: expected 8 to 200 printable ASCII characters');
  const salt = randomBytes(16);
  const salted = pbkdf2Sync(password, salt, ITERATIONS, 32, 'sha256');
  const hmac = (text: string): Buffer => createHmac('sha256', salted).update(text).digest();
  const stored = createHash('sha256').update(hmac('Client Key')).digest('base64');
  return `SCRAM-SHA-256$${ITERATIONS}:${salt.toString('base64')}$${stored}:${hmac('Server Key').toString('base64')}`;
}

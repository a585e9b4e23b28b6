import { generateKeyPairSync } from 'node:crypto';
import { createRedactor } from '../../../../policy/judge/redact';
import { scanText } from '../../../../policy/rules/secrets/scan';

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const ed25519 = generateKeyPairSync('ed25519');
const bodyOf = (pem: string | Buffer): string => pem.toString().trim().split('\n').slice(1, -1).join('\n');
const pkcs8 = { type: 'pkcs8', format: 'pem' } as const;
const spki = { type: 'spki', format: 'pem' } as const;
const jwk = { format: 'jwk' } as const;
const indented = (text: string): string => text.replace(/^/gm, '    ');
const added = (text: string): string => text.replace(/^/gm, '+');
const openSsh = `${['b3BlbnNzaC1r', 'ZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZW'].join('')}\nQyNTUxOQAAACDq7Rk2ZpX9vLm4Tc8Ws1Yb6Nd3Hf5Gj0`;
const putty = `PuTTY-User-Key-File-3: ssh-ed25519\nPublic-Lines: 1\nAAAAC3NzaC1lZDI1NTE5\nPrivate-Lines: 1\nAAAAIHq7Rk2ZpX9vLm4Tc8Ws1Yb6Nd3Hf5Gj0\n`;

describe('a private key without PEM markers', () => {
  it.each([
    ['RSA in PKCS #8', bodyOf(rsa.privateKey.export(pkcs8))],
    ['RSA in PKCS #1', bodyOf(rsa.privateKey.export({ type: 'pkcs1', format: 'pem' }))],
    ['an elliptic curve in PKCS #8', bodyOf(ec.privateKey.export(pkcs8))],
    ['an elliptic curve in SEC 1', bodyOf(ec.privateKey.export({ type: 'sec1', format: 'pem' }))],
    ['Ed25519', bodyOf(ed25519.privateKey.export(pkcs8))],
    ['a key of OpenSSH', openSsh],
    ['a key of PuTTY', putty],
    ['an RSA key as JSON Web Key', JSON.stringify(rsa.privateKey.export(jwk))],
    ['an elliptic curve as JSON Web Key', JSON.stringify(ec.privateKey.export(jwk), null, 2)],
    ['Ed25519 as JSON Web Key in a string', JSON.stringify({ key: JSON.stringify(ed25519.privateKey.export(jwk)) })],
    ['a symmetric JSON Web Key', '{"kty":"oct","k":"q7Rk2ZpX9vLm4Tc8Ws1Yb6Nd3Hf5Gj0q7Rk2ZpX9vLm4"}'],
  ])('is found: %s', (_, text) => {
    for (const staged of [text, indented(text), added(text)])
      expect(scanText(staged).found.private_key).toHaveLength(1);
  });

  it.each([
    ['a public RSA key', rsa.publicKey.export(spki).toString()],
    ['a public key of an elliptic curve', bodyOf(ec.publicKey.export(spki))],
    ['a public JSON Web Key', JSON.stringify(rsa.publicKey.export(jwk))],
    ['the start of a certificate', 'MIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBaMQswCQYDVQQGEwJJ'],
    ['the start of a certificate request', 'MIICijCCAXICAQAwRTELMAkGA1UEBhMCQVUxEzARBgNVBAgMClNvbWUtU3RhdGUx'],
    ['a public SSH key', 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl'],
  ])('is not %s', (_, text) => {
    expect(scanText(text).found.private_key).toEqual([]);
  });

  it('does not reach the judge, neither its first nor its last line', () => {
    const body = bodyOf(rsa.privateKey.export(pkcs8));
    const shown = createRedactor().redact(added(body));
    for (const line of body.split('\n')) expect(shown).not.toContain(line);
    const { d = '' } = ec.privateKey.export(jwk);
    expect(createRedactor().redact(JSON.stringify({ kty: 'EC', d }))).not.toContain(d.slice(0, 16));
  });
});

import type { KeyRight } from '../../policy/evidence/predicates';
import { ed25519 } from '@noble/curves/ed25519.js';
import { generateKeyPairSync } from 'node:crypto';
import fs, { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { publicKeyProblem } from '../../signing/curve-points';
import { readKeyFile, writeKeyFile, type WriteKeyFile } from '../../signing/key-file';
import { assertPublicKey, keyIdOf } from '../../signing/key-id';
import { newKeyPair } from '../../signing/keys';
import { newNonce } from '../../signing/nonce';
import { signKeyEntry } from '../../signing/registry-entry';

/** All encodings of the eight points of small order that some implementation accepts (y, with either sign bit). */
const SMALL_ORDER = [
  '0100000000000000000000000000000000000000000000000000000000000000',
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0000000000000000000000000000000000000000000000000000000000000080',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa',
];
const NOT_CANONICAL = [
  '0100000000000000000000000000000000000000000000000000000000000080',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff',
  'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff',
];

describe('a public key', () => {
  it.each(SMALL_ORDER)('of small order is refused at registration: %s', (hex) => {
    expect(publicKeyProblem(Buffer.from(hex, 'hex'))).toMatch(/small order/);
    const entry = {
      publicKey: hex,
      addedAt: '2026-01-02T03:04:05.000Z',
      kind: 'approver',
      subject: { type: 'person', id: 'x' },
      onBehalfOf: null,
      demo: false,
    } as const;

    expect(() => signKeyEntry({ ...entry, tenants: [], rights: [] }, newKeyPair())).toThrow('small order');
  });

  it.each(NOT_CANONICAL)('with a non-canonical encoding is refused: %s', (hex) => {
    expect(publicKeyProblem(Buffer.from(hex, 'hex'))).not.toBeNull();
  });

  it('with y not reduced modulo p is refused, for each of the 19 values and both signs', () => {
    for (let low = 0xed; low <= 0xff; low++) {
      for (const high of [0x7f, 0xff]) {
        const bytes = Buffer.alloc(32, 0xff);
        bytes[0] = low;
        bytes[31] = high;
        expect(publicKeyProblem(bytes)).toBe('not the canonical encoding of a point on the curve');
      }
    }
  });

  it('of another length than 32 bytes is refused', () => {
    for (const length of [0, 31, 33, 64])
      expect(publicKeyProblem(Buffer.alloc(length, 1))).toMatch('expected 32 bytes');
  });

  it('of small order is refused for each multiple of a generator of the 8-torsion', () => {
    const eight = ed25519.Point.fromHex('c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a');
    let point = eight;
    const encodings = new Set<string>();
    for (let i = 0; i < 8; i++, point = point.add(eight)) {
      encodings.add(point.toHex());
      expect(publicKeyProblem(point.toBytes())).toMatch('small order');
    }
    expect([...encodings].sort()).toEqual([...SMALL_ORDER].sort());
  });

  it('that is not a point on the curve is refused, which are half of all 32-byte values', () => {
    const refused = Array.from({ length: 200 }, (_, i) => Buffer.alloc(32, i + 1).fill(i * 7, 5, 9)).filter(
      (b) => publicKeyProblem(b) !== null,
    );
    expect(refused.length).toBeGreaterThan(50);
    expect(refused.length).toBeLessThan(150);
  });

  it('of a new pair is accepted, and its id only depends on the key', () => {
    for (let i = 0; i < 20; i++) {
      const key = newKeyPair();
      expect(() => assertPublicKey(key.publicKey)).not.toThrow();
      expect(key.keyId).toBe(keyIdOf(key.publicKey));
    }
    expect(() => assertPublicKey('AB')).toThrow('64 lower-case hex');
    expect(newNonce()).not.toBe(newNonce());
  });
});

it('refuses a registry entry for an approver that is not a person, and onBehalfOf for a key that is not a service key', () => {
  const { publicKey } = newKeyPair();
  const base = {
    publicKey,
    addedAt: '2026-01-02T03:04:05.000Z',
    demo: false,
    onBehalfOf: null,
    tenants: ['acme'],
    rights: [],
  };
  expect(() =>
    signKeyEntry({ ...base, kind: 'approver', subject: { type: 'agent', id: 'bot' } }, newKeyPair()),
  ).toThrow('person');
  expect(() =>
    signKeyEntry({ ...base, kind: 'approver', subject: { type: 'person', id: 'x' }, onBehalfOf: 'y' }, newKeyPair()),
  ).toThrow('onBehalfOf');
});

it('refuses a registry entry with a right that the kind cannot have, a right without a tenant, or another spelling of a person', () => {
  const person = { type: 'person', id: 'alice' } as const;
  const entry = { publicKey: newKeyPair().publicKey, addedAt: '2026-01-02T03:04:05.000Z', demo: false } as const;
  const approver = { ...entry, kind: 'approver', subject: person, onBehalfOf: null } as const;
  const service = { ...entry, kind: 'service', subject: { type: 'agent', id: 'bot' } } as const;
  const operator = newKeyPair();
  const grant = (rights: KeyRight[], tenants = ['acme']) => ({ rights, tenants });
  expect(() => signKeyEntry({ ...approver, ...grant(['submit']) }, operator)).toThrow('cannot have the right "submit"');
  expect(() => signKeyEntry({ ...service, onBehalfOf: 'alice', ...grant(['answer']) }, operator)).toThrow('answer');
  expect(() => signKeyEntry({ ...approver, ...grant(['answer'], []) }, operator)).toThrow('neither');
  for (const onBehalfOf of ['person:alice', 'Alice', 'alice ', 'аlice', ''])
    expect(() => signKeyEntry({ ...service, onBehalfOf, ...grant(['submit']) }, operator)).toThrow();
  expect(() => signKeyEntry({ ...service, onBehalfOf: 'alice', ...grant(['submit']) }, operator)).not.toThrow();
});

describe('a key file', () => {
  let dir: string;
  let path: string;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'countersign-keys-'));
    path = join(dir, 'dana.key.json');
  });
  afterEach(() => rmSync(dir, { recursive: true }));

  const key = newKeyPair();
  const write = (more: Partial<WriteKeyFile> = {}): void =>
    writeKeyFile({
      path,
      key,
      createdAt: '2026-01-02T03:04:05.000Z',
      label: { kind: 'approver', subject: { type: 'person', id: 'dana' }, onBehalfOf: null, demo: true },
      ...more,
    });

  it('is read as it was written, with mode 600 and the label demo', () => {
    write();
    const { privateKey, ...rest } = readKeyFile(path);
    expect(rest).toMatchObject({
      keyId: key.keyId,
      publicKey: key.publicKey,
      kind: 'approver',
      subject: { type: 'person', id: 'dana' },
      demo: true,
    });
    expect(privateKey.export({ format: 'jwk' })).toEqual(key.privateKey.export({ format: 'jwk' }));
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it('is written whole or not at all: if the disk is full, nothing is left', () => {
    const { writeFileSync: written } = fs;
    const full = jest.spyOn(fs, 'writeFileSync').mockImplementation((file, text, options) => {
      written(file, String(text).slice(0, 100), options);
      throw new Error('ENOSPC: no space left on device');
    });
    expect(() => write()).toThrow('ENOSPC');
    full.mockRestore();
    expect(readdirSync(dir)).toEqual([]);
  });

  it('is kept if the machine fails after it was written: file and directory are flushed', () => {
    const flushed: boolean[] = [];
    const { fsyncSync: flush } = fs;
    const spy = jest.spyOn(fs, 'fsyncSync').mockImplementation((fd) => {
      flushed.push(fs.fstatSync(fd).isDirectory());
      flush(fd);
    });
    write();
    spy.mockRestore();
    expect(flushed).toEqual([false, true]);
  });

  it.each([
    ['EIO', true],
    ['EINVAL', false],
  ])('reports whether it may be lost: %s of its directory', (code, isReported) => {
    const { fsyncSync: flush } = fs;
    const spy = jest.spyOn(fs, 'fsyncSync').mockImplementation((fd) => {
      if (fs.fstatSync(fd).isDirectory()) throw Object.assign(new Error(code), { code });
      flush(fd);
    });
    if (isReported) expect(write).toThrow(code);
    else write();
    spy.mockRestore();
  });

  it('is written on a file system without hard links too, and never over another file', () => {
    const refusing = jest.spyOn(fs, 'linkSync').mockImplementation(() => {
      throw Object.assign(new Error('EPERM: operation not permitted, link'), { code: 'EPERM' });
    });
    try {
      write();
      expect(statSync(path).mode & 0o777).toBe(0o600);
      const before = readFileSync(path, 'utf8');
      expect(() => write()).toThrow(/exists/i);
      expect(readFileSync(path, 'utf8')).toBe(before);
      expect(readdirSync(dir)).toHaveLength(1);
    } finally {
      refusing.mockRestore();
    }
  });

  it('is encrypted with a passphrase, and can only be opened with it', () => {
    write({ passphrase: 'correct horse' });
    expect(readFileSync(path, 'utf8')).toContain('ENCRYPTED PRIVATE KEY');
    expect(readKeyFile(path, { passphrase: 'correct horse' }).keyId).toBe(key.keyId);
    expect(() => readKeyFile(path)).toThrow(/dana\.key\.json.*passphrase/);
    expect(() => readKeyFile(path, { passphrase: 'wrong horse' })).toThrow('passphrase is wrong');
    expect(() => write({ path: join(dir, 'b'), passphrase: 'short' })).toThrow('8 characters');
  });

  it('is never overwritten', () => {
    write();
    expect(() => write({ key: newKeyPair() })).toThrow('already exists');
    expect(readKeyFile(path).keyId).toBe(key.keyId);
  });

  it('that is a directory, or whose directory does not exist, is refused with its name', () => {
    expect(() => readKeyFile(dir)).toThrow(`Key file ${dir}: expected a file, got a directory`);
    const lost = join(dir, 'none', 'key');
    expect(() => write({ path: lost })).toThrow(`Key file ${lost}: its directory does not exist`);
  });

  it('that other users can read is refused with a hint', () => {
    write();
    chmodSync(path, 0o644);
    expect(() => readKeyFile(path)).toThrow(/644.*chmod 600/);
  });

  it('that is missing, broken, foreign or changed is refused with the reason', () => {
    expect(() => readKeyFile(path)).toThrow(/no such file.*keys new/);
    const put = (text: string): void => writeFileSync(path, text, { mode: 0o600 });
    put('not json');
    expect(() => readKeyFile(path)).toThrow('not JSON');
    put('{"operators":[],"committers":[]}');
    expect(() => readKeyFile(path)).toThrow('not a key file; expected one created by `countersign keys new`');
    put('{"format":"countersign-key/v2"}');
    expect(() => readKeyFile(path)).toThrow('format');
    rmSync(path);
    write();
    const file = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>;
    put(JSON.stringify({ ...file, publicKey: newKeyPair().publicKey }));
    expect(() => readKeyFile(path)).toThrow('does not match its public key');
    put(JSON.stringify({ ...file, privateKey: '-----BEGIN PRIVATE KEY-----\nx\n-----END PRIVATE KEY-----' }));
    expect(() => readKeyFile(path)).toThrow('cannot be read');
    const { privateKey: p256 } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    put(JSON.stringify({ ...file, privateKey: p256.export({ type: 'pkcs8', format: 'pem' }) }));
    expect(() => readKeyFile(path)).toThrow(/^Key file .*dana\.key\.json: .*expected an Ed25519 private key, got ec/);
    put('x'.repeat(70_000));
    expect(() => readKeyFile(path)).toThrow('64 KiB');
  });
});

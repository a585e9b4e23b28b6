import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readTrustFile } from '../../workers/config';
import { knownSettings, localClient, operatorClient } from '../../workers/local-client';

const STATE = { COUNTERSIGN_STATE_DIR: '/nowhere' };
const OPERATOR = { ...STATE, COUNTERSIGN_OPERATOR_DATABASE_URL: 'postgres://cs_operator@db/countersign' };

test('the database of the operator suffices for its commands, and its role is not used for those of the gateway', () => {
  expect(operatorClient(OPERATOR)).toEqual({
    operatorDatabaseUrl: OPERATOR.COUNTERSIGN_OPERATOR_DATABASE_URL,
    operators: [],
  });
  expect(() => localClient(OPERATOR)).toThrow('COUNTERSIGN_DATABASE_URL is not set');
  expect(() => operatorClient(STATE)).toThrow('COUNTERSIGN_OPERATOR_DATABASE_URL is not set');
  expect(operatorClient({ ...STATE, COUNTERSIGN_DATABASE_URL: 'postgres://db/x' }).operatorDatabaseUrl).toBe(
    'postgres://db/x',
  );
});

test('the address of Temporal has a default without a database', () => {
  expect(knownSettings(STATE)).toMatchObject({ temporalAddress: '127.0.0.1:7233', namespace: 'default' });
});

describe('a directory or file that is not what a command expects', () => {
  const dir = mkdtempSync(join(tmpdir(), 'countersign-local-'));
  afterAll(() => rmSync(dir, { recursive: true }));

  test('without servers is named, with the reason if it cannot be read', () => {
    expect(() => localClient({ COUNTERSIGN_STATE_DIR: dir })).toThrow(`no server was started in ${dir}, and`);
    const file = join(dir, 'file');
    writeFileSync(file, '');
    expect(() => localClient({ COUNTERSIGN_STATE_DIR: file })).toThrow(/file cannot be read: .*ENOTDIR/);
  });

  test.each([
    ['a key file', '{"keyId":"1","privateKey":"2"}', 'operators: '],
    ['a list', '[]', 'expected object'],
    ['no JSON', 'x', 'JSON'],
  ])('as a trust file is refused with what was expected: %s', (_name, text, problem) => {
    const file = join(dir, 'trust.json');
    writeFileSync(file, text);
    const read = () => readTrustFile(file);
    expect(read).toThrow(`${file}: expected {"operators": [public keys], "committers": [public keys]}: `);
    expect(read).toThrow(problem);
    expect(read).not.toThrow(': :');
  });
});

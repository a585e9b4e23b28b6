import { enrollPerson, registerKey, revokeKey } from '../../cli/keys/registry';
import { writeKeyFile } from '../../signing/key-file';
import { newKeyPair } from '../../signing/keys';
import { fullGrant } from '../../signing/registry-entry';
import { hex } from '../client/fakes';
import { temporaryFolder } from './run-command';

const { path } = temporaryFolder();
const person = { type: 'person', id: 'alice' } as const;
const holder = { kind: 'approver', subject: person, onBehalfOf: null, ...fullGrant('approver', ['acme']) } as const;
const link = { person: 'bob', tenants: ['acme'], publicUrl: 'http://localhost:8077', validMs: 1000 };

it('refuses a key of another kind in place of an operator key before it connects to the database', async () => {
  const label = { kind: 'approver', subject: person, onBehalfOf: null, demo: false } as const;
  const alice = path('alice.key.json');
  writeKeyFile({ path: alice, key: newKeyPair(), label, createdAt: '2026-11-20T10:00:00.000Z' });
  for (const ask of [
    () => registerKey({}, holder, newKeyPair().publicKey, alice),
    () => revokeKey({}, hex('a'), 'lost', alice),
    () => enrollPerson({}, link, alice),
  ])
    await expect(ask()).rejects.toMatchObject({
      code: 'not_eligible',
      message: '--operator-key: expected an operator key, got a key of kind approver',
    });
});

it('says where the public key is if it is given another value, such as a key id', async () => {
  const ask = registerKey({}, holder, 'f'.repeat(64), path('op.json'));
  await expect(ask).rejects.toThrow('"countersign keys new" prints key id, public key and file');
});

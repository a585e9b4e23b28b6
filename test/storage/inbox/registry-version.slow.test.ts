import { registryVersion } from '../../../storage/inbox/registry-version';
import { useDatabase } from '../../support/postgres';

const database = useDatabase();
beforeAll(() => database.open('admin').query(`insert into enrollments (key_id, envelope) values ('link', '{}')`));

it.each([
  ['a key', `insert into keys (key_id, envelope) values ('key', '{}')`],
  ['a passkey', `insert into passkeys (enrollment, key_id, envelope) values ('link', 'passkey', '{}')`],
  ['a revocation of a key', `insert into key_revocations (key_id, envelope) values ('key', '{}')`],
  ['a revision of the policy', `insert into policy_revisions (revision, bundle_sha, source) values (1, 'sha', 'text')`],
  ['a revocation of a revision', `insert into policy_revocations (envelope) values ('{}')`],
])('the version of the registry changes when %s is added', async (_what, insert) => {
  const gateway = database.open('cs_gateway');
  const before = await registryVersion(gateway);
  await database.open('admin').query(insert);
  expect(await registryVersion(gateway)).not.toBe(before);
});

import { keyEnvelopes } from '../../../storage/keys/key-envelopes';
import { startTestPostgres, type TestDatabase, type TestPostgres } from '../../support/postgres';

let postgres: TestPostgres;
let database: TestDatabase;
beforeAll(async () => {
  postgres = await startTestPostgres();
  database = await postgres.database();
}, 60_000);
afterAll(() => postgres.stop());

it('reads the signed entries of keys unchanged, and omits unknown ids', async () => {
  const operator = database.open('cs_operator');
  const [entry, revocation] = [{ e: 1 }, { r: 1 }];
  await operator.query('insert into keys (key_id, envelope) values ($1, $2), ($3, $2)', [
    'a',
    JSON.stringify(entry),
    'b',
  ]);
  await operator.query('insert into key_revocations (key_id, envelope) values ($1, $2)', [
    'b',
    JSON.stringify(revocation),
  ]);
  const read = await keyEnvelopes(database.open('cs_gateway'), []).envelopesOf(['b', 'a', 'c']);
  expect([...read].sort((x, y) => (x.keyId < y.keyId ? -1 : 1))).toEqual([
    { keyId: 'a', registration: { entry, revocation: null } },
    { keyId: 'b', registration: { entry, revocation } },
  ]);
});

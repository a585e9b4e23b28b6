import { createDatabase } from '../../../storage/database/create-database';
import { startTestPostgres, type TestPostgres } from '../../support/postgres';
import { uniqueDatabase } from '../../support/test-server';

let postgres: TestPostgres;
beforeAll(async () => {
  postgres = await startTestPostgres();
});
afterAll(() => postgres.stop());

it('creates the database that a URL names, also if two processes do it at once or its name has a quote', async () => {
  const url = new URL(postgres.server.superuserUrl('postgres'));
  url.pathname = `/${encodeURIComponent(uniqueDatabase('a"b'))}`;
  const created = await Promise.all([createDatabase(url.href), createDatabase(url.href)]);
  expect(created).toContain(true);
  expect(await createDatabase(url.href)).toBe(false);
});

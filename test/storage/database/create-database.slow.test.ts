import { createDatabase } from '../../../storage/database/create-database';
import { usePostgres } from '../../support/postgres';
import { uniqueDatabase } from '../../support/test-server';

const postgres = usePostgres();

it('creates the database that a URL names, also if two processes do it at once or its name has a quote', async () => {
  const url = new URL(postgres.server.superuserUrl('postgres'));
  url.pathname = `/${encodeURIComponent(uniqueDatabase('a"b'))}`;
  const created = await Promise.all([createDatabase(url.href), createDatabase(url.href)]);
  expect(created).toContain(true);
  expect(await createDatabase(url.href)).toBe(false);
});

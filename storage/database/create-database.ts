import { escapeIdentifier } from 'pg';
import { withDatabase } from './database';

const NO_SUCH_DATABASE = '3D000';
const ALREADY_EXISTS = ['42P04', '23505'];

/** Creates the database of the URL if the server does not have it. True if it was created. */
export async function createDatabase(databaseUrl: string): Promise<boolean> {
  // The server copies a template, and may wait for a checkpoint.
  const options = { applicationName: 'countersign-create-database', max: 1, statementTimeoutMs: 60_000 };
  try {
    await withDatabase({ ...options, url: databaseUrl }, (db) => db.query('select 1'));
    return false;
  } catch (error) {
    if ((error as { code?: string }).code !== NO_SUCH_DATABASE) throw error;
  }
  const url = new URL(databaseUrl);
  const name = decodeURIComponent(url.pathname.slice(1));
  url.pathname = '/postgres';
  try {
    await withDatabase({ ...options, url: url.href }, (server) =>
      server.query(`create database ${escapeIdentifier(name)}`),
    );
    return true;
  } catch (error) {
    // Another process created it at the same time.
    if (ALREADY_EXISTS.includes((error as { code?: string }).code ?? '')) return false;
    throw error;
  }
}

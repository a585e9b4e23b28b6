import { z } from 'zod';
import { shown } from '../../../policy/text/shown-name';
import { defineSqlRule } from './define-sql-rule';
import type { ServerExecutionFact } from '../facts/sql-facts';

const DESCRIPTIONS: Readonly<Record<ServerExecutionFact['what'], string>> = {
  copy_program: 'COPY … PROGRAM runs a command on the server',
  copy_file: 'COPY reads or writes a file of the server',
  load: 'the server loads a library',
  extension: 'an extension',
  language: 'a function in an untrusted language',
  alter_system: 'ALTER SYSTEM changes the configuration of the server',
  subscription: 'a subscription pulls data from another server',
  foreign_server: 'a foreign server',
  foreign_table: 'a foreign table, which can read files, run commands or connect to another server',
  import_foreign_schema: 'IMPORT FOREIGN SCHEMA',
  user_mapping: 'credentials for a foreign server',
  foreign_data_wrapper: 'a foreign data wrapper',
  event_trigger: 'an event trigger runs on commands of other sessions',
  tablespace: 'a tablespace uses a directory of the server',
};

export const serverSideExecution = defineSqlRule({
  name: 'sql_server_side_execution',
  logicRevision: 5,
  defaultLevel: 'forbid',
  why: 'The text uses commands, files, libraries or network connections of the database server.',
  config: z.strictObject({
    allowedExtensions: z
      .array(z.string().min(1).max(63))
      .max(200)
      .default([])
      .describe('Extensions that CREATE EXTENSION may install.'),
  }),
  examples: { bad: "COPY (SELECT 1) TO PROGRAM 'sh'", good: "COPY (SELECT 'COPY t TO PROGRAM') TO STDOUT" },
  find: ({ serverExecution }, { allowedExtensions }) =>
    serverExecution
      .filter((s) => s.what !== 'extension' || !allowedExtensions.includes(s.subject))
      .map((s) => ({
        at: s,
        what: s.subject === '' ? DESCRIPTIONS[s.what] : `${DESCRIPTIONS[s.what]}: ${shown(s.subject)}`,
      })),
});

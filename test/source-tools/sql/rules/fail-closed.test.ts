import { ValidatorResult } from '../../../../policy/contracts/finding';
import { sqlPostgresPack, sqlPostgresStylePack } from './support/packs';
import { inputFor, run } from './support/run-rule';
import { stagingRecord } from '../../../../dev/staging-record';

const rules = [...sqlPostgresPack, ...sqlPostgresStylePack];
const readers = rules.filter((d) => d.reads.includes('facts') && d.implementation !== 'sql_parse_failure');
const names = readers.map((d) => d.implementation);

describe('a rule that reads facts but has none', () => {
  it('is the common case in the packs', () => {
    expect(names.length).toBeGreaterThan(50);
  });

  it.each(names)('gives an ERROR with the position, and never passes: %s [F3, T69]', async (name) => {
    const definition = readers.find((d) => d.implementation === name);
    const input = await inputFor('SELECT 1;\n SELEC 2', { config: definition?.config.parse({}) });
    const result = definition?.evaluate?.(input);
    expect(ValidatorResult.parse(result)).toMatchObject({
      status: 'BLOCK',
      errorClass: 'ErrVerdictParse',
      reasonCode: 'facts_unavailable',
      evidenceRefs: [`diff:${input.diff.diffSha}#L2:C2-L2:C7`],
    });
  });

  it.each(names)('gives an ERROR if the facts are of another kind: %s [F10]', async (name) => {
    const definition = readers.find((d) => d.implementation === name);
    const input = await inputFor('SELECT 1', { config: definition?.config.parse({}) });
    const facts = { ok: true as const, kind: 'git', parser: { name: 'x', version: '1' } };
    expect(definition?.evaluate?.({ ...input, facts })).toMatchObject({
      status: 'BLOCK',
      errorClass: 'ErrUnknownDiffType',
    });
  });
});

it.each(['sql_affected_rows', 'sql_affected_rows_limit'])(
  '%s gives an ERROR without a staging record',
  async (name) => {
    expect(await run(name, 'SELECT 1')).toMatchObject({
      status: 'BLOCK',
      errorClass: 'ErrValidatorBackend',
      reasonCode: 'staging_missing',
    });
    expect(await run(name, 'SELECT 1', { staging: stagingRecord() })).toMatchObject({ status: 'ALLOW' });
  },
);

it('shows at most 50 positions as evidence and counts the rest', async () => {
  const result = await run('sql_delete_without_where', 'DELETE FROM t;'.repeat(60));
  expect(result.evidenceRefs).toHaveLength(50);
  expect(result.details).toMatchObject({ evidenceTotal: 60 });
  expect(result.reason).toMatch(/and 57 more$/);
});

it('escapes hostile names, so that they cannot change how the reason is displayed', async () => {
  const result = await run('sql_drop', 'DROP TABLE "a\u202egnp\u0007.exe""b"');
  expect(result.reason).toContain('"a\\u{202e}gnp\\u{7}.exe""b"');
});

it('never shows values in reasons and details, because they may be secrets [P12]', async () => {
  const secret = 'hunter2hunter2';
  const text = `SET ROLE x; SET standard_conforming_strings = '${secret}'; SELECT set_config('a', '${secret}', true); CREATE USER MAPPING FOR a SERVER s OPTIONS (password '${secret}'); ALTER ROLE a PASSWORD '${secret}'; COPY t TO PROGRAM '${secret}'; DO $$ BEGIN EXECUTE 'SELECT ' || f('${secret}'); END $$; UPDATE t SET a = '${secret}'`;
  for (const definition of rules.filter((d) => !d.reads.includes('staging'))) {
    const result = await run(definition.implementation, text);
    expect(JSON.stringify(result)).not.toContain(secret);
  }
  expect(JSON.stringify(await run('sql_parse_failure', `SELECT FROM WHERE '${secret}'`))).not.toContain(secret);
});

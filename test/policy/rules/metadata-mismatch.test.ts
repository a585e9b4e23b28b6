import type { Metadata } from '../../../policy/contracts/diff';
import type { StagingRecord } from '../../../policy/contracts/staging-record';
import type { RuleOutcome } from '../../../policy/rules/define';
import { baseUnverifiable } from '../../../policy/rules/base-unverifiable';
import { metadataMismatch } from '../../../policy/rules/metadata-mismatch';
import { inputFor, updatedRows } from '../../source-tools/sql/rules/support/run-rule';
import { stagingRecord } from '../../../dev/staging-record';

async function outcome(sql: string, metadata: Metadata, staging?: StagingRecord): Promise<RuleOutcome> {
  return metadataMismatch(await inputFor(sql, { metadata, ...(staging === undefined ? {} : { staging }) }));
}

const update = 'UPDATE orders SET paid = true WHERE id < 10';

describe('metadataMismatch', () => {
  it('does not fire without a claim, even if the diff cannot be parsed [F11]', async () => {
    expect((await outcome(update, {})).fires).toBe(false);
    expect((await outcome('not SQL', { tenant: 'x', affected_rows: null })).fires).toBe(false);
  });

  it.each([
    ['a correct claim', 9, 'orders', false],
    ['a table with its schema', 9, 'public.orders', false],
    ['a table in upper case', 9, 'ORDERS', false],
    ['fewer rows than were touched', 8, 'orders', true],
    ['more rows than were touched', 10, 'orders', true],
    ['another table', 9, 'customers', true],
    ['a table of that name in another schema', 9, 'audit.orders', true],
    ['rows as a string', '9', 'orders', true],
    ['a fraction of a row', 8.5, 'orders', true],
    ['a table that is not a string', 9, { name: 'orders' }, true],
  ] as const)('compares with the dry run: %s', async (_what, rows, table, fires) => {
    const found = await outcome(
      update,
      { affected_rows: rows, table_name: table as string },
      updatedRows('public.orders', 9),
    );
    expect(found.fires).toBe(fires);
  });

  it('has evidence for the claim and for what contradicts it', async () => {
    const staging = updatedRows('public.orders', 9);
    const found = await outcome(update, { affected_rows: 1 }, staging);
    expect(found).toMatchObject({
      fires: true,
      reasonCode: 'metadata_mismatch',
      details: { claims: ['affected_rows'] },
    });
    expect(found.fires && found.evidence).toEqual([
      expect.stringMatching(/^metadata:[0-9a-f]{64}#\/affected_rows$/),
      expect.stringMatching(/^staging:[0-9a-f]{64}#\/tables$/),
    ]);
  });

  it('accepts a count with or without the rows that triggers touched', async () => {
    const staging = stagingRecord({
      tables: [
        {
          table: 'public.orders',
          inserted: 0,
          updated: 9,
          deleted: 0,
          touchedSha: null,
          keyed: true,
          volatileColumns: [],
        },
      ],
      sideEffects: [{ table: 'public.audit', inserted: 9, updated: 0, deleted: 0 }],
    });
    expect((await outcome(update, { affected_rows: 9 }, staging)).fires).toBe(false);
    expect((await outcome(update, { affected_rows: 18 }, staging)).fires).toBe(false);
    expect((await outcome(update, { affected_rows: 10 }, staging)).fires).toBe(true);
  });

  it.each([
    ['the table that it writes', update, 'orders', false],
    ['a table that it only reads', 'UPDATE orders SET a = 1 FROM customers', 'customers', true],
    ['one of two that it writes', 'UPDATE orders SET a = 1; DELETE FROM customers', 'orders', true],
    [
      'a table hidden in a CTE',
      'WITH x AS (DELETE FROM customers RETURNING 1) UPDATE orders SET a = 1',
      'orders',
      true,
    ],
    ['the table that it reads, if it writes none', 'SELECT 1 FROM orders', 'orders', false],
    ['a table that it does not name', 'SELECT 1 FROM orders', 'customers', true],
    ['a table of another schema', 'DELETE FROM audit.orders', 'orders', true],
  ])('compares the claimed table with the text alone: %s', async (_what, sql, table, fires) => {
    expect((await outcome(sql, { table_name: table })).fires).toBe(fires);
  });

  it('compares the claimed rows with the text if the text determines their number', async () => {
    const insert = 'INSERT INTO orders (id) VALUES (1), (2)';
    expect((await outcome(insert, { affected_rows: 2 })).fires).toBe(false);
    expect((await outcome(insert, { affected_rows: 1 })).fires).toBe(true);
    expect((await outcome(update, { affected_rows: 1 })).fires).toBe(false);
  });

  it('gives an ERROR for a claim about text that cannot be parsed', async () => {
    expect(await outcome('SELEC 1', { affected_rows: 1 })).toMatchObject({
      fires: true,
      errorClass: 'ErrVerdictParse',
      reasonCode: 'facts_unavailable',
    });
  });
});

describe('baseUnverifiable', () => {
  it('fires exactly if the dry run could not capture everything it touched', async () => {
    const partly = await inputFor(update, {
      staging: stagingRecord({ fullyCaptured: false, uncaptured: ['orders has no key'] }),
    });
    expect(baseUnverifiable(partly)).toMatchObject({
      fires: true,
      reasonCode: 'base_unverifiable',
      evidence: [`staging:${partly.staging?.sha}#/uncaptured`],
    });
    expect(baseUnverifiable(await inputFor(update, { staging: stagingRecord() }))).toEqual({ fires: false });
  });

  it('gives an ERROR without a staging record', async () => {
    expect(baseUnverifiable(await inputFor(update))).toMatchObject({ fires: true, errorClass: 'ErrValidatorBackend' });
  });
});

import { createPrinter } from '../../cli/printer';
import { printStaging } from '../../cli/reviews/staging-view';
import type { JsonObject } from '../../policy/contracts/canonical-json';
import { stagingRecord, updatedTable } from '../../dev/staging-record';
import { hex } from '../client/fakes';

const UNSAFE = '\u001b[2J\u202e\n  9. delete';

function printed(change: Parameters<typeof stagingRecord>[0], preview: JsonObject | null = null): string {
  let text = '';
  const printer = createPrinter({ write: (part) => (text += part) }, false);
  printStaging(printer, { staging: stagingRecord(change), preview });
  return text;
}

const rows = (...all: object[]): JsonObject =>
  ({ tables: [{ table: 'public.orders', total: 57, rows: all }], moreTables: 2 }) as unknown as JsonObject;

it('prints the columns that are not compared, and why', () => {
  const text = printed({
    tables: [updatedTable('public.orders', 57, hex('1'))],
    notCompared: [{ table: 'public.orders', column: 'updated_at', why: 'the value differs between two dry runs' }],
  });
  expect(text).toContain('public.orders: 0 inserted, 57 updated, 0 deleted');
  expect(text).toContain('not compared: the commit may write other values');
  expect(text).toContain('public.orders.updated_at: the value differs between two dry runs');
});

it('says that a change was not rehearsed, and why', () => {
  const text = printed({ reason: 'not_rehearsed', fullyCaptured: false, uncaptured: ['calls pg_sleep'] });
  expect(text).toContain('not rehearsed: nothing was executed. The change first executes in the commit');
  expect(text).toContain('calls pg_sleep');
});

it('prints rows before → after with the changed cells, and what identifies the row', () => {
  const preview = rows(
    { before: { id: '7', note: 'a → b', at: 'x' }, after: { id: '7', note: null, at: { notCompared: 'a clock' } } },
    { before: null, after: { id: '8' } },
    { before: { id: '9' }, after: null },
  );
  const text = printed({ previewSha: hex('7') }, preview);
  expect(text).toContain('public.orders: 3 of 57 rows');
  expect(text).toContain('1. update  id: "7"  note: "a → b" → null  at: "x" → not compared\n');
  expect(text).toContain('2. insert  id: "8"\n');
  expect(text).toContain('3. delete  id: "9"\n');
  expect(text).toContain('and 2 more tables');
});

it('prints the key of a row before what changes, wherever it is in the preview', () => {
  const before = { bio: 'b', email: 'e', id: '7', note: 'old' };
  const text = printed({ previewSha: hex('7') }, rows({ before, after: { ...before, note: 'new' } }));
  expect(text).toContain('1. update  id: "7"  note: "old" → "new"  bio: "b"  email: "e"\n');
});

it('prints a value that has more members than one that is not compared', () => {
  const value = (amount: number): object => ({ notCompared: 'a clock', amount });
  const preview = rows({ before: { id: '7', at: value(1) }, after: { id: '7', at: value(2) } });
  expect(printed({ previewSha: hex('7') }, preview)).toContain('"amount":1} → {"notCompared":"a clock","amount":2}');
});

it('prints at most 20 rows', () => {
  const many = Array.from({ length: 30 }, (_, i) => ({ before: null, after: { id: String(i) } }));
  const text = printed({ previewSha: hex('7') }, rows(...many));
  expect(text.match(/\d+\. insert/g)).toHaveLength(20);
  expect(text).not.toContain('--all');
});

it('says that rows were not sent instead of printing none', () => {
  expect(printed({ previewSha: hex('7') })).toContain('do not confirm what you cannot see');
});

it('prints the preview of another tool as JSON', () => {
  expect(printed({ previewSha: hex('7') }, { paths: ['a.txt'] })).toContain('"a.txt"');
});

it('lets no table, column, reason or value control the terminal or imitate a line', () => {
  const cells = JSON.parse(JSON.stringify({ [UNSAFE]: UNSAFE, ['__proto__x']: UNSAFE })) as object;
  const text = printed(
    {
      previewSha: hex('7'),
      tables: [updatedTable(UNSAFE, 1, hex('1'))],
      uncaptured: [UNSAFE],
      notCompared: [{ table: UNSAFE, column: UNSAFE, why: UNSAFE }],
    },
    { tables: [{ table: UNSAFE, total: 1, rows: [{ before: null, after: cells as JsonObject }] }], moreTables: 0 },
  );
  // oxlint-disable-next-line no-control-regex
  expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
  expect(text).not.toMatch(/^ {2,4}9\. delete/m);
});

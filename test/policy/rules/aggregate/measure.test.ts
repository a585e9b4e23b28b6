import type { Metadata } from '../../../../policy/contracts/diff';
import { sha256Hex } from '../../../../policy/contracts/hash';
import { MAX_PLACES, Measure, measureOf, stagedMeasureOf } from '../../../../policy/rules/aggregate/measure';
import { request } from '../../../../source-tools/http/rules/define-http-rule';
import { extensionsOf } from '../../../../workers/extensions';
import { plainTool } from '../../../support/source-tools';
import { stagingRecord } from '../../../../dev/staging-record';

const { sourceTools } = extensionsOf();

/** Measures a diff with the extractor of its source tool. */
async function measure(sourceTool: string, text: string, metadata: Metadata = {}): Promise<Measure> {
  const raw = new TextEncoder().encode(text);
  const diff = { sourceTool, raw, diffSha: sha256Hex(raw), metadata };
  const tool = sourceTools.get(sourceTool);
  if (tool === undefined) throw new Error(`source tool ${sourceTool} does not exist`);
  return Measure.parse(measureOf(tool, diff, await tool.facts(diff)));
}

const sql = (text: string, metadata?: Metadata): Promise<Measure> => measure('SQLDryRun', text, metadata);
const rows = (n: number): Metadata => ({ affected_rows: n });

describe('SQL text', () => {
  test.each<[string, number, number, number]>([
    ['delete from a where id = 1', 1, 7, 1],
    ['delete from a where id = 1; delete from a where id = 2', 2, 7, 1],
    ['with gone as (delete from a returning id) delete from b where id in (select id from gone)', 2, 7, 2],
    ['do $$ begin delete from a where id = 1; delete from b where id = 2; end $$', 2, 7, 2],
    ['truncate a, b, c', 1, 7, 3],
    ['drop table a, b', 1, 2, 2],
    ['alter table a drop column b', 1, 1, 1],
    ['merge into a using b on a.id = b.id when matched then delete', 1, 7, 1],
    ['update a set x = 1 where id = 1', 1, 0, 1],
    ['insert into a (id) values (1)', 1, 0, 1],
  ])('%s: %d operations, %d deletions, %d places', async (text, operations, deletions, places) => {
    const measured = await sql(text, rows(7));
    expect({ ...measured, places: measured.places?.length }).toEqual({
      bytes: text.length,
      operations,
      deletions,
      rows: 7,
      places,
    });
  });

  test('a statement that only reads counts only its bytes and needs no claim', async () => {
    expect(await sql('select * from a, b')).toEqual({ bytes: 18, operations: 0, deletions: 0, rows: 0, places: [] });
  });

  test('a delete counts the rows that it claims, at least one for each statement, and an unknown number without a claim', async () => {
    const text = 'delete from a where id < 9; delete from b where id = 1; drop table c';
    const deletions = async (metadata?: Metadata) => (await sql(text, metadata)).deletions;
    expect(await deletions(rows(50))).toBe(51);
    expect(await deletions(rows(0))).toBe(3);
    expect(await deletions()).toBeNull();
    expect((await sql('drop table a, b')).deletions).toBe(2);
  });

  test('a call of a function whose effects are not known counts like a delete, also in a statement that only reads', async () => {
    expect(await sql('select purge(7)', rows(30))).toMatchObject({ operations: 1, deletions: 30, rows: 30 });
    expect(await sql('select purge(7), purge(8)', rows(0))).toMatchObject({ deletions: 2 });
    expect(await sql('select purge(7)')).toMatchObject({ deletions: null, rows: null });
    expect(await sql('select count(*), now() from a')).toMatchObject({ operations: 0, deletions: 0, rows: 0 });
    expect(await sql('insert into a (id) values (gen_random_uuid())', rows(1))).toMatchObject({ deletions: 0 });
  });

  test('the dry run counts the rows that triggers and functions delete', async () => {
    const raw = new TextEncoder().encode('update a set x = 1 where id = 1');
    const diff = { sourceTool: 'SQLDryRun', raw, diffSha: sha256Hex(raw), metadata: rows(1) };
    const tool = sourceTools.get('SQLDryRun');
    if (tool === undefined) throw new Error('source tool SQLDryRun does not exist');
    const record = stagingRecord({ sideEffects: [{ table: 'public.b', inserted: 0, updated: 0, deleted: 40 }] });
    expect(stagedMeasureOf(tool, diff, await tool.facts(diff), record)).toMatchObject({ deletions: 40 });
  });

  test('without a valid claim the number of rows is unknown, never zero', async () => {
    for (const metadata of [{}, { affected_rows: '1' }, { affected_rows: -1 }, { affected_rows: 0.5 }])
      expect((await sql('delete from a', metadata)).rows).toBeNull();
  });

  test('for text that is built at run time the number of statements is unknown', async () => {
    const measured = await sql(`do $$ begin execute 'delete from ' || current_user; end $$`, rows(1));
    expect(measured).toMatchObject({ operations: null, deletions: null, rows: 1 });
  });

  test('for text that cannot be parsed everything except the bytes is unknown', async () => {
    expect(await sql('delete form a')).toEqual({
      bytes: 13,
      operations: null,
      deletions: null,
      rows: null,
      places: null,
    });
  });

  test('one table is one place regardless of its spelling, and the measure contains no name', async () => {
    const [a, b, c] = [await sql('delete from Orders'), await sql('delete from "orders"'), await sql('delete from x')];
    expect(a.places).toEqual(b.places);
    expect(a.places).not.toEqual(c.places);
    expect(JSON.stringify(a)).not.toContain('orders');
  });
});

test('SQLCAS: each operation is a row', async () => {
  const document = {
    rows: [
      { op: 'delete', table: 'public.a', key: { id: 1 }, expect: { x: 1 } },
      { op: 'update', table: 'public.a', key: { id: 2 }, expect: { x: 1 }, set: { x: 2 } },
      { op: 'insert', table: 'public.b', key: { id: 3 }, set: { x: 2 } },
    ],
  };
  const measured = await measure('SQLCAS', JSON.stringify(document), rows(99));
  expect({ ...measured, places: measured.places?.length, bytes: 0 }).toEqual({
    bytes: 0,
    operations: 3,
    deletions: 1,
    rows: 3,
    places: 2,
  });
});

test('GitPatch: hunks are operations, lines are rows, files are places', async () => {
  const patch = [
    'diff --git a/gone.txt b/gone.txt',
    'deleted file mode 100644',
    '--- a/gone.txt',
    '+++ /dev/null',
    '@@ -1,2 +0,0 @@',
    '-a',
    '-b',
    'diff --git a/kept.txt b/kept.txt',
    '--- a/kept.txt',
    '+++ b/kept.txt',
    '@@ -1 +1 @@',
    '-a',
    '+b',
    '@@ -9 +9 @@',
    '-c',
    '+d',
    '',
  ].join('\n');
  const measured = await measure('GitPatch', patch);
  expect({ ...measured, places: measured.places?.length }).toMatchObject({
    operations: 3,
    deletions: 1,
    rows: 6,
    places: 2,
  });
});

test('HTTPPatch: the place is the resource, not the members of its body; removed members are deletions', async () => {
  const at = (path: string, more: object = {}): Promise<Measure> =>
    measure('HTTPPatch', request({ url: `https://api.example.com${path}`, ...more }));
  const body = [
    { op: 'remove', path: '/a' },
    { op: 'replace', path: '/b', value: 1 },
  ];
  const [patched, other, removed] = [
    await at('/v1/users/7', { body }),
    await at('/v1/users/8', { body }),
    await at('/v1/users/7', { method: 'DELETE', body: undefined, contentType: undefined }),
  ];
  expect(patched).toMatchObject({ operations: 2, deletions: 1, rows: 1 });
  expect(patched.places).toHaveLength(1);
  expect(other.places).not.toEqual(patched.places);
  expect(removed).toMatchObject({ deletions: 1, places: patched.places });
  const whole = [{ op: 'replace', path: '', value: {} }];
  expect(await at('/v1/users/7', { body: whole })).toMatchObject({ operations: 1, deletions: 1 });
});

test('TerraformPlan: changed resources are operations, destroyed ones are deletions', async () => {
  const resource = (name: string, actions: readonly string[]): object => ({
    address: `aws_s3_bucket.${name}`,
    mode: 'managed',
    type: 'aws_s3_bucket',
    name,
    provider_name: 'registry.terraform.io/hashicorp/aws',
    change: { actions, before: {}, after: {}, after_unknown: {}, before_sensitive: false, after_sensitive: false },
  });
  const plan = {
    format_version: '1.2',
    resource_changes: [
      resource('a', ['delete']),
      resource('b', ['delete', 'create']),
      resource('c', ['update']),
      resource('d', ['no-op']),
    ],
    configuration: { root_module: {} },
  };
  const measured = await measure('TerraformPlan', JSON.stringify(plan));
  expect({ ...measured, places: measured.places?.length }).toMatchObject({
    operations: 3,
    deletions: 2,
    rows: 3,
    places: 3,
  });
});

test('a change that touches more than MAX_PLACES places counts as MAX_PLACES + 1', async () => {
  const tables = Array.from({ length: MAX_PLACES + 50 }, (_, i) => `t${i}`).join(', ');
  expect((await sql(`truncate ${tables}`)).places).toHaveLength(MAX_PLACES + 1);
});

test('for a source tool without a measure only the bytes and the claim are known', () => {
  const raw = new Uint8Array([1, 2, 3]);
  const diff = { sourceTool: 'Own', raw, diffSha: sha256Hex(raw), metadata: rows(4) };
  const facts = { ok: true, kind: 'own', parser: { name: 'own', version: '1' } } as const;
  expect(measureOf(plainTool, diff, facts)).toEqual({
    bytes: 3,
    operations: null,
    deletions: null,
    rows: 4,
    places: null,
  });
});

import { changeLines } from '../../../../gateway/inbox/page/model/change-lines';
import { EFFECT_METADATA } from '../../../../gateway/inbox/page/model/effect-metadata';
import { frictionOf, isTyped } from '../../../../gateway/inbox/page/model/friction';
import { previewOf } from '../../../../gateway/inbox/page/model/preview-table';
import { reviewTitle } from '../../../../gateway/inbox/page/model/review-title';
import { shownReview, type ShownReview } from '../../../../gateway/inbox/page/model/shown-review';
import { structureOf } from '../../../../gateway/inbox/page/model/structure';
import { verifiedReview, type VerifiedReview } from '../../../../signing/verified-review';
import { stagingRecord, updatedTable } from '../../../../dev/staging-record';
import type { StagingRecord } from '../../../../policy/contracts/staging-record';
import { SOURCE_TOOLS } from '../../../../source-tools';
import { status } from '../../../client/fakes';
import { SAMPLE_CHANGES, type SampleName } from './sample-changes';
import { sampleWorld } from './sample-world';

const NOW = new Date('2026-11-20T10:00:00.000Z');
const SHA = 'a'.repeat(64);
const statement = (command: string): StagingRecord['statements'][number] => ({ sha: SHA, command, rowCount: 0 });
const sideEffect = (table: string, counts: object) => ({ table, inserted: 0, updated: 0, deleted: 0, ...counts });
const world = sampleWorld(() => NOW);

const opened = new Map<SampleName, Promise<VerifiedReview>>();

async function open(name: SampleName): Promise<VerifiedReview> {
  const { bundle } = await world.open(name, { bobConfirms: name === 'update' });
  const verdict = verifiedReview(bundle, world.trust, NOW.toISOString());
  if (verdict.ok) return verdict.review;
  throw new Error(JSON.stringify(verdict.differences));
}

async function shown(name: SampleName, person = 'alice'): Promise<ShownReview & { readonly review: VerifiedReview }> {
  const known = opened.get(name) ?? open(name);
  opened.set(name, known);
  const review = await known;
  return { ...shownReview(review, person), review };
}

describe('what the page shows of a verified review', () => {
  it.each([
    ['update', 'UPDATE public.invoices: 40 rows'],
    ['remove', 'DELETE public.invoices: 40 rows'],
    ['git', 'git: 2 files, +4 \u22122'],
    ['patch', 'PATCH https://api.example.com/v1/projects/42?notify=all'],
    ['httpDelete', 'DELETE https://api.example.com/v1/projects/42'],
    ['terraform', 'terraform: 1 to destroy, 1 to update, 1 to create'],
    ['forbidden', 'DROP SCHEMA shop CASCADE;'],
  ] as const)('titles the sample %s from its bytes and its dry run', async (name, title) => {
    expect((await shown(name)).title).toBe(title);
  });

  it('titles a patch with all files and lines that git applies, whatever kind of headers they have', async () => {
    const [readme, workflow] = ['README.md', '.github/workflows/release.yml'];
    const file = (path: string, first: string, hunk: string): string =>
      `${first}--- a/${path}\n+++ b/${path}\n${hunk}\n-a\n+b\n`;
    const withGitHeader = file(readme, `diff --git a/${readme} b/${readme}\n`, '@@ -1 +1 @@');
    const title = async (text: string, paths: readonly string[]): Promise<string> => {
      const record = { ...SAMPLE_CHANGES.git.record, tables: paths.map((path) => updatedTable(path, 1, SHA)) };
      const { bundle } = await world.open({ ...SAMPLE_CHANGES.git, text, record, preview: { paths: [...paths] } });
      const verdict = verifiedReview(bundle, world.trust, NOW.toISOString());
      if (!verdict.ok) throw new Error(JSON.stringify(verdict.differences));
      return shownReview(verdict.review, 'alice').title;
    };
    expect(await title(withGitHeader + file(workflow, '', '@@ -1 +1 @@'), [readme, workflow])).toBe(
      'git: 2 files, +2 \u22122',
    );
    expect(await title(file(workflow, '', '@@ -0000000001 +0000000001 @@'), [workflow])).toBe(
      `git: ${workflow}, +1 \u22121`,
    );
  });

  it.each([
    ['/* a */ -- b\n  drop table users', 'drop table users'],
    ['/* /* */ select 1 -- */ drop table users', 'drop table users'],
    ['-- a\rdrop table users -- b\nselect 1', 'drop table users -- b select 1'],
    ['/* /* */ select 1', 'SQLDryRun on shop'],
  ])('titles SQL without a dry run by what follows its leading comments, which nest: %s', (text, title) => {
    const review = { status: { ...status(), sourceTool: 'SQLDryRun' }, staging: null };
    expect(reviewTitle(review, changeLines('SQLDryRun', Buffer.from(text)), null)).toBe(title);
  });

  it('titles a patch that is not UTF-8 without a number of lines, which its bytes do not show', () => {
    const raw = Buffer.from('diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+\u00ff\n', 'latin1');
    const review = {
      status: { ...status(), sourceTool: 'GitPatch' },
      staging: stagingRecord({ sourceTool: 'GitPatch', tables: [updatedTable('x', 1, SHA)] }),
    };
    expect(reviewTitle(review, changeLines('GitPatch', raw), null)).toBe('git: x');
  });

  it('finds a place for each piece of evidence, and marks its lines with the number of the card', async () => {
    for (const name of ['update', 'remove', 'git', 'patch', 'httpDelete', 'terraform'] as const) {
      const { cards, marks } = await shown(name);
      expect(cards.cards.length).toBeGreaterThan(0);
      for (const { places, number } of cards.cards) {
        expect([name, places.map(({ kind }) => kind)]).toEqual([name, expect.not.arrayContaining(['none'])]);
        for (const place of places) if (place.kind === 'lines') expect(marks.cards.get(place.first)).toContain(number);
      }
    }
  });

  it.each(['patch', 'terraform'] as const)(
    'finds a place for each piece of evidence of the sample %s with a byte order mark, which the rules skip',
    async (name) => {
      const sample = SAMPLE_CHANGES[name];
      const { bundle } = await world.open({ ...sample, text: `\ufeff${sample.text}` });
      const verdict = verifiedReview(bundle, world.trust, NOW.toISOString());
      if (!verdict.ok) throw new Error(JSON.stringify(verdict.differences));
      const { cards, change } = shownReview(verdict.review, 'alice');
      const places = cards.cards.flatMap((card) => card.places);
      expect(places.map(({ kind }) => kind)).toContain('lines');
      expect(places).not.toContainEqual(expect.objectContaining({ kind: 'none' }));
      const whole = { first: 0, last: (change?.lines.length ?? 0) - 1 };
      if (name === 'terraform') expect(places).not.toContainEqual(expect.objectContaining(whole));
    },
  );

  it('names a place once, however many references of a finding point at it', async () => {
    const { review } = await shown('patch');
    const twice = review.findings.map((finding) => ({
      ...finding,
      evidenceRefs: finding.evidenceRefs.flatMap((reference) => [reference, reference]),
    }));
    const placesOf = (of: VerifiedReview) => shownReview(of, 'alice').cards.cards.map(({ places }) => places);
    expect(placesOf({ ...review, findings: twice })).toEqual(placesOf(review));
  });

  it('offers an answer to members of the group only, not to the requester, and not twice', async () => {
    const turns = async (person: string): Promise<string[]> =>
      (await shown('update', person)).cards.cards.map(({ turn }) => turn);
    expect(await turns('alice')).toEqual(['yours', 'yours']);
    expect(await turns('bob')).toEqual(['answered_by_you', 'yours']);
    expect(await turns('dana')).toEqual(['four_eyes', 'four_eyes']);
    const [first] = (await shown('update', 'bob')).cards.cards;
    expect(first?.confirmation).toMatch(/^[0-9a-f]{64}$/);
    expect(await turns('mallory')).toEqual(['not_in_group', 'not_in_group']);
  });

  it('shows a safety finding as what ended the review, and never as a card', async () => {
    const { cards } = await shown('forbidden');
    expect(cards.cards).toEqual([]);
    expect(cards.endedBy.map(({ finding }) => finding.validator_id)).toEqual([
      'safety.sql_drop_database',
      'safety.sql_cascade',
    ]);
  });

  it('shows an error of syntax once, with the checks that could not read the change', async () => {
    const { bundle } = await world.open({ ...SAMPLE_CHANGES.forbidden, text: 'UPDAT customers SET' });
    const verdict = verifiedReview(bundle, world.trust, NOW.toISOString());
    if (!verdict.ok) throw new Error(JSON.stringify(verdict.differences));
    const { cards, endedBy, advice, unread } = shownReview(verdict.review, 'alice').cards;
    expect(cards).toEqual([]);
    expect([...endedBy, ...advice].map(({ finding }) => finding.validator_id)).toEqual(['safety.sql_parse_failure']);
    expect(unread.length).toBeGreaterThan(30);
    expect(unread.every(({ reasonCode }) => reasonCode === 'facts_unavailable')).toBe(true);
  });

  it('asks to type table and row count of the dry run before rows are deleted, and nothing before an update of 40 rows', async () => {
    expect((await shown('update')).friction).toBeNull();
    const friction = (await shown('remove')).friction;
    expect(friction).toMatchObject({ name: 'public.invoices', count: 40 });
    expect(friction === null ? null : isTyped(friction, { name: ' public.invoices', count: '40 ' })).toBe(true);
    expect(friction === null ? null : isTyped(friction, { name: 'public.invoices', count: '12' })).toBe(false);
    expect((await shown('httpDelete')).friction).toMatchObject({ name: '/v1/projects/42', count: 1 });
    expect((await shown('terraform')).friction).toMatchObject({ name: 'aws_instance.old', count: 1 });
  });

  it.each<[string, Partial<StagingRecord>, object | null]>([
    [
      'rows that a trigger deletes',
      { tables: [updatedTable('orders', 1, SHA)], sideEffects: [sideEffect('audit', { deleted: 5 })] },
      { name: 'audit', count: 5 },
    ],
    [
      'rows that a cascade deletes beyond those of the statement',
      {
        tables: [{ ...updatedTable('customers', 0, SHA), deleted: 1 }],
        sideEffects: [sideEffect('orders', { deleted: 90 })],
      },
      { name: 'orders', count: 90 },
    ],
    [
      'more than 100 rows that a function writes',
      { sideEffects: [sideEffect('audit', { inserted: 101 })] },
      { name: 'audit', count: 101 },
    ],
    [
      'a DELETE that was not rehearsed',
      { reason: 'not_rehearsed', statements: [statement('UPDATE'), statement('DELETE')] },
      { name: 'DELETE', nameLabel: 'The command', count: 2, countLabel: 'Number of statements' },
    ],
    ['a DELETE that finds no row', { statements: [statement('DELETE')] }, null],
    [
      'deleted files of a patch',
      {
        sourceTool: 'GitPatch',
        statements: [statement('git apply')],
        tables: [
          updatedTable('a.ts', 1, SHA),
          ...['b.ts', 'c.ts'].map((path) => ({ ...updatedTable(path, 0, SHA), deleted: 1 })),
        ],
      },
      { name: 'b.ts', nameLabel: 'Path of the first deleted file', count: 2, countLabel: 'Number of deleted files' },
    ],
  ])('asks to type what it touches: %s', (_what, record, expected) => {
    const friction = frictionOf({ staging: stagingRecord(record) }, null);
    expect(friction).toEqual(expected === null ? null : expect.objectContaining(expected));
  });

  it('accepts a name as the page shows it, with the spaces around it and with marks', () => {
    const friction = { why: '', nameLabel: '', count: 1, countLabel: '' };
    expect(isTyped({ ...friction, name: 'old report ' }, { name: 'old report', count: '1' })).toBe(true);
    expect(isTyped({ ...friction, name: 'a\u200bb' }, { name: 'a⟦U+200B⟧b', count: '1' })).toBe(true);
    expect(isTyped({ ...friction, name: 'a\u200bb' }, { name: 'ab', count: '1' })).toBe(false);
  });

  it('reads the rows of a dry run with what changes, and keeps another preview as its members', async () => {
    const { review } = await shown('update');
    const [table] = previewOf(review.preview ?? {}).tables;
    expect(table?.columns.filter(({ changes }) => changes).map(({ name }) => name)).toEqual(['status', 'paid_at']);
    expect(table?.rows[0]?.cells.map(({ state }) => state)).toContain('not_compared');
    expect(previewOf({ paths: ['a'] })).toEqual({ tables: [], moreTables: 0, other: [['paths', '["a"]']] });
    expect(previewOf({ tables: [{ table: 'x' }], moreTables: 0 }).tables).toEqual([]);
  });

  it('shows the members of a JSON patch with the values that the requester saw', async () => {
    const { structure } = await shown('patch');
    expect(structure?.kind === 'request' ? structure.members : null).toEqual([
      { operation: 'test', pointer: '/owner', before: null, after: '"web"' },
      { operation: 'replace', pointer: '/visibility', before: '"private"', after: '"public"' },
      { operation: 'remove', pointer: '/reviewers/0', before: '"carol"', after: null },
      { operation: 'add', pointer: '/labels/-', before: null, after: '"launch\u200b"' },
    ]);
  });

  it('shows what a body means by its media type and method, as the rules read it', () => {
    const members = (request: object): unknown => {
      const text = JSON.stringify({ url: 'https://api.example.com/v1/projects/42', ...request });
      const structure = structureOf('HTTPPatch', new TextEncoder().encode(text));
      return structure?.kind === 'request' ? structure.members : null;
    };
    const operations = [{ op: 'test', path: '/owner', value: 'web' }];
    const whole = { pointer: '', before: null, after: JSON.stringify(operations) };
    expect(members({ method: 'PUT', contentType: 'application/json', body: operations })).toEqual([
      { operation: 'send', ...whole },
    ]);
    const document = { owner: 'web', limits: { seats: 5 } };
    expect(members({ method: 'PUT', body: { owner: 'web' }, document })).toEqual([
      { operation: 'replace', pointer: '', before: JSON.stringify(document), after: '{"owner":"web"}' },
      { operation: 'set', pointer: '/owner', before: '"web"', after: '"web"' },
    ]);
    const merge = { method: 'PATCH', contentType: 'application/merge-patch+json', document };
    expect(members({ ...merge, body: { limits: null } })).toEqual([
      { operation: 'remove', pointer: '/limits', before: '{"seats":5}', after: null },
    ]);
  });

  it('shows a column that a row must have as one that is not set, whatever its name', () => {
    const row = { op: 'delete', table: 'public.orders', key: { id: 1 }, expect: { constructor: 2 } };
    const structure = structureOf('SQLCAS', new TextEncoder().encode(JSON.stringify({ rows: [row] })));
    expect(structure?.kind === 'rows' ? structure.rows[0]?.members : null).toEqual([
      { operation: 'must be', pointer: 'constructor', before: '2', after: null },
    ]);
  });

  it('shows which parts of an attribute of a plan are known only after apply', () => {
    const resource = {
      address: 'aws_security_group.open',
      mode: 'managed',
      type: 'aws_security_group',
      name: 'open',
      provider_name: 'registry.terraform.io/hashicorp/aws',
      change: {
        actions: ['update'],
        before: { ids: ['a'], rule: [{ port: 22, hosts: ['10.0.0.1'] }] },
        after: { ids: [null], rule: [{ port: 22 }], name: 'known after apply' },
        after_unknown: { ids: [true], rule: [{ hosts: true }], arn: true, tags: {} },
        before_sensitive: false,
        after_sensitive: false,
      },
    };
    const configuration = { root_module: {} };
    const plan = { format_version: '1.2', terraform_version: '1.9.5', resource_changes: [resource], configuration };
    const structure = structureOf('TerraformPlan', new TextEncoder().encode(JSON.stringify(plan)));
    const members = structure?.kind === 'resources' ? structure.resources[0]?.members : null;
    expect(Object.fromEntries((members ?? []).map(({ pointer, after }) => [pointer, after]))).toEqual({
      '/ids': '[known after apply]',
      '/rule': '[{"port":22,"hosts":known after apply}]',
      '/name': '"known after apply"',
      '/arn': 'known after apply',
    });
  });

  it('shows that an attribute of a plan changes or is written whose value the plan marks as sensitive', () => {
    const deep = JSON.parse('['.repeat(100) + ']'.repeat(100)) as unknown;
    const change = {
      actions: ['update'],
      before: { policy: 'deny', password: 'same', tags: { env: 'a' } },
      after: { policy: 'allow', password: 'same', tags: { env: 'b' }, key: 'x', list: [{ port: 22 }], deep },
      after_unknown: {},
      before_sensitive: { policy: true, password: true },
      after_sensitive: { policy: true, password: true, key: true, list: [{ port: true }], tags: { other: true } },
    };
    const resource = {
      address: 'aws_s3_bucket_policy.web',
      mode: 'managed',
      type: 'aws_s3_bucket_policy',
      name: 'web',
      provider_name: 'registry.terraform.io/hashicorp/aws',
      change,
    };
    const configuration = { root_module: {} };
    const plan = { format_version: '1.2', terraform_version: '1.9.5', resource_changes: [resource], configuration };
    const structure = structureOf('TerraformPlan', new TextEncoder().encode(JSON.stringify(plan)));
    const members = structure?.kind === 'resources' ? structure.resources[0]?.members : null;
    expect(members?.map(({ pointer, before, after }) => [pointer, before, after])).toEqual([
      ['/policy', 'sensitive value', 'sensitive value'],
      ['/tags/env', '"a"', '"b"'],
      ['/key', null, 'sensitive value'],
      ['/list', null, 'sensitive value'],
      ['/deep', null, JSON.stringify(deep)],
    ]);
  });

  it('names the metadata that each tool declares as part of the effect', () => {
    const declared = SOURCE_TOOLS.map(({ sourceTool, effectMetadata }) => [
      sourceTool,
      Object.keys(effectMetadata.members),
    ]);
    expect(Object.fromEntries(declared.filter(([, members]) => members?.length !== 0))).toEqual(EFFECT_METADATA);
  });
});

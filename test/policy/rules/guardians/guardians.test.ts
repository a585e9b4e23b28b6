import { utf8ToBytes } from '@noble/hashes/utils.js';
import { extractSqlFacts } from '../../../../source-tools/sql/facts/extract-sql-facts';
import { sha256Hex } from '../../../../policy/contracts/hash';
import { ValidatorResult } from '../../../../policy/contracts/finding';
import { StagingRecord } from '../../../../policy/contracts/staging-record';
import { stagingRecord } from '../../../../dev/staging-record';
import { deepFreeze } from '../../../../policy/rules/deep-freeze';
import type { ValidatorDefinition, ValidatorInput } from '../../../../policy/rules/define';
import type { ExtractedFacts, Facts } from '../../../../policy/contracts/facts';
import type { Touched } from '../../../../policy/contracts/source-tool';
import { declaredView, viewOf } from '../../../../policy/rules/tool-view';
import { defineSourceTool } from '../../../../source-tools/define';
import { sqlDryRun } from '../../../../source-tools/sql';
import { touchedNames } from '../../../../source-tools/touched-names';
import {
  conflictPoint,
  contractGuardian,
  evidenceIntegrity,
  guardians,
  strongDecision,
} from '../../../../policy/rules/guardians';
import { plainTool } from '../../../support/source-tools';

const INPUT = 'a'.repeat(64);
const STAGING = 'b'.repeat(64);

interface OwnFacts extends ExtractedFacts {
  readonly touched: readonly Pick<Touched, 'kind' | 'schema' | 'name'>[];
}

const ownTool = defineSourceTool<OwnFacts>({
  sourceTool: 'Own',
  mode: 'cooperative',
  parser: { name: 'p', version: '1' },
  facts: () => ({ ok: true, kind: 'own', parser: { name: 'p', version: '1' }, touched: [] }),
  touched: touchedNames,
  staging: null,
});

interface Given {
  readonly text?: string;
  readonly facts?: Facts;
  readonly metadata?: Record<string, unknown>;
  readonly record?: Partial<StagingRecord> | null;
}

const RECORD = stagingRecord({
  statements: [{ sha: 'c'.repeat(64), command: 'UPDATE', rowCount: 3 }],
  tables: [
    { table: 'public.orders', inserted: 0, updated: 3, deleted: 0, touchedSha: null, keyed: true, volatileColumns: [] },
  ],
});

async function evaluate<Config>(guardian: ValidatorDefinition<Config>, config: unknown, given: Given) {
  const raw = utf8ToBytes(given.text ?? 'SELECT 1');
  const diff = { sourceTool: 'SQLDryRun', raw, diffSha: sha256Hex(raw), metadata: (given.metadata ?? {}) as never };
  const facts = given.facts ?? (await extractSqlFacts(raw));
  const tool =
    given.facts === undefined ? sqlDryRun : given.facts.ok && given.facts.kind === 'own' ? ownTool : plainTool;
  const input: ValidatorInput<Config> = {
    signature: {
      validator_id: `guardian.${guardian.implementation}`,
      validator_version: 'v1',
      logic_hash: '0'.repeat(64),
      class: 'POLICY',
      deterministic: true,
    },
    phase: guardian.phase,
    config: guardian.config.parse(config),
    diff,
    inputSha: INPUT,
    facts,
    tool: declaredView(viewOf(tool, facts, diff), guardian.reads),
    staging:
      given.record === null ? null : { record: StagingRecord.parse({ ...RECORD, ...given.record }), sha: STAGING },
  };
  deepFreeze({ config: input.config, metadata: diff.metadata, staging: input.staging });
  return { sha: diff.diffSha, result: ValidatorResult.parse(guardian.evaluate?.(input)) };
}

test('has four guardians, all POLICY by default; contract runs in phase post, the others in preflight [G6, G26, G31]', () => {
  expect(guardians.map((g) => [g.implementation, g.phase, g.defaultLevel, g.kind])).toEqual([
    ['conflict_point', 'preflight', 'confirm', 'derived'],
    ['strong_decision', 'preflight', 'confirm', 'derived'],
    ['contract', 'post', 'confirm', 'derived'],
    ['evidence_integrity', 'preflight', 'confirm', 'derived'],
  ]);
});

describe('conflict_point', () => {
  const tables = { tables: ['payments', 'audit.*', 'public.orders'] };

  test.each([
    'UPDATE payments SET a = 1 WHERE id = 1',
    'UPDATE "payments" SET a = 1 WHERE id = 1',
    'DELETE FROM other.Payments WHERE id = 1',
    'WITH x AS (INSERT INTO audit.log VALUES (1) RETURNING *) SELECT * FROM x',
    'ALTER TABLE orders ADD c int',
    'TRUNCATE public.orders',
    'DROP TABLE payments',
    'DROP SCHEMA audit',
    'DROP TABLE innocent CASCADE',
    "DO $$ BEGIN EXECUTE format('DELETE FROM %I', 'pay' || 'ments'); END $$",
    'SET search_path = audit; UPDATE log SET a = 1',
    'CREATE TABLE x AS SELECT 1; UPDATE payments SET a = 1',
  ])('blocks %s', async (text) => {
    const { result, sha } = await evaluate(conflictPoint, tables, { text });
    expect(result).toMatchObject({ validator_id: 'guardian.conflict_point', status: 'BLOCK', reasonCode: 'protected' });
    for (const ref of result.evidenceRefs) expect(ref).toMatch(new RegExp(`^diff:${sha}#L\\d+:C\\d+-L\\d+:C\\d+$`));
    expect(result.evidenceRefs.length).toBeGreaterThan(0);
  });

  test.each([
    'UPDATE customers SET a = 1 WHERE id = 1',
    'SELECT * FROM payments',
    'UPDATE other.orders SET a = 1',
    'DROP TABLE innocent',
    'INSERT INTO t SELECT * FROM payments',
  ])('allows %s', async (text) => {
    expect((await evaluate(conflictPoint, tables, { text })).result.status).toBe('ALLOW');
  });

  test('blocks if the diff cannot be parsed or its facts are of another kind', async () => {
    expect((await evaluate(conflictPoint, tables, { text: 'UPDATE payments SET' })).result).toMatchObject({
      status: 'BLOCK',
      reasonCode: 'facts_missing',
    });
    expect(
      (
        await evaluate(conflictPoint, tables, {
          facts: { ok: true, kind: 'unknown', parser: { name: 'p', version: '1' } },
        })
      ).result,
    ).toMatchObject({ status: 'BLOCK', reasonCode: 'facts_missing' });
  });

  const touching = (kind: string, ...names: string[]): Facts =>
    ({
      ok: true,
      kind: 'own',
      parser: { name: 'p', version: '1' },
      touched: names.map((name) => ({ kind, schema: null, name })),
    }) as never;

  test.each([
    ['.github/workflows/*', '.github/workflows/ci.yml', true],
    ['.github/workflows/*', '.github/workflows/a/ci.yml', false],
    ['src/**/secret.ts', 'src/secret.ts', true],
    ['src/**/secret.ts', 'src/a/b/secret.ts', true],
    ['src/**/secret.ts', 'src/a/nosecret.ts', false],
    ['**/package.json', 'package.json', true],
    ['**/package.json', 'a/b/package.json', true],
    ['migrations/', 'migrations/0001.sql', true],
    ['migrations/', 'migrations2/0001.sql', false],
    ['*.tf', 'main.tf', true],
    ['*.tf', 'a/main.tf', false],
    ['Infra/**', 'infra/main.tf', true],
    ['infra/**', 'INFRA/main.tf', true],
    ['a**', 'a/b/c', true],
  ])('path %s covers %s: %s', async (glob, path, covers) => {
    expect((await evaluate(conflictPoint, { paths: [glob] }, { facts: touching('path', path) })).result.status).toBe(
      covers ? 'BLOCK' : 'ALLOW',
    );
  });

  test.each([
    ['/spec/price', '/spec/price', true],
    ['/spec/price', '/spec/price/currency', true],
    ['/spec/price', '/spec', true],
    ['/spec/price', '', true],
    ['/spec/price', '/spec/pricelist', false],
    ['/spec/price', '/status', false],
    ['', '/anything', true],
  ])('pointer %j covers %j: %s', async (pointer, touched, covers) => {
    expect(
      (await evaluate(conflictPoint, { pointers: [pointer] }, { facts: touching('pointer', touched) })).result.status,
    ).toBe(covers ? 'BLOCK' : 'ALLOW');
  });

  test('matches a glob with many stars against a long path in linear time', async () => {
    const started = process.cpuUsage();
    await evaluate(conflictPoint, { paths: ['**a'.repeat(40)] }, { facts: touching('path', 'a/'.repeat(2000)) });
    expect(process.cpuUsage(started).user / 1000).toBeLessThan(10_000);
  });

  test.each([
    [{}],
    [{ tables: [] }],
    [{ tables: ['a.b.c.d'] }],
    [{ paths: ['/etc'] }],
    [{ pointers: ['spec'] }],
    [{ tables: ['a'], files: ['b'] }],
  ])('rejects the settings %j', (config) => {
    expect(conflictPoint.config.safeParse(config).success).toBe(false);
  });
});

describe('strong_decision', () => {
  const config = {
    decisions: [
      { id: 'D-1', strength: 'strong', governs: { tables: ['payments'] } },
      { id: 'D-2', strength: 'weak', governs: { tables: ['customers'] } },
    ],
  };
  const text = 'UPDATE payments SET a = 1 WHERE id = 1';

  test.each([
    ['no claim', {}, 'BLOCK'],
    ['a claim of the decision and its strength', { decision: { id: 'D-1', strength: 'strong' } }, 'WARN'],
    ['a weaker claim', { decision: { id: 'D-1', strength: 'normal' } }, 'BLOCK'],
    ['a claim of another decision', { decision: { id: 'D-9', strength: 'strong' } }, 'BLOCK'],
    [
      'free text beside the structured fields',
      { decision: { id: 'D-1', strength: 'strong', note: 'approved by the boss' } },
      'BLOCK',
    ],
    ['a strength in free text', { decision: { id: 'D-1', strength: 'very strong' } }, 'BLOCK'],
  ])('with %s is %s: a claim never makes it pass [G7, G12, G27]', async (_what, metadata, status) => {
    const { result } = await evaluate(strongDecision, config, { text, metadata });
    expect(result).toMatchObject({ status, details: { affectedDecisionRootIds: ['D-1'] } });
  });

  test('ignores free text in the metadata [G27]', async () => {
    const plain = await evaluate(strongDecision, config, { text, metadata: {} });
    const prose = await evaluate(strongDecision, config, {
      text,
      metadata: { rationale: 'decision D-1 was revoked, strength none', llm: 'ALLOW' },
    });
    expect(prose.result).toEqual(plain.result);
  });

  test('allows changes that only weaker decisions or no decision governs', async () => {
    expect((await evaluate(strongDecision, config, { text: 'UPDATE customers SET a = 1' })).result.status).toBe(
      'ALLOW',
    );
    expect(
      (await evaluate(strongDecision, { ...config, threshold: 'weak' }, { text: 'UPDATE customers SET a = 1' })).result
        .status,
    ).toBe('BLOCK');
    expect((await evaluate(strongDecision, config, { text: 'UPDATE t SET a = 1' })).result.status).toBe('ALLOW');
  });

  test('blocks if the diff cannot be parsed', async () => {
    expect((await evaluate(strongDecision, config, { text: 'UPDATE (' })).result).toMatchObject({
      status: 'BLOCK',
      reasonCode: 'facts_missing',
    });
  });
});

describe('contract', () => {
  const config = { tables: ['public.orders'], commands: ['UPDATE'], maxRows: 3, maxStatements: 1 };

  test('allows a change within the limits', async () => {
    expect((await evaluate(contractGuardian, config, {})).result.status).toBe('ALLOW');
  });

  test.each([
    ['another table', { tables: [{ ...RECORD.tables[0], table: 'public.users' }] }, '/tables/0/table'],
    ['too many rows', { tables: [{ ...RECORD.tables[0], deleted: 1 }] }, '/tables/0'],
    ['another command', { statements: [{ ...RECORD.statements[0], command: 'DELETE' }] }, '/statements/0/command'],
    ['too many statements', { statements: [RECORD.statements[0], RECORD.statements[0]] }, '/statements'],
    [
      'side effects',
      { sideEffects: [{ table: 'public.audit', inserted: 1, updated: 0, deleted: 0 }] },
      '/sideEffects/0',
    ],
    ['an incomplete capture', { fullyCaptured: false }, '/fullyCaptured'],
  ])('blocks %s, with a pointer into the staging record', async (_what, record, pointer) => {
    const { result } = await evaluate(contractGuardian, config, { record: record as never });
    expect(result).toMatchObject({ status: 'BLOCK', reasonCode: 'contract_breached' });
    expect(result.evidenceRefs).toContain(`staging:${STAGING}#${pointer}`);
  });

  test('gives an ERROR without a staging record', async () => {
    expect((await evaluate(contractGuardian, config, { record: null })).result).toMatchObject({
      status: 'BLOCK',
      errorClass: 'ErrValidatorBackend',
    });
  });
});

describe('evidence_integrity', () => {
  const config = { required: { ticket: 'string', affected_rows: 'number' } };
  const whole = { ticket: 'OPS-1', affected_rows: 3 };
  const sha = sha256Hex(utf8ToBytes('SELECT 1'));

  test('allows complete metadata with references to this change', async () => {
    const evidenceRefs = [`diff:${sha}#L1:C1-L1:C9`, `diff:${sha}#/a`, `metadata:${INPUT}#/ticket`];
    expect((await evaluate(evidenceIntegrity, config, { metadata: { ...whole, evidenceRefs } })).result.status).toBe(
      'ALLOW',
    );
  });

  test('only warns about a missing member, because its source may be unavailable [G41]', async () => {
    expect((await evaluate(evidenceIntegrity, config, { metadata: { ticket: 'OPS-1' } })).result).toMatchObject({
      status: 'WARN',
      reasonCode: 'evidence_missing',
      evidenceRefs: [`metadata:${INPUT}#/affected_rows`],
    });
  });

  test.each([
    ['a member of another type', { ...whole, affected_rows: '3' }],
    ['a null', { ...whole, ticket: null }],
    ['a reference to another diff', { ...whole, evidenceRefs: [`diff:${'d'.repeat(64)}#L1:C1-L1:C2`] }],
    ['a reference to other metadata', { ...whole, evidenceRefs: [`metadata:${'d'.repeat(64)}#/ticket`] }],
    ['a line that the diff does not have', { ...whole, evidenceRefs: [`diff:${sha}#L2:C1-L2:C2`] }],
    ['a column that the line does not have', { ...whole, evidenceRefs: [`diff:${sha}#L1:C1-L1:C99`] }],
    ['a span that ends before it starts', { ...whole, evidenceRefs: [`diff:${sha}#L1:C5-L1:C2`] }],
    ['free text instead of a reference', { ...whole, evidenceRefs: ['see the ticket'] }],
    ['a value that is not a list', { ...whole, evidenceRefs: 'diff' }],
  ])('blocks %s', async (_what, metadata) => {
    expect((await evaluate(evidenceIntegrity, config, { metadata })).result).toMatchObject({
      status: 'BLOCK',
      reasonCode: 'evidence_contradicted',
    });
  });

  test('names the member, but not its value', async () => {
    const { result } = await evaluate(evidenceIntegrity, config, {
      metadata: { ...whole, ticket: { secret: 'hunter2' } },
    });
    expect(JSON.stringify(result)).not.toContain('hunter2');
  });
});

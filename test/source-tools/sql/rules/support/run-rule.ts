import { extractSqlFacts } from '../../../../../source-tools/sql/facts/extract-sql-facts';
import type { StagingRecord } from '../../../../../policy/contracts/staging-record';
import type { ValidatorResult } from '../../../../../policy/contracts/finding';
import type { Metadata } from '../../../../../policy/contracts/diff';
import type { ValidatorDefinition, ValidatorInput } from '../../../../../policy/rules/define';
import { sqlPostgresPack } from './packs';
import type { SqlFacts } from '../../../../../source-tools/sql/facts/sql-facts';
import { ruleInput } from '../../../../support/rule-input';
import { stagingRecord } from '../../../../../dev/staging-record';

const utf8 = new TextEncoder();

export const bytesOf = (sql: string | Uint8Array): Uint8Array => (typeof sql === 'string' ? utf8.encode(sql) : sql);

/** Facts of a valid text. Throws if it is refused. */
export async function factsOf(sql: string): Promise<SqlFacts> {
  const facts = await extractSqlFacts(bytesOf(sql));
  if (!facts.ok) throw new Error(`expected facts, got ${facts.code}: ${facts.message}`);
  return facts as SqlFacts;
}

export const updatedRows = (table: string, updated: number): StagingRecord =>
  stagingRecord({
    tables: [{ table, inserted: 0, updated, deleted: 0, touchedSha: null, keyed: true, volatileColumns: [] }],
  });

export interface RunOptions {
  readonly config?: unknown;
  readonly metadata?: Metadata;
  readonly staging?: StagingRecord;
}

export async function inputFor(sql: string | Uint8Array, options: RunOptions = {}): Promise<ValidatorInput> {
  const raw = bytesOf(sql);
  const { config = {}, metadata, staging } = options;
  return ruleInput({ sourceTool: 'SQLDryRun', raw, facts: await extractSqlFacts(raw), config, metadata, staging });
}

export function ruleNamed(name: string, pack: readonly ValidatorDefinition[] = sqlPostgresPack): ValidatorDefinition {
  const definition = pack.find((d) => d.implementation === name);
  if (definition === undefined) throw new Error(`no rule ${name}`);
  return definition;
}

/** Result of the rule. Its settings are parsed with its schema. */
export async function run(
  name: string,
  sql: string | Uint8Array,
  options: RunOptions = {},
  pack = sqlPostgresPack,
): Promise<ValidatorResult> {
  const definition = ruleNamed(name, pack);
  const input = await inputFor(sql, { ...options, config: definition.config.parse(options.config ?? {}) });
  return (definition.evaluate as NonNullable<typeof definition.evaluate>)(input);
}

export async function fires(
  name: string,
  sql: string | Uint8Array,
  options: RunOptions = {},
  pack = sqlPostgresPack,
): Promise<boolean> {
  return (await run(name, sql, options, pack)).status !== 'ALLOW';
}

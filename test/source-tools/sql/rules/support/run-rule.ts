import { extractSqlFacts } from '../../../../../source-tools/sql/facts/extract-sql-facts';
import type { StagingRecord } from '../../../../../policy/contracts/staging-record';
import type { ValidatorResult } from '../../../../../policy/contracts/finding';
import type { Metadata } from '../../../../../policy/contracts/diff';
import type { ValidatorInput } from '../../../../../policy/rules/define';
import type { SqlFacts } from '../../../../../source-tools/sql/facts/sql-facts';
import { bytesOf, ruleNamed } from '../../../../policy/rules/support/run-pack-rule';
import { ruleInput } from '../../../../support/rule-input';
import { stagingRecord } from '../../../../../dev/staging-record';

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

/** Result of the rule. Its settings are parsed with its schema. */
export async function run(name: string, sql: string | Uint8Array, options: RunOptions = {}): Promise<ValidatorResult> {
  const { config, evaluate } = ruleNamed(name);
  return evaluate(await inputFor(sql, { ...options, config: config.parse(options.config ?? {}) }));
}

export const fires = async (...args: Parameters<typeof run>): Promise<boolean> =>
  (await run(...args)).status !== 'ALLOW';

import { z } from 'zod';
import type { StagingRecord } from '../../contracts/staging-record';
import { stagingMissing, type RuleOutcome, type ValidatorInput } from '../define';
import { stagingEvidence } from '../../contracts/facts';
import { shown } from '../../text/shown-name';
import { defineGuardian } from './define-guardian';

const Config = z
  .strictObject({
    tables: z
      .array(z.string().min(1).max(300))
      .max(500)
      .optional()
      .describe('Tables that may be touched, as the dry run names them. Default: any.'),
    commands: z
      .array(z.string().min(1).max(100))
      .max(50)
      .optional()
      .describe('Commands that may run: UPDATE, INSERT, … Default: any.'),
    maxRows: z.int().min(0).optional().describe('Maximum number of rows touched in one table.'),
    maxStatements: z.int().min(1).max(1000).optional().describe('Maximum number of statements.'),
    sideEffects: z.boolean().default(false).describe('Whether triggers and cascades may touch rows.'),
  })
  .describe('What a change may do.');
type Config = z.infer<typeof Config>;

/**
 * Compares what the change did with what it may do: on the record of the dry run, and again in the commit (phase `post`). Reads
 * only the record, no claims.
 */
export const contractGuardian = defineGuardian({
  name: 'contract',
  logicRevision: 3,
  config: Config,
  phase: 'post',
  reads: ['staging'],
  why: 'The effects of a change must stay within the agreed limits.',
  apply,
});

interface Breach {
  readonly reason: string;
  readonly pointer: string;
}

function apply(input: ValidatorInput<Config>): RuleOutcome {
  if (input.staging === null) return stagingMissing(input);
  const { record, sha } = input.staging;
  const breaches = breachesOf(record, input.config);
  if (breaches.length === 0) return { fires: false };
  return {
    fires: true,
    reason: breaches
      .map((breach) => breach.reason)
      .slice(0, 20)
      .join('; '),
    reasonCode: 'contract_breached',
    evidence: breaches.map((breach) => stagingEvidence(sha, breach.pointer)),
  };
}

function breachesOf(record: StagingRecord, config: Config): Breach[] {
  const { tables, commands, maxRows, maxStatements, sideEffects } = config;
  const breaches: Breach[] = [];
  if (maxStatements !== undefined && record.statements.length > maxStatements) {
    breaches.push({
      reason: `${record.statements.length} statements exceed the limit of ${maxStatements}`,
      pointer: '/statements',
    });
  }
  record.statements.forEach(({ command }, i) => {
    if (commands !== undefined && !commands.includes(command))
      breaches.push({ reason: `command ${shown(command)} is not allowed`, pointer: `/statements/${i}/command` });
  });
  record.tables.forEach(({ table, inserted, updated, deleted }, i) => {
    const rows = inserted + updated + deleted;
    if (tables !== undefined && !tables.includes(table))
      breaches.push({ reason: `table ${shown(table)} is not allowed`, pointer: `/tables/${i}/table` });
    if (maxRows !== undefined && rows > maxRows)
      breaches.push({
        reason: `${rows} rows of ${shown(table)} exceed the limit of ${maxRows}`,
        pointer: `/tables/${i}`,
      });
  });
  record.sideEffects.forEach(({ table }, i) => {
    if (!sideEffects)
      breaches.push({
        reason: `a trigger or cascade touched rows of ${shown(table)}`,
        pointer: `/sideEffects/${i}`,
      });
  });
  if (!sideEffects && !record.fullyCaptured)
    breaches.push({ reason: 'not everything that was touched could be captured', pointer: '/fullyCaptured' });
  return breaches;
}

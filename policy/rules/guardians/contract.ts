import { z } from 'zod';
import type { StagingRecord } from '../../contracts/staging-record';
import type { RuleOutcome, ValidatorInput } from '../define';
import { stagingEvidence } from '../../contracts/facts';
import { shown } from '../../text/shown-name';
import { defineGuardian, wholeDiff } from './define-guardian';

const Config = z
  .strictObject({
    tables: z
      .array(z.string().min(1).max(300))
      .max(500)
      .optional()
      .describe('The only tables that may be touched, as the dry run names them.'),
    commands: z
      .array(z.string().min(1).max(100))
      .max(50)
      .optional()
      .describe('The only commands that may run: UPDATE, INSERT, …'),
    maxRows: z.int().min(0).optional().describe('The most rows that may be touched in one table.'),
    maxStatements: z.int().min(1).max(1000).optional().describe('The most statements.'),
    sideEffects: z.boolean().default(false).describe('Whether triggers and cascades may touch rows.'),
  })
  .describe('What a change of this kind is allowed to look like.');
type Config = z.infer<typeof Config>;

/**
 * Holds what the change did against what it may do, after the fact: on the dry run's record, and again in the commit
 * (phase post, G31). Reads the record only, no claim.
 */
export const contractGuardian = defineGuardian({
  name: 'contract',
  logicRevision: 1,
  config: Config,
  phase: 'post',
  reads: ['staging'],
  why: 'What a change did must have the shape that was agreed.',
  apply,
});

interface Breach {
  readonly reason: string;
  readonly pointer: string;
}

function apply(input: ValidatorInput<Config>): RuleOutcome {
  if (input.staging === null) {
    return {
      fires: true,
      reason: 'There is no staging record to read',
      reasonCode: 'staging_missing',
      errorClass: 'ErrValidatorBackend',
      evidence: [wholeDiff(input.diff.diffSha)],
    };
  }
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
      reason: `${record.statements.length} statements are more than the ${maxStatements} agreed`,
      pointer: '/statements',
    });
  }
  record.statements.forEach(({ command }, i) => {
    if (commands !== undefined && !commands.includes(command))
      breaches.push({ reason: `command ${shown(command)} is not agreed`, pointer: `/statements/${i}/command` });
  });
  record.tables.forEach(({ table, inserted, updated, deleted }, i) => {
    const rows = inserted + updated + deleted;
    if (tables !== undefined && !tables.includes(table))
      breaches.push({ reason: `table ${shown(table)} is not agreed`, pointer: `/tables/${i}/table` });
    if (maxRows !== undefined && rows > maxRows)
      breaches.push({
        reason: `${rows} rows of ${shown(table)} are more than the ${maxRows} agreed`,
        pointer: `/tables/${i}`,
      });
  });
  record.sideEffects.forEach(({ table }, i) => {
    if (!sideEffects)
      breaches.push({
        reason: `rows of ${shown(table)} were touched beside the statements`,
        pointer: `/sideEffects/${i}`,
      });
  });
  if (!sideEffects && !record.fullyCaptured)
    breaches.push({ reason: 'not all that was touched could be captured', pointer: '/fullyCaptured' });
  return breaches;
}

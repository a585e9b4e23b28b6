import { z } from 'zod';
import { Duration, durationMs } from '../../contracts/duration';
import { ValidatorName } from '../../contracts/validator-name';
import { MAX_PLACES } from './measure';

/** How many other changes one sum can include. If there are more, the validator fires regardless of their values. */
export const MAX_COUNTED = 500;

const SHORTEST_MS = 60_000;
const LONGEST_MS = 7 * 86_400_000;

const Window = Duration.refine((text) => {
  const ms = durationMs(text);
  return ms === null || (ms >= SHORTEST_MS && ms <= LONGEST_MS);
}, 'expected at least 1m and at most 7d');

const By = z.enum(['tenant', 'agent', 'target', 'sourceTool']);

function limit(what: string, max = Number.MAX_SAFE_INTEGER) {
  return z.int().min(1).max(max).optional().describe(what);
}

const Limits = z
  .strictObject({
    changes: limit(`Number of changes, including this one; at most ${MAX_COUNTED}.`, MAX_COUNTED),
    bytes: limit('Total size of the diffs in bytes.'),
    operations: limit('Statements that write, hunks of a patch, operations of a JSON document, resources of a plan.'),
    deletions: limit(
      'Rows of deletes and truncates, by metadata.affected_rows (the limit fires without it); objects dropped; files deleted; members removed; resources destroyed.',
    ),
    rows: limit(
      'Rows; for a patch, lines. For SQL text the value of metadata.affected_rows; the limit fires without it.',
    ),
    places: limit(`Distinct tables, file paths, URLs or resources; at most ${MAX_PLACES}.`, MAX_PLACES),
  })
  .refine((limits) => Object.keys(limits).length > 0, 'expected at least one limit, such as deletions: 50');

export const AggregateConfig = z.strictObject({
  name: ValidatorName,
  window: Window.describe('Length of the time window before the change was opened: 1m to 7d.'),
  by: z
    .array(By)
    .min(1)
    .max(4)
    .refine((by) => new Set(by).size === by.length, 'expected each value at most once')
    .default(['tenant', 'agent', 'target', 'sourceTool'])
    .describe('Which changes count together: those with the same value for each of these.'),
  limits: Limits.describe('Maximum sums. The finding lists every limit that is exceeded and that this change adds to.'),
});
export type AggregateConfig = z.infer<typeof AggregateConfig>;

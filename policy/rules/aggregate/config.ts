import { z } from 'zod';
import { Duration, durationMs } from '../../contracts/duration';
import { ValidatorName } from '../../validators/validator-name';
import { MAX_PLACES } from './measure';

/** How many other changes one sum holds; where there are more of them the limit has been reached, whatever they weigh. */
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
    changes: limit(`Changes, this one too; at most ${MAX_COUNTED}.`, MAX_COUNTED),
    bytes: limit('Bytes of their diffs.'),
    operations: limit('Statements that write, hunks of a patch, operations of a document, resources of a plan.'),
    deletions: limit('Deletes, truncates, drops; files deleted; members removed; resources destroyed.'),
    rows: limit(
      'Rows: for SQL text those that metadata.affected_rows claims, without which it fires. Lines of a patch.',
    ),
    places: limit(`Different tables, file paths, URLs or resources; at most ${MAX_PLACES}.`, MAX_PLACES),
  })
  .refine((limits) => Object.keys(limits).length > 0, 'expected at least one limit, such as deletions: 50');

export const AggregateConfig = z.strictObject({
  name: ValidatorName,
  window: Window.describe('How far back it counts, from when the change was opened: 1m to 7d.'),
  by: z
    .array(By)
    .min(1)
    .max(4)
    .refine((by) => new Set(by).size === by.length, 'expected each only once')
    .default(['tenant', 'agent', 'target', 'sourceTool'])
    .describe('Which changes are counted together: those of the same tenant, agent, target, source tool.'),
  limits: Limits.describe(
    'What the changes may come to together. Each one that this change adds to, and that is passed, is told.',
  ),
});
export type AggregateConfig = z.infer<typeof AggregateConfig>;

import type { StagingRecord } from '../../../../policy/contracts/staging-record';
import { escapeLine } from '../../../../policy/text/escape';
import type { VerifiedReview } from '../../../../signing/verified-review';
import type { Structure } from './structure';

/** What a person must type before a confirmation of a change that cannot be undone, or that is large. */
export interface Friction {
  readonly why: string;
  /** What is typed first: a table, a resource, a path or a command. */
  readonly name: string;
  readonly nameLabel: string;
  readonly count: number;
  readonly countLabel: string;
}

const MANY_ROWS = 100;

/** From the verified dry run, and from the bytes if the tool has none. Null if nothing must be typed. */
export function frictionOf({ staging }: Pick<VerifiedReview, 'staging'>, structure: Structure | null): Friction | null {
  if (structure?.kind === 'resources') return destroyed(structure);
  if (structure?.kind === 'request' && structure.method === 'DELETE')
    return {
      why: 'This request deletes a resource.',
      name: pathOf(structure.url),
      nameLabel: 'Path of the resource',
      count: 1,
      countLabel: 'Number of resources',
    };
  if (staging === null) return null;
  return staging.sourceTool === 'GitPatch' ? deletedFiles(staging) : ofTables(staging);
}

function destroyed({ resources }: Extract<Structure, { kind: 'resources' }>): Friction | null {
  const gone = resources.filter(({ action }) => action === 'delete' || action === 'replace');
  const [first] = gone;
  return first === undefined
    ? null
    : {
        why: 'This plan destroys resources.',
        name: first.address,
        nameLabel: 'Address of the first destroyed resource',
        count: gone.length,
        countLabel: 'Number of destroyed resources',
      };
}

/** The record of a patch has one entry for each path. */
function deletedFiles({ tables }: StagingRecord): Friction | null {
  const gone = tables.filter(({ deleted }) => deleted > 0);
  const [first] = gone;
  return first === undefined
    ? null
    : {
        why: 'This patch deletes files.',
        name: first.table,
        nameLabel: 'Path of the first deleted file',
        count: gone.length,
        countLabel: 'Number of deleted files',
      };
}

/** The table with the most deleted rows, or with the most rows. Those of triggers, cascades and functions count as well. */
function ofTables({ tables, sideEffects, statements, reason }: StagingRecord): Friction | null {
  const effects: StagingRecord['sideEffects'] = [...tables, ...sideEffects];
  const size = ({ inserted, updated, deleted }: (typeof effects)[number]): number => inserted + updated + deleted;
  const byDeleted = effects.filter(({ deleted }) => deleted > 0).sort((a, b) => b.deleted - a.deleted)[0];
  const byRows = effects.filter((effect) => size(effect) > MANY_ROWS).sort((a, b) => size(b) - size(a))[0];
  const labels = { nameLabel: 'Name of the table', countLabel: 'Number of rows' };
  if (byDeleted !== undefined)
    return { why: 'This change deletes rows.', name: byDeleted.table, count: byDeleted.deleted, ...labels };
  if (byRows !== undefined)
    return {
      why: `This change writes more than ${MANY_ROWS} rows.`,
      name: byRows.table,
      count: size(byRows),
      ...labels,
    };
  const uncounted = /^(DROP|TRUNCATE)\b/i;
  const removing = reason === 'not_rehearsed' ? /^(DROP|TRUNCATE|DELETE)\b/i : uncounted;
  const found = statements.find(({ command }) => removing.test(command));
  if (found === undefined) return null;
  const why = uncounted.test(found.command)
    ? 'This change drops or empties objects.'
    : 'This change deletes rows, which were not counted.';
  const [first] = tables;
  return first === undefined
    ? {
        why,
        name: found.command,
        nameLabel: 'The command',
        count: statements.length,
        countLabel: 'Number of statements',
      }
    : { why, name: first.table, count: size(first), ...labels };
}

function pathOf(url: string): string {
  return URL.canParse(url) ? new URL(url).pathname : url;
}

export interface Typed {
  readonly name: string;
  readonly count: string;
}

/** The name is typed or copied as the page shows it. */
export function isTyped({ name, count }: Friction, typed: Typed): boolean {
  return typed.name.trim() === escapeLine(name).trim() && typed.count.trim() === String(count);
}

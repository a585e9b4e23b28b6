import type { StagingRecord } from '../../../../policy/contracts/staging-record';
import type { VerifiedReview } from '../../../../signing/verified-review';
import type { Structure } from './structure';

/** What a person must type before a confirmation of a change that cannot be undone, or that is large. */
export interface Friction {
  readonly why: string;
  /** What is typed first: a table, a resource or a path. */
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
  return staging === null ? null : ofTables(staging);
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

function ofTables({ tables, statements }: StagingRecord): Friction | null {
  const size = (table: StagingRecord['tables'][number]): number => table.inserted + table.updated + table.deleted;
  const byDeleted = tables.filter(({ deleted }) => deleted > 0).sort((a, b) => b.deleted - a.deleted)[0];
  const byRows = tables.filter((table) => size(table) > MANY_ROWS).sort((a, b) => size(b) - size(a))[0];
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
  const drop = statements.find(({ command }) => /^(DROP|TRUNCATE)\b/i.test(command));
  if (drop === undefined) return null;
  const [first] = tables;
  return {
    why: 'This change drops or empties objects.',
    name: first?.table ?? drop.command,
    nameLabel: first === undefined ? 'The command' : 'Name of the table',
    count: first === undefined ? statements.length : size(first),
    countLabel: first === undefined ? 'Number of statements' : 'Number of rows',
  };
}

function pathOf(url: string): string {
  return URL.canParse(url) ? new URL(url).pathname : url;
}

export interface Typed {
  readonly name: string;
  readonly count: string;
}

export function isTyped({ name, count }: Friction, typed: Typed): boolean {
  return typed.name.trim() === name && typed.count.trim() === String(count);
}

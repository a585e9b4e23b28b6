import type { StagingRecord } from '../../../../policy/contracts/staging-record';

const MAX_LINES = 6;

/** What an anchor of the dry run says, one line each; null if it is too long to repeat, or says nothing. */
export function stagedLines(anchor: string, staging: StagingRecord | null): string[] | null {
  if (staging === null) return null;
  const [, list, index] = /^dry-run-([A-Za-z]+)(?:-(\d+))?$/.exec(anchor) ?? [];
  const all = linesOf(list ?? '', staging);
  const lines = index === undefined ? all : all.slice(Number(index), Number(index) + 1);
  return lines.length === 0 || lines.length > MAX_LINES ? null : lines;
}

function linesOf(list: string, { tables, sideEffects, statements, uncaptured, notCompared }: StagingRecord): string[] {
  switch (list) {
    case 'tables':
      return tables.map(effectLine);
    case 'sideEffects':
      return sideEffects.map(effectLine);
    case 'statements':
      return statements.map(({ command, rowCount }) => `${command}: ${rowCount}`);
    case 'uncaptured':
      return [...uncaptured];
    case 'notCompared':
      return notCompared.map(({ table, column, why }) => `${table}.${column}: ${why}`);
    default:
      return []; // A member of the record that has no list on the page.
  }
}

function effectLine({ table, inserted, updated, deleted }: StagingRecord['sideEffects'][number]): string {
  return `${table}: ${inserted} inserted, ${updated} updated, ${deleted} deleted`;
}

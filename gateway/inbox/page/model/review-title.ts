import type { StagingRecord } from '../../../../policy/contracts/staging-record';
import { joinParts, oneLineTitle } from '../../../../policy/text/change-title';
import { counted } from '../../../../policy/text/counted';
import { lex } from '../../../../source-tools/sql/facts/lexer';
import type { VerifiedReview } from '../../../../signing/verified-review';
import type { LineKind, ShownChange } from './change-lines';
import { actionWord, type Structure } from './structure';

/** What the change does in one line, from its verified bytes and its dry run; never from what the requester wrote. */
export function reviewTitle(
  { status, staging }: Pick<VerifiedReview, 'status' | 'staging'>,
  change: ShownChange | null,
  structure: Structure | null,
): string {
  return oneLineTitle(
    structureTitle(structure) ??
      patchTitle(status.sourceTool, change, staging) ??
      stagedTitle(staging) ??
      sqlTitle(status.sourceTool, change) ??
      `${status.sourceTool} on ${status.target}`,
  );
}

function structureTitle(structure: Structure | null): string | null {
  if (structure === null) return null;
  switch (structure.kind) {
    case 'request':
      return `${structure.method} ${structure.url}`;
    case 'rows': {
      const rows = countBy(structure.rows.map(({ operation, table }) => `${operation.toUpperCase()} ${table}`));
      return joinParts(rows.map(([name, count]) => `${name}: ${counted(count, 'row')}`));
    }
    case 'resources': {
      const actions = countBy(structure.resources.map(({ action }) => actionWord(action)));
      const parts = actions.map(([action, count]) => `${count} to ${action}`);
      return `terraform: ${parts.length === 0 ? 'no changes of resources' : parts.join(', ')}`;
    }
    default:
      return structure satisfies never;
  }
}

function countBy(names: readonly string[]): [string, number][] {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts];
}

/** The record of a patch has one entry for each path. A patch can have files without the header `diff --git`. */
function patchTitle(sourceTool: string, change: ShownChange | null, staging: StagingRecord | null): string | null {
  if (sourceTool !== 'GitPatch' || change === null) return null;
  const count = (kind: LineKind): number => change.lines.filter((line) => line.kind === kind).length;
  const [only, ...more] = staging?.tables ?? [];
  const what = only === undefined ? 'patch' : more.length === 0 ? only.table : counted(more.length + 1, 'file');
  return change.language === 'patch' ? `git: ${what}, +${count('added')} \u2212${count('removed')}` : `git: ${what}`;
}

/** `UPDATE public.invoices: 40 rows`, by the commands and tables of the dry run. */
function stagedTitle(staging: StagingRecord | null): string | null {
  if (staging === null || staging.statements.length === 0) return null;
  const [table, ...more] = staging.tables;
  const on = table === undefined || more.length > 0 ? '' : ` ${table.table}`;
  const measured = staging.reason === null;
  return joinParts(
    staging.statements.map(({ command, rowCount }) =>
      measured && ROWS.has(command) ? `${command}${on}: ${counted(rowCount, 'row')}` : `${command}${on}`,
    ),
  );
}

/** The text after its leading comments, as PostgreSQL reads them, for SQL without a dry run. */
function sqlTitle(sourceTool: string, change: ShownChange | null): string | null {
  if (sourceTool !== 'SQLDryRun' || change?.text == null) return null;
  const bytes = new TextEncoder().encode(change.text);
  const { count, starts } = lex(bytes);
  return count === 0 ? null : new TextDecoder().decode(bytes.subarray(starts[0])).trim().replaceAll(/\s+/g, ' ');
}

const ROWS: ReadonlySet<string> = new Set(['INSERT', 'UPDATE', 'DELETE', 'MERGE', 'COPY']);

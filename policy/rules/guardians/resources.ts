import { z } from 'zod';
import { coveringGlob, pathName } from '../../text/glob';
import { ANY_TABLE, parseName } from '../../text/table-name';
import { DIFF_START, diffEvidence } from '../../contracts/facts';
import type { Touched } from '../../contracts/source-tool';
import type { RuleOutcome, ValidatorInput } from '../define';

const Table = z
  .string()
  .min(1)
  .max(200)
  .refine(
    (text) => parseName(text.replace(/\.\*$/, '.x')) !== null,
    'expected a table such as orders, public.orders or public.*',
  );
const Pointer = z
  .string()
  .max(1000)
  .regex(/^(\/.*)?$/, 'expected a JSON pointer: empty for the whole document, or starting with "/"');
const PathGlob = z
  .string()
  .min(1)
  .max(500)
  .regex(/^[^/]/, 'expected a path from the root of the tree, without a leading "/"');

/** The resources that a guardian protects. At least one, because an empty list would protect nothing without a warning. */
export const Resources = z
  .strictObject({
    tables: z
      .array(Table)
      .max(500)
      .default([])
      .describe('Tables: orders, public.orders, or public.* for a whole schema.'),
    paths: z
      .array(PathGlob)
      .max(500)
      .default([])
      .describe('Paths from the root of the tree; * within a name, ** across folders. Case is ignored.'),
    pointers: z
      .array(Pointer)
      .max(500)
      .default([])
      .describe('JSON pointers. Each covers everything below it, and a change that replaces one of its parents.'),
  })
  .refine(
    (r) => r.tables.length + r.paths.length + r.pointers.length > 0,
    'expected at least one table, path or pointer',
  );
export type Resources = z.infer<typeof Resources>;

/** The outcome if it is unknown what a diff touches. Such a diff never passes. */
export function touchedUnknown({ facts, diff }: Pick<ValidatorInput, 'facts' | 'diff'>): RuleOutcome {
  return {
    fires: true,
    reason: facts.ok
      ? 'The facts of this source tool do not say what the diff touches'
      : `The diff could not be read (${facts.code}), so it is unknown what it touches`,
    reasonCode: 'facts_missing',
    evidence: [diffEvidence(diff.diffSha, DIFF_START)],
  };
}

/** The first entry of `resources` that covers what was touched, or null. If in doubt, an entry covers. */
export function coveredBy(resources: Resources, touched: Touched): string | null {
  switch (touched.kind) {
    case 'table':
      return resources.tables.find((table) => tableCovers(table, touched)) ?? null;
    case 'path':
      return coveringGlob(resources.paths, pathName(touched.name)) ?? null;
    case 'pointer':
      return resources.pointers.find((pointer) => pointerCovers(pointer, touched.name)) ?? null;
    default:
      return touched.kind satisfies never;
  }
}

/**
 * A table without a schema is protected in every schema. A touched name without a schema may be in any schema, except for
 * an entry such as `audit.*`: there it means `public`, else every unqualified name would match. A diff that changes
 * `search_path` touches "any table" instead.
 */
function tableCovers(table: string, touched: Touched): boolean {
  if (table.endsWith('.*')) {
    const schema = parseName(table.slice(0, -2))?.name;
    return (touched.schema ?? (touched.name === ANY_TABLE ? schema : 'public')) === schema;
  }
  const name = parseName(table);
  if (name === null || (name.name !== touched.name && touched.name !== ANY_TABLE)) return false;
  return name.schema === null || touched.schema === null || name.schema === touched.schema;
}

/** Covers the pointer, everything below it and each of its parents, because replacing a parent replaces it. */
function pointerCovers(pointer: string, touched: string): boolean {
  return (
    touched === pointer ||
    touched.startsWith(`${pointer}/`) ||
    pointer.startsWith(`${touched}/`) ||
    pointer === '' ||
    touched === ''
  );
}

import { z } from 'zod';
import { Sha256Hex } from '../../../policy/contracts/diff';
import type { StagingRecord } from '../../../policy/contracts/staging-record';
import { sha256HexOfText } from '../../../policy/contracts/hash';
import { canonicalJson } from '../../../policy/contracts/canonical-json';

/** `base` of an HTTP staging record. Digests only: a record contains no member of the resource. */
export const HttpBase = z.strictObject({
  adapter: z.literal('http/1'),
  method: z.string(),
  url: z.string().max(8192),
  /** Strong ETag; null if the server sends none. */
  etag: z.string().max(1000).nullable(),
  /** Digests of the document before and after, without volatile members. They differ. */
  beforeSha: Sha256Hex,
  afterSha: Sha256Hex,
  volatile: z.array(z.string()),
  /** The ETag after our write; only in the record that post validators receive at commit time. */
  written: z.string().nullable().optional(),
});
export type HttpBase = z.infer<typeof HttpBase>;

export function toHttpRecord(
  base: HttpBase,
  change: {
    readonly sourceTool: string;
    readonly target: string;
    readonly diffSha: string;
    readonly uncaptured: readonly string[];
  },
): StagingRecord {
  const { pathname } = new URL(base.url);
  return {
    sourceTool: change.sourceTool,
    target: change.target,
    origin: 'measured',
    statements: [{ sha: change.diffSha, command: base.method, rowCount: 1 }],
    tables: [
      {
        table: pathname.length > 300 ? `${pathname.slice(0, 235)}…${sha256HexOfText(pathname)}` : pathname,
        inserted: 0,
        updated: 1,
        deleted: 0,
        touchedSha: sha256HexOfText(canonicalJson([base.beforeSha, base.afterSha])),
        keyed: true,
        volatileColumns: [...base.volatile],
      },
    ],
    sideEffects: [],
    fullyCaptured: change.uncaptured.length === 0,
    uncaptured: [...change.uncaptured],
    reason: null,
    notCompared: [],
    previewSha: null,
    base: base as unknown as StagingRecord['base'],
    serverVersion: 'http',
  };
}

/** Null if the record is not an HTTP staging record. */
export function httpBaseOf(record: StagingRecord | null): HttpBase | null {
  const parsed = HttpBase.safeParse(record?.base);
  return parsed.success ? parsed.data : null;
}

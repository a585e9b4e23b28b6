import { type JsonObject, canonicalJson } from '../../policy/contracts/canonical-json';
import { type LedgerRow, LedgerKind } from '../../policy/contracts/ledger';
import type { StoredRow } from '../../policy/evidence/chain';
import type {
  Appended,
  Ledger,
  LedgerEntry,
  RefusalCount,
  SpentNonce,
  ProjectionPatch,
} from '../../policy/evidence/ledger-port';
import { MAX_BODY_CHARS } from '../database/canonical-row-sql';
import type { Queryable } from '../database/database';
import { assertChangeId, isChangeId } from './assert-change-id';
import { createOtherChangesReader } from './other-changes';
import { createReviewReader } from './reviews';
import { z } from 'zod';

/** The ledger in PostgreSQL. One append is one round trip (schema.ts, `ledger_append`). */
export function createLedger(db: Queryable): Ledger {
  const select = 'select change_id, n, prev, hash, kind, at, actor, body from ledger where change_id = $1';
  return {
    ...createReviewReader(db),
    ...createOtherChangesReader(db),

    async append(changeId, entries, projection, expectedN) {
      const values = [
        assertChangeId(changeId),
        ...toColumns(entries),
        projection === undefined ? null : toProjection(projection, entries),
        expectedN ?? null,
        ...toPasskeyColumns(entries),
      ];
      const { rows } = await db.query<AppendRow>(
        'select * from ledger_append($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)',
        values,
        'ledger_append',
      );
      return rows.map((row) => toAppended(changeId, row, entries));
    },

    async read(changeId) {
      if (!isChangeId(changeId)) return [];
      const { rows } = await db.query<TableRow>(`${select} order by n`, [changeId], 'ledger_read');
      return rows.map(toStored);
    },

    async readKinds(changeId, kinds) {
      if (!isChangeId(changeId)) return [];
      const { rows } = await db.query<TableRow>(
        `${select} and kind = any($2) order by n`,
        [changeId, kinds],
        'ledger_read_kinds',
      );
      return rows.map(toStored);
    },

    async refusalCounts(changeId) {
      const { rows } = await db.query<{ fact_key: string; count: string }>(
        'select fact_key, count from refusal_counts where change_id = $1 order by fact_key',
        [changeId],
        'ledger_refusals',
      );
      return rows.map((row): RefusalCount => ({ factKey: row.fact_key, count: Number(row.count) }));
    },

    async spentNonces(changeId) {
      const { rows } = await db.query<{ key_id: string; nonce: string; fact_key: string }>(
        'select key_id, nonce, fact_key from answer_nonces where change_id = $1',
        [changeId],
        'ledger_nonces',
      );
      return rows.map((row): SpentNonce => ({ keyId: row.key_id, nonce: row.nonce, changeId, factKey: row.fact_key }));
    },
  };
}

interface TableRow {
  change_id: string;
  n: number;
  prev: string;
  hash: string;
  kind: string;
  at: string;
  actor: string;
  body: string;
}

interface AppendRow {
  idx: number;
  status: Appended['status'];
  r_n: number;
  r_prev: string;
  r_hash: string;
  r_kind: string;
  r_at: string;
  r_actor: string;
  /** Body of an existing row. Null for an appended one, whose body the caller has. */
  r_body: string | null;
}

function toAppended(changeId: string, row: AppendRow, entries: readonly LedgerEntry[]): Appended {
  if (row.status !== 'appended' && row.status !== 'existing')
    return { status: row.status, existing: false, stored: null };
  const { r_n: n, r_prev: prev, r_hash: hash, r_kind: kind, r_at: at, r_actor: actor } = row;
  // Parsing the canonical text of an appended body gives the same value, except that RFC 8785 (3.2.2.3) writes -0 as 0.
  const body = row.r_body === null ? (entries[row.idx - 1]?.body ?? {}) : toBody(row.r_body);
  return {
    status: row.status,
    existing: row.status === 'existing',
    stored: {
      row: { changeId, n, prev, kind: kind as LedgerRow['kind'], at, actor, body: body as LedgerRow['body'] },
      hash,
    },
  };
}

function toBody(text: string): LedgerRow['body'] {
  return JSON.parse(text) as JsonObject as LedgerRow['body'];
}

function toStored(row: TableRow): StoredRow {
  const { change_id: changeId, n, prev, hash, kind, at, actor } = row;
  // Not validated here: verifyChain reports invalid rows with their position.
  return {
    row: {
      changeId,
      n,
      prev,
      kind: kind as LedgerRow['kind'],
      at,
      actor,
      body: toBody(row.body),
    },
    hash,
  };
}

/** Bounds of one append. Facts are small; large content is in the byte store. */
const MAX_ENTRIES = 1000;

/** As Date.toISOString writes it. */
const IsoTime = z.iso.datetime({ precision: 3 });

/** Converts entries to the parallel arrays of `ledger_append`. Throws if an entry is invalid or too large, so that no fact is dropped. */
export function toColumns(entries: readonly LedgerEntry[]): unknown[] {
  if (entries.length > MAX_ENTRIES)
    throw new TypeError(`Ledger: expected at most ${MAX_ENTRIES} entries in one append, got ${entries.length}`);
  return [
    entries.map((e) => LedgerKind.parse(e.kind)),
    entries.map((e) => IsoTime.parse(e.at)),
    entries.map(bodyText),
    entries.map((e) => toText(e.factKey)),
    entries.map((e) => e.nonce?.keyId ?? null),
    entries.map((e) => (e.nonce === undefined ? null : toText(e.nonce.nonce))),
  ];
}

/** Counters and assertions of the passkeys that signed; their key ids are those of the nonces. */
function toPasskeyColumns(entries: readonly LedgerEntry[]): unknown[] {
  const passkeys = entries.map((e) => e.nonce?.passkey ?? null);
  if (passkeys.every((passkey) => passkey === null)) return [null, null];
  return [
    passkeys.map((passkey) => passkey?.counter ?? null),
    passkeys.map((passkey) => passkey?.assertionSha ?? null),
  ];
}

function bodyText(entry: LedgerEntry): string {
  const text = canonicalJson(entry.body);
  if (text.length > MAX_BODY_CHARS)
    throw new TypeError(
      `Ledger: the body of ${entry.kind} "${entry.factKey}" has ${text.length} characters; expected at most ${MAX_BODY_CHARS}`,
    );
  return text;
}

function toProjection(patch: ProjectionPatch, entries: readonly LedgerEntry[]): string {
  const updatedAt = entries.at(-1)?.at ?? patch.closedAt ?? patch.openedAt;
  if (updatedAt == null) throw new TypeError('Ledger: a projection needs an entry, or a closedAt or openedAt time');
  const summary = patch.summary === undefined ? {} : { summary: toText(patch.summary) };
  return canonicalJson({ ...patch, ...summary, updatedAt });
}

/** PostgreSQL text cannot contain NUL, so a NUL in a key, nonce or summary is replaced by its symbol U+2400. */
function toText(text: string): string {
  return text.replaceAll('\0', '\u2400');
}

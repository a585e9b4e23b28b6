import { z } from 'zod';
import { canonicalJson } from '../../policy/contracts/canonical-json';
import { LedgerKind } from '../../policy/contracts/ledger';
import type { LedgerEntry, ProjectionPatch } from '../../policy/evidence/ledger-port';

/** Bounds of one append. Facts are small; large content is in the byte store. */
const MAX_ENTRIES = 1000;
export const MAX_BODY_CHARS = 1024 * 1024;

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
export function toPasskeyColumns(entries: readonly LedgerEntry[]): unknown[] {
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

export function toProjection(patch: ProjectionPatch, entries: readonly LedgerEntry[]): string {
  const updatedAt = entries.at(-1)?.at ?? patch.closedAt ?? patch.openedAt;
  if (updatedAt == null) throw new TypeError('Ledger: a projection needs an entry, or a closedAt or openedAt time');
  const summary = patch.summary === undefined ? {} : { summary: toText(patch.summary) };
  return canonicalJson({ ...patch, ...summary, updatedAt });
}

/** PostgreSQL text cannot contain NUL, so a NUL in a key, nonce or summary is replaced by its symbol U+2400. */
function toText(text: string): string {
  return text.replaceAll('\0', '\u2400');
}

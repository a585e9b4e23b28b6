import { z } from 'zod';
import { canonicalJson } from '../../policy/contracts/canonical-json';
import { LedgerKind } from '../../policy/contracts/ledger';
import type { LedgerEntry, ProjectionPatch } from '../../policy/evidence/ledger-port';

/** Bounds on one append: a fact is small, its bytes are in the store. */
export const MAX_ENTRIES = 1000;
export const MAX_BODY_CHARS = 1024 * 1024;

const IsoTime = z.iso.datetime();
// No control character: NUL is none of PostgreSQL's text, and an actor is shown in terminals.
const Actor = z.string().regex(/^[^\p{Cc}]{1,300}$/u);

/** The parallel arrays that `ledger_append` takes. Throws TypeError naming the entry and member: a fact that cannot be hashed must not get lost. */
export function toColumns(entries: readonly LedgerEntry[]): unknown[] {
  if (entries.length > MAX_ENTRIES)
    throw new TypeError(`Ledger: expected at most ${MAX_ENTRIES} entries in one append, got ${entries.length}`);
  return [
    entries.map((e) => LedgerKind.parse(e.kind)),
    entries.map((e) => IsoTime.parse(e.at)),
    entries.map((e) => Actor.parse(e.actor)),
    entries.map(bodyText),
    entries.map((e) => toText(e.factKey)),
    entries.map((e) => (e.kind === 'answer_accepted' && e.body['decision'] === 'reject' ? 'reject' : null)),
    entries.map((e) => e.nonce?.keyId ?? null),
    entries.map((e) => (e.nonce === undefined ? null : toText(e.nonce.nonce))),
  ];
}

function bodyText(entry: LedgerEntry): string {
  const text = canonicalJson(entry.body);
  if (text.length > MAX_BODY_CHARS)
    throw new TypeError(
      `Ledger: the body of ${entry.kind} "${entry.factKey}" has ${text.length} characters, expected at most ${MAX_BODY_CHARS}`,
    );
  return text;
}

export function toProjection(patch: ProjectionPatch, entries: readonly LedgerEntry[]): string {
  const updatedAt = entries.at(-1)?.at ?? patch.closedAt ?? patch.openedAt;
  if (updatedAt == null) throw new TypeError('Ledger: a projection needs the entry that made it so');
  const summary = patch.summary === undefined ? {} : { summary: toText(patch.summary) };
  return canonicalJson({ ...patch, ...summary, updatedAt });
}

/** PostgreSQL's text has no NUL; a nonce or a summary that holds one is kept with its picture instead. */
function toText(text: string): string {
  return text.replaceAll('\0', '\u2400');
}

import { canonicalJsonOrNull, type JsonObject } from '../../policy/contracts/canonical-json';
import type { CountersignFailure } from '../../policy/contracts/failure';
import { sha256HexOfText } from '../../policy/contracts/hash';
import type { Ledger, LedgerEntry } from '../../policy/evidence/ledger-port';
import { cutExplanation } from '../../policy/text/cut-text';

/** The row of a refusal by `check`. `of`: what was refused. `more`: further members of the body. */
export function refusedEntry(
  now: Date,
  { check, of, explanation }: { readonly check: string; readonly of: unknown; readonly explanation: string },
  more: JsonObject = {},
): LedgerEntry {
  return {
    kind: 'refused',
    at: now.toISOString(),
    factKey: refusalKey(check, of),
    body: { check, ...more, explanation: cutExplanation(explanation) },
  };
}

/** Records the failure as refused in the ledger, if the change was opened. Returns the failure to throw. `of`: what was refused. */
export async function recordRefusal(
  { ledger, now }: { readonly ledger: Pick<Ledger, 'readKinds' | 'append'>; readonly now: () => Date },
  changeId: string,
  { check, of }: { readonly check: string; readonly of: unknown },
  failure: CountersignFailure,
): Promise<CountersignFailure> {
  if ((await ledger.readKinds(changeId, ['submitted'])).length > 0)
    await ledger.append(changeId, [refusedEntry(now(), { check, of, explanation: failure.message })]);
  return failure;
}

/**
 * Key of the row of a refusal, by the check that refused and the digest of what was refused: another message has another row, and the
 * same one again is counted on its row. All messages that are not JSON, or nested too deeply, share one row.
 */
function refusalKey(check: string, message: unknown): string {
  const text = canonicalJsonOrNull(message);
  const digest = text === null ? 'unreadable' : sha256HexOfText(text);
  return `refused:${check}#${digest}`;
}

const CHECK = 'inbox: difference';

/**
 * Records that the page of a person could not verify what the gateway sent: a member of the evidence differs from what the page computes.
 * The same differences of the same person have one row.
 */
export async function recordDifferences(
  { ledger, now }: { readonly ledger: Pick<Ledger, 'append'>; readonly now: () => Date },
  changeId: string,
  seen: {
    readonly person: string;
    readonly keyId: string;
    readonly differences: readonly { readonly name: string; readonly detail: string }[];
  },
): Promise<void> {
  const { person, keyId, differences } = seen;
  const said = differences.map(({ name, detail }) => `${name}: ${detail}`).join('; ');
  const explanation = `The inbox of ${person} could not verify: ${said}`;
  const entry = refusedEntry(now(), { check: CHECK, of: { person, differences }, explanation }, { person, keyId });
  await ledger.append(changeId, [entry]);
}

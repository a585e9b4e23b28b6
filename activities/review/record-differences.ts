import type { Ledger } from '../../policy/evidence/ledger-port';
import { refusedEntry } from './refused-entry';

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

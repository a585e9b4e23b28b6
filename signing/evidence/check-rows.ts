import type { LedgerKind, LedgerRow } from '../../policy/contracts/ledger';
import type { EvidenceBundle, EvidenceInclusion } from '../../policy/evidence/bundle';
import { verifyChain, type StoredRow } from '../../policy/evidence/chain';
import { verifyInclusion } from '../../policy/evidence/merkle';
import { signedByOne } from './check-keys';
import { fail } from './check';

/** Facts that stand once for a change, in the order in which a life has them. Intent and decided share one place. */
const ONCE: readonly (readonly LedgerKind[])[] = [
  ['submitted'],
  ['planned'],
  ['disclosed'],
  ['intent', 'decided'],
  ['effect'],
  ['receipt'],
  ['closed'],
];

/** One whole chain of this change, to the head that the bundle names, each fact in its place. */
export function checkRows({ changeId, rows, head }: EvidenceBundle): string {
  const chain = verifyChain(rows, head.hash);
  if (!chain.ok) fail(`row ${chain.n}: ${chain.problem}`);
  if (head.rows !== rows.length) fail(`expected ${head.rows} rows, got ${rows.length}: rows were added or taken out`);
  if (rows[0]?.row.changeId !== changeId) fail('the rows are of another change');
  let last = -1;
  for (const kinds of ONCE) {
    const found = rows.filter(({ row }) => kinds.includes(row.kind));
    const [only, second] = found;
    if (second !== undefined) fail(`row ${second.row.n}: a second ${kinds.join(' or ')}, which a change has once`);
    if (only === undefined) continue;
    if (only.row.n < last) fail(`row ${only.row.n}: ${only.row.kind} stands before what it follows from`);
    last = only.row.n;
  }
  return `${rows.length} rows, one chain`;
}

/** Every row a leaf of the tree whose head a trusted committer signed: none was changed, and none before the last is missing. */
export function checkInclusion(
  rows: readonly StoredRow[],
  inclusion: EvidenceInclusion,
  committers: readonly string[],
): string {
  const { size, rootHash, at } = signedByOne('checkpoint', inclusion.checkpoint, committers, 'committer');
  if (inclusion.leaves.length !== rows.length) fail(`${rows.length} rows and ${inclusion.leaves.length} proofs`);
  let before = -1;
  for (const [n, { leaf, proof }] of inclusion.leaves.entries()) {
    if (leaf <= before) fail(`row ${n}: its leaf does not follow that of the row before`);
    before = leaf;
    if (!verifyInclusion(rows[n]?.hash ?? '', leaf, size, proof, rootHash))
      fail(`row ${n}: it is not in the tree of the checkpoint`);
  }
  return `all ${rows.length} rows under the checkpoint of ${at} over ${size} rows`;
}

export function rowOf(rows: readonly LedgerRow[], ...kinds: readonly LedgerKind[]): LedgerRow | null {
  return rows.find((row) => kinds.includes(row.kind)) ?? null;
}

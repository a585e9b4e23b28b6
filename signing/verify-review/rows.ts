import type { LedgerKind } from '../../policy/contracts/ledger';
import { evidenceChecksum, type EvidenceInclusion } from '../../policy/evidence/bundle';
import { verifyChain, type StoredRow } from '../../policy/evidence/chain';
import { verifyInclusion } from '../../policy/evidence/merkle';
import { fail, fileOf, notChecked, signedByOne } from './checking';
import type { Passed, Review } from './record';

/** Rows that a change has at most once, in order. `intent` and `decided` exclude each other. */
const ONCE: readonly (readonly LedgerKind[])[] = [
  ['submitted'],
  ['planned'],
  ['disclosed'],
  ['intent', 'decided'],
  ['effect'],
  ['receipt'],
  ['closed'],
  ['head'],
];

export function checkChecksum(review: Review): Passed {
  const file = fileOf(review);
  if (file.sha256 === null) return ['this process collected it: there is no file that could be damaged'];
  return evidenceChecksum(file) === file.sha256 ? ['the checksum matches'] : fail('the file was damaged or changed');
}

export function checkChain({ record }: Review): Passed {
  const { changeId, rows, file } = record;
  const chain = verifyChain(rows, file?.head.hash);
  if (!chain.ok) fail(`row ${chain.n}: ${chain.problem}`);
  if (file !== null && file.head.rows !== rows.length)
    fail(`expected ${file.head.rows} rows, got ${rows.length}: rows were added or removed`);
  if (rows[0]?.row.changeId !== changeId)
    fail(rows.length === 0 ? 'there are no rows' : 'the rows belong to another change');
  return [`${rows.length} rows, one chain`];
}

export function checkOrder({ rows }: Review): Passed {
  let last = -1;
  for (const kinds of ONCE) {
    const [only, second] = rows.filter(({ kind }) => kinds.includes(kind));
    if (second !== undefined) fail(`row ${second.n}: a second row ${kinds.join(' or ')}, but a change has only one`);
    if (only === undefined) continue;
    if (only.n < last) fail(`row ${only.n}: ${only.kind} is before a row that must precede it`);
    last = only.n;
  }
  return ['each of these rows occurs at most once, in order'];
}

export function checkCheckpoint(review: Review): Passed {
  const { inclusion } = fileOf(review);
  if (inclusion === null)
    notChecked('no checkpoint covers these rows yet: their order, times and number depend on the exporter');
  return [checkInclusion(review.record.rows, inclusion, review.sources.trust?.committers ?? [])];
}

/** Each row must be a leaf of the tree whose root a trusted committer signed: no row was changed, none before the last is missing. */
export function checkInclusion(
  rows: readonly StoredRow[],
  inclusion: EvidenceInclusion,
  committers: readonly string[],
): string {
  const { size, rootHash, at } = signedByOne('checkpoint', inclusion.checkpoint, committers, 'committer');
  if (inclusion.leaves.length !== rows.length)
    fail(`expected ${rows.length} proofs, one for each row, got ${inclusion.leaves.length}`);
  let before = -1;
  for (const [n, { leaf, proof }] of inclusion.leaves.entries()) {
    if (leaf <= before) fail(`row ${n}: its leaf does not follow that of the previous row`);
    before = leaf;
    if (!verifyInclusion(rows[n]?.hash ?? '', leaf, size, proof, rootHash))
      fail(`row ${n}: not in the tree of the checkpoint`);
  }
  return `all ${rows.length} rows are in the checkpoint of ${at} over ${size} rows`;
}

import type { LedgerKind } from '../../policy/contracts/ledger';
import { evidenceChecksum, type EvidenceInclusion } from '../../policy/evidence/bundle';
import { verifyChain, type StoredRow } from '../../policy/evidence/chain';
import { verifyInclusion } from '../../policy/evidence/merkle';
import { fail, fileOf, notChecked } from './outcome';
import type { Passed, Review } from './record';
import { signedByOne } from './signed-by';

/** Facts that a change has once, in the order in which they occur. `intent` and `decided` share one place. */
const ONCE: readonly (readonly LedgerKind[])[] = [
  ['submitted'],
  ['planned'],
  ['disclosed'],
  ['intent', 'decided'],
  ['effect'],
  ['receipt'],
  ['closed'],
];

export function checkFormat(review: Review): Passed {
  return [fileOf(review).format];
}

export function checkChecksum(review: Review): Passed {
  const file = fileOf(review);
  return evidenceChecksum(file) === file.sha256 ? ['the file is whole'] : fail('the file was damaged or changed');
}

export function checkChain({ record }: Review): Passed {
  const { changeId, rows, file } = record;
  const chain = verifyChain(rows, file?.head.hash);
  if (!chain.ok) fail(`row ${chain.n}: ${chain.problem}`);
  if (file !== null && file.head.rows !== rows.length)
    fail(`expected ${file.head.rows} rows, got ${rows.length}: rows were added or removed`);
  if (rows[0]?.row.changeId !== changeId)
    fail(rows.length === 0 ? 'there are no rows' : 'the rows are of another change');
  return [`${rows.length} rows, one chain`];
}

export function checkOrder({ rows }: Review): Passed {
  let last = -1;
  for (const kinds of ONCE) {
    const [only, second] = rows.filter(({ kind }) => kinds.includes(kind));
    if (second !== undefined) fail(`row ${second.n}: a second ${kinds.join(' or ')}, which a change has once`);
    if (only === undefined) continue;
    if (only.n < last) fail(`row ${only.n}: ${only.kind} is before a row that it follows from`);
    last = only.n;
  }
  return ['each fact occurs once, in its place'];
}

export function checkCheckpoint(review: Review): Passed {
  const { inclusion } = fileOf(review);
  if (inclusion === null)
    notChecked("no checkpoint covers these rows yet: their order, times and number are the exporter's word");
  return [checkInclusion(review.record.rows, inclusion, review.sources.trust?.committers ?? [])];
}

/** Each row is a leaf of the tree whose head a trusted committer signed: no row was changed, and none before the last is missing. */
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

/** Nothing in the rows binds the workflow's history, so it is reported and never counted. */
export function checkHistory(review: Review): Passed {
  const { history } = fileOf(review);
  return notChecked(
    history === null
      ? 'not in the file'
      : `run ${history.runId}, ${history.events} events: the exporter's word, to compare with Temporal`,
  );
}

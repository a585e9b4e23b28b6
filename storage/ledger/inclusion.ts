import { Envelope } from '../../policy/contracts/diff';
import type { EvidenceInclusion } from '../../policy/evidence/bundle';
import { inclusionProofs } from '../../policy/evidence/merkle';
import type { Queryable } from '../database/database';

export interface InclusionReader {
  /** The first checkpoint that covers the first `rows` rows of the change, with a proof for each row. Null until there is one. */
  covering(changeId: string, rows: number): Promise<EvidenceInclusion | null>;
}

const BATCH = 20_000;

/** Reads all leaves of the checkpoint's tree: 64 bytes each, about a second for several hundred thousand rows. */
export function inclusionReader(db: Queryable): InclusionReader {
  return {
    async covering(changeId, rows) {
      const { rows: own } = await db.query<{ leaf: string; n: number }>(
        'select leaf, n from ledger_leaves where change_id = $1 and n < $2 order by n',
        [changeId, rows],
      );
      const last = own.at(-1);
      if (last === undefined || own.length !== rows) return null;
      const { rows: heads } = await db.query<{ size: string; envelope: unknown }>(
        'select size, envelope from ledger_checkpoints where size > $1 order by size limit 1',
        [last.leaf],
      );
      const head = heads[0];
      if (head === undefined) return null;
      const hashes = await leavesBelow(db, Number(head.size));
      const indices = own.map(({ leaf }) => Number(leaf));
      const proofs = inclusionProofs(hashes, indices);
      return {
        checkpoint: Envelope.parse(head.envelope),
        leaves: indices.map((leaf, i) => ({ leaf, proof: proofs[i] ?? [] })),
      };
    },
  };
}

async function leavesBelow(db: Queryable, size: number): Promise<string[]> {
  const hashes: string[] = [];
  while (hashes.length < size) {
    const { rows } = await db.query<{ hash: string }>(
      'select hash from ledger_leaves where leaf >= $1 and leaf < $2 order by leaf',
      [hashes.length, Math.min(size, hashes.length + BATCH)],
    );
    if (rows.length === 0)
      throw new Error(
        `Leaf ${hashes.length} of a ledger tree with ${size} leaves is missing; run: countersign ledger verify`,
      );
    for (const { hash } of rows) hashes.push(hash);
  }
  return hashes;
}

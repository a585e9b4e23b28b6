import { Envelope } from '../../policy/contracts/diff';
import type { Sha256 } from '../../policy/contracts/hash';
import type { EvidenceInclusion } from '../../policy/evidence/bundle';
import { inclusionProof, subtreeHash, type TreeNode } from '../../policy/evidence/merkle';
import type { Queryable } from '../database/database';
import { STORED_LEVEL } from './checkpoint';

export interface InclusionReader {
  /** The first checkpoint that covers the first `rows` rows of the change, with a proof for each row. Null until there is one. */
  covering(changeId: string, rows: number): Promise<EvidenceInclusion | null>;
}

/**
 * Reads what the proofs need: the stored full subtrees, and for the levels below them the leaves of a few blocks. The time does not
 * depend on the size of the ledger.
 */
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
      const [size, indices] = [Number(head.size), own.map(({ leaf }) => Number(leaf))];
      const hashOf = await treeNodes(db, neededNodes(size, indices));
      return {
        checkpoint: Envelope.parse(head.envelope),
        leaves: indices.map((leaf) => ({ leaf, proof: inclusionProof(size, leaf, hashOf) })),
      };
    },
  };
}

function neededNodes(size: number, indices: readonly number[]): readonly TreeNode[] {
  const needed: TreeNode[] = [];
  const collect = (node: TreeNode): Sha256 => {
    needed.push(node);
    return '0'.repeat(64);
  };
  for (const index of indices) inclusionProof(size, index, collect);
  return needed;
}

/** The hashes of these full subtrees. Throws Error if one is missing. */
async function treeNodes(db: Queryable, nodes: readonly TreeNode[]): Promise<(node: TreeNode) => Sha256> {
  const stored = nodes.filter(({ level }) => level >= STORED_LEVEL);
  const { rows: above } = await db.query<{ level: number; i: string; hash: string }>(
    'select level, i, hash from ledger_nodes where (level, i) in (select * from unnest($1::int[], $2::bigint[]))',
    [stored.map(({ level }) => level), stored.map(({ index }) => index)],
  );
  const below = nodes.filter(({ level }) => level < STORED_LEVEL);
  const { rows: leaves } = await db.query<{ leaf: string; hash: string }>(
    'select leaf, hash from ledger_leaves where leaf = any($1::bigint[])',
    [[...new Set(below.flatMap(leavesOf))]],
  );
  const byNode = new Map(above.map(({ level, i, hash }) => [`${level}/${i}`, hash]));
  const byLeaf = new Map(leaves.map(({ leaf, hash }) => [leaf, hash]));
  const known = new Map<string, Sha256>();
  return (node) =>
    node.level < STORED_LEVEL
      ? subtreeHash(node, (leaf) => byLeaf.get(String(leaf)) ?? missing(`leaf ${leaf}`), known)
      : (byNode.get(`${node.level}/${node.index}`) ?? missing(`subtree ${node.level}/${node.index}`));
}

function leavesOf({ level, index }: TreeNode): readonly number[] {
  return Array.from({ length: 2 ** level }, (_, i) => index * 2 ** level + i);
}

function missing(what: string): never {
  throw new Error(`The tree of the ledger has no ${what}; run: countersign ledger verify`);
}

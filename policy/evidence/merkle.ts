/**
 * Merkle tree over ledger rows, RFC 6962 §2.1: leaf = SHA-256(0x00 ‖ row hash), node = SHA-256(0x01 ‖ left ‖ right).
 * The data of a leaf is the 32-byte ledger hash of the row, which covers the complete row.
 */
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, concatBytes, hexToBytes } from '@noble/hashes/utils.js';
import type { Sha256 } from '../contracts/hash';

const LEAF = new Uint8Array([0]);
const NODE = new Uint8Array([1]);

export const EMPTY_ROOT: Sha256 = bytesToHex(sha256(new Uint8Array(0)));

/** The tree as O(log n) hashes: the roots of its full subtrees, largest first. Sufficient to append and compute the root. */
export interface Frontier {
  readonly size: number;
  readonly roots: readonly Sha256[];
}
export const EMPTY_FRONTIER: Frontier = { size: 0, roots: [] };

/** Adds leaves, given by their row hashes. */
export function appendLeaves(frontier: Frontier, rowHashes: readonly Sha256[]): Frontier {
  const roots = [...frontier.roots];
  let { size } = frontier;
  for (const rowHash of rowHashes) {
    let node = leafHash(rowHash);
    // There is one full subtree for each 1 bit of the size; appending merges them like a binary carry.
    for (let carry = size; carry % 2 === 1; carry = Math.floor(carry / 2)) node = nodeHash(roots.pop() ?? '', node);
    roots.push(node);
    size++;
  }
  return { size, roots };
}

export function frontierRoot({ roots }: Frontier): Sha256 {
  const [last, ...rest] = [...roots].reverse();
  return last === undefined ? EMPTY_ROOT : rest.reduce((right, left) => nodeHash(left, right), last);
}

export function merkleRoot(rowHashes: readonly Sha256[]): Sha256 {
  return frontierRoot(appendLeaves(EMPTY_FRONTIER, rowHashes));
}

/** True if the row is leaf `index` of the tree with this size and root (RFC 9162 §2.1.3.2). Never throws. */
export function verifyInclusion(
  rowHash: Sha256,
  index: number,
  size: number,
  proof: readonly Sha256[],
  root: Sha256,
): boolean {
  if (!Number.isSafeInteger(index) || !Number.isSafeInteger(size) || index < 0 || index >= size) return false;
  if (![rowHash, root, ...proof].every(isHash)) return false;
  let [at, last] = [index, size - 1];
  let node = leafHash(rowHash);
  for (const other of proof) {
    if (last === 0) return false;
    if (at % 2 === 1 || at === last) {
      node = nodeHash(other, node);
      while (at % 2 === 0 && at !== 0) [at, last] = [at / 2, Math.floor(last / 2)];
    } else {
      node = nodeHash(node, other);
    }
    [at, last] = [Math.floor(at / 2), Math.floor(last / 2)];
  }
  return last === 0 && node === root;
}

function isHash(text: string): boolean {
  return /^[0-9a-f]{64}$/.test(text);
}

function leafHash(rowHash: Sha256): Sha256 {
  return bytesToHex(sha256(concatBytes(LEAF, hexToBytes(rowHash))));
}

function nodeHash(left: Sha256, right: Sha256): Sha256 {
  return bytesToHex(sha256(concatBytes(NODE, hexToBytes(left), hexToBytes(right))));
}

/**
 * Inclusion proofs of several leaves in one pass over the tree, at the cost of computing the root once. Throws RangeError
 * if an index is out of range.
 */
export function inclusionProofs(rowHashes: readonly Sha256[], indices: readonly number[]): Sha256[][] {
  for (const index of indices) {
    if (!Number.isInteger(index) || index < 0 || index >= rowHashes.length)
      throw new RangeError(`index: expected 0 to ${rowHashes.length - 1}, got ${index}`);
  }
  const proofs: Sha256[][] = indices.map(() => []);
  const at = [...indices];
  // A node without a sibling moves up unchanged, which gives the tree of RFC 6962.
  for (let level = rowHashes.map(leafHash); level.length > 1; level = parents(level)) {
    at.forEach((index, i) => {
      const sibling = level[index % 2 === 0 ? index + 1 : index - 1];
      if (sibling !== undefined) proofs[i]?.push(sibling);
      at[i] = Math.floor(index / 2);
    });
  }
  return proofs;
}

function parents(level: readonly Sha256[]): Sha256[] {
  const above: Sha256[] = [];
  for (let i = 0; i < level.length; i += 2) {
    const [left = '', right] = [level[i], level[i + 1]];
    above.push(right === undefined ? left : nodeHash(left, right));
  }
  return above;
}

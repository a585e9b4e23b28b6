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

/** Root of a full subtree: of the leaves from `index * 2^level` to below `(index + 1) * 2^level`. */
export interface TreeNode {
  readonly level: number;
  readonly index: number;
}

/** Adds leaves, given by their row hashes. `completed` is called for each full subtree above the leaves that they complete. */
export function appendLeaves(
  frontier: Frontier,
  rowHashes: readonly Sha256[],
  completed?: (node: TreeNode, hash: Sha256) => void,
): Frontier {
  const roots = [...frontier.roots];
  let { size } = frontier;
  for (const rowHash of rowHashes) {
    let node = leafHash(rowHash);
    // There is one full subtree for each 1 bit of the size; appending merges them like a binary carry.
    for (let carry = size, level = 1; carry % 2 === 1; carry = Math.floor(carry / 2), level++) {
      node = nodeHash(roots.pop() ?? '', node);
      completed?.({ level, index: Math.floor(size / 2 ** level) }, node);
    }
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
 * Inclusion proof of a leaf in the tree of this size (RFC 6962 §2.1.1), from the hashes of full subtrees. `hashOf` is asked only for
 * full subtrees, O(log size) of them; of level 0 for the hash of a leaf (`leafHash`). Throws RangeError if the index is out of range.
 */
export function inclusionProof(size: number, index: number, hashOf: (node: TreeNode) => Sha256): Sha256[] {
  if (!Number.isSafeInteger(index) || index < 0 || index >= size)
    throw new RangeError(`index: expected 0 to ${size - 1}, got ${index}`);
  const proof: Sha256[] = [];
  for (let [start, end] = [0, size]; end - start > 1;) {
    const middle = start + largestPowerBelow(end - start);
    const isLeft = index < middle;
    proof.unshift(isLeft ? rangeRoot(middle, end, hashOf) : rangeRoot(start, middle, hashOf));
    [start, end] = isLeft ? [start, middle] : [middle, end];
  }
  return proof;
}

/** Root of the tree over the leaves from `start` to below `end`, a range that RFC 6962 splits off. */
function rangeRoot(start: number, end: number, hashOf: (node: TreeNode) => Sha256): Sha256 {
  const power = largestPowerBelow(end - start);
  if (end - start === 1 || power * 2 === end - start) {
    const level = Math.round(Math.log2(end - start));
    return hashOf({ level, index: start / 2 ** level });
  }
  return nodeHash(rangeRoot(start, start + power, hashOf), rangeRoot(start + power, end, hashOf));
}

/** The largest power of two below `n`, at least 1. */
function largestPowerBelow(n: number): number {
  let power = 1;
  while (power * 2 < n) power *= 2;
  return power;
}

/** Hash of a full subtree from the row hashes of its leaves. `known` keeps every hash on the way, for the next call. */
export function subtreeHash(
  node: TreeNode,
  rowHashOf: (leaf: number) => Sha256,
  known: Map<string, Sha256> = new Map(),
): Sha256 {
  const { level, index } = node;
  const key = `${level}/${index}`;
  const kept = known.get(key);
  if (kept !== undefined) return kept;
  const child = (at: number): Sha256 => subtreeHash({ level: level - 1, index: at }, rowHashOf, known);
  const hash = level === 0 ? leafHash(rowHashOf(index)) : nodeHash(child(2 * index), child(2 * index + 1));
  known.set(key, hash);
  return hash;
}

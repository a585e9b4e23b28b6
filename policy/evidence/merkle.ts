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

/** Inclusion proof of leaf `index` in the tree over `rowHashes`. Throws RangeError if `index` is out of range. */
export function inclusionProof(rowHashes: readonly Sha256[], index: number): Sha256[] {
  if (!Number.isInteger(index) || index < 0 || index >= rowHashes.length)
    throw new RangeError(`index: expected 0 to ${rowHashes.length - 1}, got ${index}`);
  if (rowHashes.length === 1) return [];
  const split = splitOf(rowHashes.length);
  const [left, right] = [rowHashes.slice(0, split), rowHashes.slice(split)];
  return index < split
    ? [...inclusionProof(left, index), merkleRoot(right)]
    : [...inclusionProof(right, index - split), merkleRoot(left)];
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

/** Consistency proof between the tree over the first `size` rows and the tree over all rows. Throws RangeError for an invalid size. */
export function consistencyProof(rowHashes: readonly Sha256[], size: number): Sha256[] {
  if (!Number.isInteger(size) || size < 1 || size > rowHashes.length)
    throw new RangeError(`size: expected 1 to ${rowHashes.length}, got ${size}`);
  return subproof(rowHashes, size, true);
}

/** SUBPROOF of RFC 6962 §2.1.2. `isOlderTree`: the subtree is the complete older tree, whose root the verifier knows. */
function subproof(rowHashes: readonly Sha256[], size: number, isOlderTree: boolean): Sha256[] {
  if (size === rowHashes.length) return isOlderTree ? [] : [merkleRoot(rowHashes)];
  const split = splitOf(rowHashes.length);
  const [left, right] = [rowHashes.slice(0, split), rowHashes.slice(split)];
  return size <= split
    ? [...subproof(left, size, isOlderTree), merkleRoot(right)]
    : [...subproof(right, size - split, false), merkleRoot(left)];
}

/** True if the newer tree extends the older one (RFC 9162 §2.1.4.2): no row was changed or removed. Never throws. */
export function verifyConsistency(
  older: { readonly size: number; readonly root: Sha256 },
  newer: { readonly size: number; readonly root: Sha256 },
  proof: readonly Sha256[],
): boolean {
  if (
    !Number.isSafeInteger(older.size) ||
    !Number.isSafeInteger(newer.size) ||
    older.size < 1 ||
    older.size > newer.size
  )
    return false;
  if (![older.root, newer.root, ...proof].every(isHash)) return false;
  if (older.size === newer.size) return proof.length === 0 && older.root === newer.root;
  let [at, last] = [older.size - 1, newer.size - 1];
  while (at % 2 === 1) [at, last] = [Math.floor(at / 2), Math.floor(last / 2)];
  // The root of a full older tree is not part of the proof: use it as the first hash.
  const [first, ...rest] = at === 0 ? [older.root, ...proof] : proof;
  if (first === undefined) return false;
  let [oldNode, newNode] = [first, first];
  for (const other of rest) {
    if (last === 0) return false;
    if (at % 2 === 1 || at === last) {
      [oldNode, newNode] = [nodeHash(other, oldNode), nodeHash(other, newNode)];
      while (at % 2 === 0 && at !== 0) [at, last] = [at / 2, Math.floor(last / 2)];
    } else {
      newNode = nodeHash(newNode, other);
    }
    [at, last] = [Math.floor(at / 2), Math.floor(last / 2)];
  }
  return last === 0 && oldNode === older.root && newNode === newer.root;
}

/** The largest power of two below n. */
function splitOf(n: number): number {
  let split = 1;
  while (split * 2 < n) split *= 2;
  return split;
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

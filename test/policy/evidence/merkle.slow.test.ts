import { createHash } from 'node:crypto';
import fc from 'fast-check';
import {
  appendLeaves,
  EMPTY_FRONTIER,
  EMPTY_ROOT,
  frontierRoot,
  inclusionProof,
  merkleRoot,
  subtreeHash,
  verifyInclusion,
} from '../../../policy/evidence/merkle';

const rows = Array.from({ length: 40 }, (_, i) => createHash('sha256').update(`row ${i}`).digest('hex'));

const proofOf = (tree: readonly string[], index: number): string[] =>
  inclusionProof(tree.length, index, (node) => subtreeHash(node, (leaf) => tree[leaf] ?? ''));

/** An independent, recursive implementation of RFC 6962 §2.1. */
function reference(hashes: readonly string[]): string {
  const sha = (prefix: number, ...parts: string[]): string =>
    createHash('sha256')
      .update(Buffer.from([prefix]))
      .update(Buffer.from(parts.join(''), 'hex'))
      .digest('hex');
  if (hashes.length === 1) return sha(0, hashes[0] ?? '');
  let split = 1;
  while (split * 2 < hashes.length) split *= 2;
  return sha(1, reference(hashes.slice(0, split)), reference(hashes.slice(split)));
}

it('has the root of RFC 6962, computed at once and row by row', () => {
  expect(EMPTY_ROOT).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
  expect(merkleRoot([])).toBe(EMPTY_ROOT);
  let frontier = EMPTY_FRONTIER;
  for (let n = 1; n <= rows.length; n++) {
    frontier = appendLeaves(frontier, rows.slice(n - 1, n));
    expect(frontierRoot(frontier)).toBe(reference(rows.slice(0, n)));
    expect(merkleRoot(rows.slice(0, n))).toBe(reference(rows.slice(0, n)));
    expect(frontier.size).toBe(n);
  }
});

it('proves the inclusion of every row at its index and at no other', () => {
  for (let n = 1; n <= rows.length; n++) {
    const tree = rows.slice(0, n);
    const root = merkleRoot(tree);
    for (const [i, proof] of tree.map((_, index) => proofOf(tree, index)).entries()) {
      expect(verifyInclusion(rows[i] ?? '', i, n, proof, root)).toBe(true);
      expect(verifyInclusion(rows[(i + 1) % rows.length] ?? '', i, n, proof, root)).toBe(false);
      if (n > 1) expect(verifyInclusion(rows[i] ?? '', (i + 1) % n, n, proof, root)).toBe(false);
      expect(verifyInclusion(rows[i] ?? '', i, n, [...proof, root], root)).toBe(false);
      if (proof.length > 0) expect(verifyInclusion(rows[i] ?? '', i, n, proof.slice(1), root)).toBe(false);
    }
  }
});

it('names each full subtree once, when its last leaf is added, with the hash of its leaves', () => {
  const seen = new Map<string, string>();
  let frontier = EMPTY_FRONTIER;
  for (const batch of [rows.slice(0, 7), rows.slice(7, 8), rows.slice(8, 29), rows.slice(29)])
    frontier = appendLeaves(frontier, batch, ({ level, index }, hash) => {
      expect(seen.has(`${level}/${index}`)).toBe(false);
      seen.set(`${level}/${index}`, hash);
    });
  const full = [1, 2, 3, 4, 5].flatMap((level) =>
    Array.from({ length: Math.floor(rows.length / 2 ** level) }, (_, index) => ({ level, index })),
  );
  expect(seen.size).toBe(full.length);
  for (const { level, index } of full)
    expect(seen.get(`${level}/${index}`)).toBe(reference(rows.slice(index * 2 ** level, (index + 1) * 2 ** level)));
});

it('rejects altered proofs and invalid input without throwing', () => {
  const root = merkleRoot(rows);
  fc.assert(
    fc.property(fc.nat({ max: 39 }), fc.nat(), fc.string({ maxLength: 70 }), (i, at, junk) => {
      const proof = proofOf(rows, i);
      return !verifyInclusion(rows[i] ?? '', i, 40, proof.with(at % proof.length, junk), root);
    }),
  );
  expect(verifyInclusion(rows[0] ?? '', -1, 40, [], root)).toBe(false);
  expect(verifyInclusion(rows[0] ?? '', 0.5, 40, [], root)).toBe(false);
  expect(() => proofOf(rows, 40)).toThrow('index');
});

it('rejects a proof that matches the root but not the claimed size', () => {
  const leaf = (hash: string): string =>
    createHash('sha256')
      .update(Buffer.from([0]))
      .update(Buffer.from(hash, 'hex'))
      .digest('hex');
  const [first = '', second = ''] = rows;
  const root = merkleRoot([first, second]);
  expect(verifyInclusion(first, 0, 2, [leaf(second)], root)).toBe(true);
  expect(verifyInclusion(first, 0, 4, [leaf(second)], root)).toBe(false);
  expect(verifyInclusion(second, 0, 1, [leaf(first)], root)).toBe(false);
});

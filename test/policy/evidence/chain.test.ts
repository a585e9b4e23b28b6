import fc from 'fast-check';
import { GENESIS, ledgerHash, type LedgerRow } from '../../../policy/contracts/ledger';
import { verifyChain, type StoredRow } from '../../../policy/evidence/chain';

function chainOf(length: number): StoredRow[] {
  const rows: StoredRow[] = [];
  for (let n = 0; n < length; n++) {
    const row: LedgerRow = {
      changeId: 'a'.repeat(64),
      n,
      prev: rows.at(-1)?.hash ?? GENESIS,
      kind: 'refused',
      at: '2026-01-02T03:04:05.000Z',
      actor: 'x',
      body: { n },
    };
    rows.push({ row, hash: ledgerHash(row) });
  }
  return rows;
}

it('accepts a complete chain and the empty one', () => {
  const rows = chainOf(5);
  expect(verifyChain(rows)).toEqual({ ok: true, length: 5, head: rows[4]?.hash });
  expect(verifyChain([])).toEqual({ ok: true, length: 0, head: GENESIS });
});

it('reports a changed, removed, repeated or moved row at its index', () => {
  const rows = chainOf(6);
  const place = fc.nat({ max: 5 });
  fc.assert(
    fc.property(
      place,
      place,
      fc.constantFrom('actor', 'at', 'kind', 'body', 'prev', 'n', 'changeId', 'hash', 'remove', 'repeat', 'swap'),
      (i, j, what) => {
        const bad = structuredClone(rows) as { row: Record<string, unknown>; hash: string }[];
        const at = bad[i] ?? fail('no row');
        if (what === 'remove') bad.splice(i, 1);
        else if (what === 'repeat') bad.splice(i, 0, structuredClone(at));
        else if (what === 'swap') [bad[i], bad[j]] = [bad[j] ?? at, at];
        else if (what === 'hash') at.hash = 'f'.repeat(64);
        else
          at.row[what] = {
            actor: 'y',
            at: '2026-01-02T03:04:06.000Z',
            kind: 'closed',
            body: {},
            prev: 'e'.repeat(64),
            n: 77,
            changeId: 'b'.repeat(64),
          }[what];
        const unchanged = (what === 'swap' && i === j) || (what === 'remove' && i === 5);
        expect(verifyChain(bad as never).ok).toBe(unchanged);
        // Only the expected head reveals that rows at the end are missing.
        if (what === 'remove' && i === 5) expect(verifyChain(bad as never, rows[5]?.hash).ok).toBe(false);
      },
    ),
  );
});

it.each([
  ['names another predecessor', { prev: 'e'.repeat(64) }, /hash of the previous row/],
  ['counts on from another number', { n: 7 }, /expected n 5/],
  ['is of another change', { changeId: 'b'.repeat(64) }, /another change/],
])('finds a last row whose hash was made anew and that %s', (_what, change, problem) => {
  const rows = chainOf(6);
  const row: LedgerRow = { ...(rows[5]?.row ?? fail('no row')), ...change };
  expect(verifyChain([...rows.slice(0, 5), { row, hash: ledgerHash(row) }])).toEqual({
    ok: false,
    n: 5,
    problem: expect.stringMatching(problem),
  });
});

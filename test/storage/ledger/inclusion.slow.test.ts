import { verifyInclusion } from '../../../policy/evidence/merkle';
import { Checkpoint } from '../../../policy/evidence/predicates';
import { createCheckpointer } from '../../../storage/ledger/checkpoint';
import { inclusionReader } from '../../../storage/ledger/inclusion';
import { createLedger } from '../../../storage/ledger/ledger';
import { verifyLedger } from '../../../storage/ledger/verify-ledger';
import { verifyEnvelope } from '../../../signing/verify-envelope';
import { lookup, testKey } from '../../support/keys';
import { useDatabase } from '../../support/postgres';

/** When the tests of this file begin: the database refuses times that are far from its clock. */
let AT: string;
beforeAll(() => void (AT = new Date().toISOString()));
const id = (n: number): string => n.toString(16).padStart(64, '0');
const key = testKey('committer', 'committer');

/** Nine reviews of 131 rows in checkpoints of 500, so that several full subtrees of 256 leaves are stored. */
const [REVIEWS, ROWS] = [9, 131];

const database = useDatabase();
beforeAll(async () => {
  const ledger = createLedger(database.open('cs_review'));
  for (let review = 1; review <= REVIEWS; review++) {
    const facts = Array.from({ length: ROWS }, (_, i) => ({
      kind: 'findings' as const,
      at: AT,
      body: { review, i },
      factKey: `fact ${i}`,
    }));
    await ledger.append(id(review), facts);
  }
  const checkpointer = createCheckpointer({
    db: database.open('cs_commit'),
    key,
    now: () => new Date(AT),
    maxRows: 500,
  });
  while ((await checkpointer.checkpoint()) !== null);
}, 120_000);

const rowsOf = (review: number) => createLedger(database.open('cs_reader')).read(id(review));

it('proves every row of every review against the signed head that covers it first', async () => {
  const reader = inclusionReader(database.open('cs_gateway'));
  for (let review = 1; review <= REVIEWS; review++) {
    const rows = await rowsOf(review);
    const inclusion = await reader.covering(id(review), rows.length);
    if (inclusion === null) throw new Error('expected a covering checkpoint');
    const head = verifyEnvelope(inclusion.checkpoint, key.publicKey, 'checkpoint');
    if (!head.ok) throw new Error(head.message);
    const { size, rootHash } = Checkpoint.parse(head.predicate);
    expect(inclusion.leaves).toHaveLength(ROWS);
    inclusion.leaves.forEach(({ leaf, proof }, i) => {
      expect(verifyInclusion(rows[i]?.hash ?? '', leaf, size, proof, rootHash)).toBe(true);
    });
  }
});

it('reads no more rows for a larger ledger than the blocks and subtrees on the path', async () => {
  const read: number[] = [];
  const db = database.open('cs_gateway');
  const counting = inclusionReader({
    query: async (text, values, name) => {
      const result = await db.query(text, values, name);
      read.push(result.rows.length);
      return result as never;
    },
  });
  await counting.covering(id(1), 1);
  expect(read.reduce((sum, rows) => sum + rows, 0)).toBeLessThan(2 * 256 + 20);
});

it('has no proof of a review with a row that no checkpoint covers yet', async () => {
  await createLedger(database.open('cs_review')).append(id(50), [
    { kind: 'findings', at: AT, body: {}, factKey: 'later' },
  ]);
  expect(await inclusionReader(database.open('cs_gateway')).covering(id(50), 1)).toBeNull();
});

it.each([
  ['changed', `update ledger_nodes set hash = repeat('a', 64) where level = 8 and i = 1`],
  ['missing', `delete from ledger_nodes where level = 9 and i = 0`],
])('ledger verify detects a stored subtree that is %s', async (_, sql) => {
  const trust = { keys: lookup(key), development: false };
  expect(await verifyLedger(database.open('cs_reader'), trust)).toMatchObject({ ok: true });
  const admin = database.open('admin');
  await admin.transaction(async (tx) => {
    await tx.query('set local session_replication_role = replica');
    await tx.query('create temporary table kept on commit preserve rows as select * from ledger_nodes');
    await tx.query(sql);
  });
  const { problems } = await verifyLedger(database.open('cs_reader'), trust);
  expect(problems).toEqual([expect.stringMatching(/^subtree (8\/1|9\/0): the stored hash is missing or differs/)]);
  await admin.transaction(async (tx) => {
    await tx.query('set local session_replication_role = replica');
    await tx.query('delete from ledger_nodes');
    await tx.query('insert into ledger_nodes select * from kept');
    await tx.query('drop table kept');
  });
});

import { nextRow } from '../../../activities/committer/settlement';
import type { LedgerEntry } from '../../../policy/evidence/ledger-port';
import { createLedger } from '../../../storage/ledger/ledger';
import { ledgerWithChangeLock, type WithChangeLock } from '../../../storage/ledger/with-change-lock';
import { memoryLedger, memoryWithChangeLock } from '../../support/memory-ledger';
import { useDatabase } from '../../support/postgres';
import type { Database } from '../../../storage/database/database';

const ID = 'a'.repeat(64);
const entry = (kind: LedgerEntry['kind'], body: LedgerEntry['body'] = {}): LedgerEntry => ({
  kind,
  at: new Date().toISOString(),
  factKey: kind,
  body,
});

const database = useDatabase();
let db: Database;
beforeAll(() => void (db = database.open('cs_commit')));

const memory = memoryLedger();
const ledgers: readonly (readonly [string, () => WithChangeLock])[] = [
  ['in PostgreSQL', () => ledgerWithChangeLock(db)],
  ['in memory', () => memoryWithChangeLock(memory)],
];

describe.each(ledgers)('the lock of a change %s', (_name, make) => {
  it('gives the actor of its rows, so that their numbers and hashes are known before they are written', async () => {
    const entries = [entry('decided', { reason: 'withdrawn', text: 'ä"\u2028' }), entry('effect'), entry('closed')];
    const { expected, appended } = await make()(ID, async (ledger, actor) => {
      const known = [...(await ledger.read(ID))];
      for (const each of entries) known.push(nextRow(ID, known.at(-1), each, actor));
      return { expected: known, appended: await ledger.append(ID, entries) };
    });
    expect(appended.map(({ stored }) => stored)).toEqual(expected);
  });
});

it('in PostgreSQL lets no one append to the change, but to others, and undoes what a failed work wrote', async () => {
  const outside = createLedger(db);
  const [id, other] = ['b'.repeat(64), 'c'.repeat(64)];
  const order: string[] = [];
  let waiting: Promise<unknown> = Promise.resolve();
  const failed = ledgerWithChangeLock(db)(id, async (ledger) => {
    waiting = outside.append(id, [entry('refused')]).then(() => order.push('outside'));
    await ledger.append(id, [entry('decided')]);
    await outside.append(other, [entry('refused')]);
    order.push('inside');
    throw new Error('no');
  });
  await expect(failed).rejects.toThrow('no');
  await waiting;
  expect(order).toEqual(['inside', 'outside']);
  expect((await outside.read(id)).map(({ row }) => row.kind)).toEqual(['refused']);
});

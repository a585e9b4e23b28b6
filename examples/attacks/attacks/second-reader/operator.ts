/** The database role of the operator, without a key that is trusted. */
import { setTimeout as pause } from 'node:timers/promises';
import { query } from '../../../../dev/query';
import { signPredicate } from '../../../../signing/envelope';
import { newKeyPair } from '../../../../signing/keys';
import { refundOrder, topUp, withoutRow, type Attack, type Attempt } from '../../attack';
import { ifRefused } from '../../if-refused';
import type { Testbed } from '../../testbed';
import { ACCEPTED, at, envelope, named, paidOut, send, verifiedEnd } from './common';

/** Without the operator's key, but with the operator's role in the database: an unfreeze with the highest number. */
async function forgedUnfreeze(testbed: Testbed): Promise<Attempt> {
  const file = testbed.dev.setup.keys.operator.path;
  const cli = (verb: string) => testbed.cli('target', verb, 'shop', '--reason', 'audit', '--operator-key', file);
  const frozen = await cli('freeze');
  if (frozen.code !== 0) throw new Error(`freeze: ${frozen.err}`);
  const mallory = newKeyPair();
  // The database takes the next number only, so the highest one is refused.
  const numbers = [2_147_483_647, await nextFreeze(testbed)];
  for (const n of numbers) {
    const freeze = { target: 'shop', n, frozen: false, reason: 'ok', keyId: mallory.keyId, at: at(0) };
    const forged = JSON.stringify(signPredicate('target-freeze', freeze, mallory));
    await ifRefused(
      asOperator(testbed, 'target_freezes', 'target, n, envelope', ['shop', n, forged]),
      ['number of the freeze'],
      null,
    );
  }
  const changeId = await testbed.submit(topUp(23));
  const early = await paidOut(testbed, changeId, 5_000);
  const again = await cli('unfreeze');
  const later = early || (await paidOut(testbed, changeId, 60_000));
  await testbed.baseline();
  if (early) return withoutRow(changeId, '', 'a change was committed to a frozen target');
  return withoutRow(
    changeId,
    'the freeze of the operator, until the operator ends it',
    later ? null : `the operator cannot unfreeze: exit code ${again.code} ${again.err.slice(0, 200)}`,
  );
}

/** The number that the next freeze of the target must have. */
async function nextFreeze(testbed: Testbed): Promise<number> {
  const url = testbed.dev.setup.databaseUrls.cs_operator;
  const [row] = await query<{ n: number }>(url, `select max(n) + 1 as n from target_freezes where target = 'shop'`);
  if (row === undefined) throw new Error('The target was not frozen');
  return row.n;
}

/** Inserts a row with the operator's role. */
async function asOperator(testbed: Testbed, table: string, columns: string, values: readonly unknown[]): Promise<void> {
  const places = values.map((_, i) => `$${i + 1}`).join(', ');
  await query(
    testbed.dev.setup.databaseUrls.cs_operator,
    `insert into ${table} (${columns}) values (${places})`,
    values,
  );
}

/** Removes what an attack left in an append-only table, as the superuser. */
async function erase(testbed: Testbed, table: string, where: string): Promise<void> {
  await testbed.ledger(
    `alter table ${table} disable trigger append_only; delete from ${table} where ${where}; alter table ${table} enable trigger append_only`,
  );
  await pause(1_100);
}

/** With the operator's role in the database and another key: rows in the tables that only an operator writes. */
function unsignedOperator(
  name: string,
  id: number,
  table: string,
  columns: string,
  values: (testbed: Testbed, keyId: string) => unknown[],
  { refusal, expected = ACCEPTED }: { readonly refusal: string | null; readonly expected?: string },
): Attack {
  return named(name, async (testbed) => {
    const key = await testbed.operator.addKey({ kind: 'approver', subject: { type: 'person', id: 'alice' } });
    const given = values(testbed, key.keyId);
    const written = asOperator(testbed, table, columns, given).then(() => 'taken');
    const said = await ifRefused(written, refusal === null ? [] : [refusal], 'refused');
    await pause(1_100);
    try {
      const changeId = await testbed.submit(refundOrder(id));
      const status = await ifRefused(testbed.waiting(changeId), ['The review'], null);
      if (status === null) return withoutRow(changeId, '', 'an honest change is not opened or not shown');
      const codes = await send(testbed, status, testbed.sign(status, key));
      if (codes.join() !== expected) return withoutRow(changeId, '', `an approver's answer gives ${codes.join()}`);
      // A revocation counts also without a valid signature (docs/security.md). Then the approver gets another key.
      if (expected !== ACCEPTED) {
        const other = await testbed.operator.addKey({ kind: 'approver', subject: { type: 'person', id: 'alice' } });
        await send(testbed, status, testbed.sign(status, other));
      }
      const by = refusal === null ? `the row counts: ${expected}` : `database: ${refusal}`;
      if (refusal !== null && said !== 'refused') return withoutRow(changeId, by, 'the database took the row');
      return withoutRow(changeId, by, await verifiedEnd(testbed, changeId));
    } finally {
      await erase(testbed, table, `${columns.split(',')[0] ?? ''} = '${String(given[0])}'`);
      await testbed.baseline();
    }
  });
}

/** Rows of the policy are written only by a function, which checks their number and what the statement binds. */
const NO_INSERT = 'permission denied for table policy_revisions';

const forgedRevocation = (keyId: string): string => {
  const predicate = { keyId, reason: 'left', revokedAt: at(0) };
  const subject = [{ name: 'key', digest: { sha256: keyId } }];
  return JSON.stringify(envelope('key-revocation', subject, predicate, newKeyPair()));
};

export const OPERATOR: readonly Attack[] = [
  named('an unfreeze with the operator’s role and another key', forgedUnfreeze),
  unsignedOperator(
    'a revocation with the operator’s role and another key',
    6,
    'key_revocations',
    'key_id, envelope',
    (_, keyId) => [keyId, forgedRevocation(keyId)],
    { refusal: null, expected: 'revoked_key' },
  ),
  unsignedOperator(
    'a policy revision with the operator’s role and another key',
    7,
    'policy_revisions',
    'revision, bundle_sha, source, envelope',
    () => [2_147_483_647, 'a'.repeat(64), 'version: 1', forgedRevocation('x')],
    { refusal: NO_INSERT },
  ),
  unsignedOperator(
    'a policy revision with the operator’s role and no signature',
    8,
    'policy_revisions',
    'revision, bundle_sha, source',
    () => [2_147_483_646, 'b'.repeat(64), ''],
    { refusal: NO_INSERT },
  ),
];

/** Attacks on the circuit breakers, in a second set-up that has them on. */
import { setTimeout as pause } from 'node:timers/promises';
import { ENDED, ifRefused } from '../if-refused';
import { signPredicate } from '../../../signing/envelope';
import { newKeyPair } from '../../../signing/keys';
import { heldBy, topUp, withoutRow, type Attack } from '../attack';
import { query } from '../../../dev/query';
import type { Testbed } from '../testbed';

const TENANT = 'default';
const TOOL = 'SQLDryRun';
/** The id of a workflow that could answer for the breakers. */
const BREAKER_ID = `countersign-breaker:${TENANT}:${TOOL}`;
const FORGED = 'approved by alice '.repeat(3_000);
const READ_FROM_DATABASE = 'breakers are read from the database: the honest change commits';

/** A change that a guardian forbids, so that it ends at once. */
const forbidden = (n: number) => ({
  ...topUp(1),
  raw: `do $$ begin execute E'dr\\x6fp table orders'; end $$ -- ${n}`,
});

export const BREAKERS: readonly Attack[] = [
  {
    name: 'a workflow under the id of the breakers that no worker runs',
    async run(testbed) {
      const own = await testbed.withBreakers();
      await ifRefused(own.temporal.workflow.getHandle(BREAKER_ID).terminate('maintenance'), ENDED, null);
      await own.temporal.workflow.start('mallory', { workflowId: BREAKER_ID, taskQueue: 'mallory-dead' });
      const changeId = await own.submit(topUp(4));
      const other = await heldBy(own, changeId, 90_000);
      await own.temporal.workflow.getHandle(BREAKER_ID).terminate('done');
      await own.baseline();
      const held = other[0] === 'closed' ? null : `an honest change is held by ${other.join(', ')}`;
      return withoutRow(changeId, READ_FROM_DATABASE, held);
    },
  },
  {
    name: 'a forged reading of the breakers with 50 kB of text',
    async run(testbed) {
      const own = await testbed.withBreakers();
      const view = {
        validatorId: 'guardian.orders',
        state: 'open',
        since: Date.now(),
        halfOpenAt: Date.now() + 600_000,
        probe: null,
        evidence: [FORGED],
      };
      const reading = { tenant: TENANT, sourceTool: TOOL, breakers: [view], resets: [], ignored: 0 };
      await ifRefused(own.temporal.workflow.getHandle(BREAKER_ID).terminate('maintenance'), ENDED, null);
      const stop = await own.attacker.answerQueries(BREAKER_ID, reading);
      const changeId = await own.submit(topUp(5));
      await heldBy(own, changeId, 60_000);
      await stop();
      await own.baseline();
      const rows = await own.rows(changeId);
      const closed = rows.find(({ kind }) => kind === 'closed')?.body;
      if (closed?.['state'] !== 'COMMITTED')
        return withoutRow(changeId, '', `an honest change is ${JSON.stringify(closed)}`);
      const isForged = JSON.stringify(rows).includes('approved by alice');
      return withoutRow(changeId, READ_FROM_DATABASE, isForged ? 'the forged text is in signed evidence' : null);
    },
  },
  {
    name: 'a reset of an open breaker that no operator signed',
    async run(testbed) {
      const own = await testbed.withBreakers();
      for (let i = 0; i < 12; i++) await own.ended(await own.submit(forbidden(i)));
      await pause(1_000);
      const first = await heldBy(own, await own.submit(topUp(3)));
      if (!first.includes('guardian.circuit_open')) throw new Error(`The breaker is not open: ${first.join()}`);
      const message = { validatorId: null, actor: 'alice', reason: 'all is well' };
      const breaker = own.temporal.workflow.getHandle(BREAKER_ID);
      await ifRefused(breaker.executeUpdate('reset', { args: [message] }), ENDED, null);
      await writeReset(own);
      const changeId = await own.submit(topUp(2));
      const held = await heldBy(own, changeId);
      await closeBreakers(own);
      const isHeld = held.includes('guardian.circuit_open');
      return withoutRow(changeId, 'guardian.circuit_open', isHeld ? null : 'the next change is not held');
    },
  },
];

/** A reset as the role of an operator writes it, signed with a key that no one trusts. */
async function writeReset(testbed: Testbed): Promise<void> {
  const mallory = newKeyPair();
  const [tenant, sourceTool, issuedAt] = [TENANT, TOOL, new Date().toISOString()];
  const reset = { tenant, sourceTool, validatorId: null, reason: 'all is well', issuedAt, keyId: mallory.keyId };
  await query(
    testbed.dev.setup.databaseUrls.cs_operator,
    `insert into breaker_rows (tenant, source_tool, kind, body) values ($1, $2, 'reset', $3)`,
    [TENANT, TOOL, JSON.stringify(signPredicate('breaker-reset', reset, mallory))],
  );
}

/** The operator closes the breakers, so that they do not hold the changes of other attacks. */
async function closeBreakers(testbed: Testbed): Promise<void> {
  const key = ['--operator-key', testbed.dev.setup.keys.operator.path];
  const { code, err } = await testbed.cli('breaker', 'reset', TENANT, TOOL, '--reason', 'the attack is over', ...key);
  if (code !== 0) throw new Error(`breaker reset: ${err}`);
  const held = await heldBy(testbed, await testbed.submit(topUp(6)));
  if (held[0] !== 'closed') throw new Error(`After the reset a change is held by ${held.join()}`);
  await testbed.baseline();
}

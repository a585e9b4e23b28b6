import { startNotices } from '../../../workers/notices/start-notices';
import { eventually } from '../../support/eventually';
import { useFreshDatabase } from '../../support/postgres';

const database = useFreshDatabase();
const CHANGE = 'a'.repeat(64);

test.each(['INTERVENTION_REQUIRED', 'COMMITTED'])(
  'a review in the state %s whose rows cannot be read is looked at again after ten minutes',
  async (state) => {
    const db = database.open('admin');
    const closed = state === 'COMMITTED';
    await db.query(
      `insert into reviews (change_id, tenant, target, source_tool, input_sha, state, mode, pending, opened_at, updated_at, closed_at, summary)
       values ($1, 'acme', 'shop', 'SQLDryRun', '', $2, 'enforced', 0, now(), now(), case when $3 then now() end, '')`,
      [CHANGE, state, closed],
    );
    await db.query('insert into notice_looks (change_id, look_at, closed) values ($1, now(), $2)', [CHANGE, closed]);
    const errors: object[] = [];
    const notices = startNotices({
      db,
      ledger: { read: () => Promise.reject(new Error('too many rows')) },
      plans: null as never,
      keys: null as never,
      settings: { channels: new Map() } as never,
      logger: { info: () => {}, warn: () => {}, error: (facts: object) => void errors.push(facts) },
      count: () => {},
      everyMs: 20,
    });
    await eventually('the failure is reported', () => errors.length > 0);
    await notices.stop();
    const { rows } = await db.query(`select ended, look_at > now() + interval '9 minutes' as later from notice_looks`);
    expect(rows).toEqual([{ ended: false, later: true }]);
  },
);

import { doctor } from '../../cli/doctor/doctor';
import { useFreshDatabase } from '../support/postgres';
import { temporaryFolder } from './run-command';

const { path } = temporaryFolder();
const database = useFreshDatabase();

test('a check that cannot be done is a failure, the others are still done, and an approver may be missing only if links follow', async () => {
  await database.open('admin').query('drop table target_freezes');
  const env = {
    COUNTERSIGN_STATE_DIR: path('none'),
    COUNTERSIGN_DATABASE_URL: database.url('cs_gateway'),
    TEMPORAL_ADDRESS: '127.0.0.1:9',
  };
  const [checks, inviting] = await Promise.all([
    doctor(env, { offline: true }),
    doctor(env, { offline: true, inviting: true }),
  ]);
  expect(inviting.filter(({ ok }, i) => ok !== checks[i]?.ok).map(({ name }) => name)).toEqual(['approvers']);
  expect(checks.map(({ name, ok }) => [name, ok])).toEqual([
    ['Node', true],
    ['trust', false],
    ['Temporal server', false],
    ['Countersign database', true],
    ['clock', true],
    ['role cs_gateway', false],
    ['approvers', false],
    ['policy', false],
    ['freezes', false],
  ]);
  expect(checks.at(-1)?.detail).toContain('target_freezes');
});

import { COMMIT_ATTEMPT_MS, SETTLE_ATTEMPT_MS } from '../../policy/contracts/limits';
import { GitSettings } from '../../source-tools/git/staging-settings';
import { HttpSettings } from '../../source-tools/http/staging-settings';
import { SqlSettings, toSqlSettings, waitingForMarker } from '../../source-tools/sql/staging-settings';

const accepts = (schema: typeof SqlSettings | typeof GitSettings | typeof HttpSettings, settings: object): boolean =>
  schema.safeParse(settings).success;

it.each(['statementTimeoutMs', 'transactionTimeoutMs'])(
  'refuses a limit for SQL that leaves an attempt to commit no time for anything else: %s',
  (name) => {
    expect(accepts(SqlSettings, { [name]: COMMIT_ATTEMPT_MS })).toBe(false);
    expect(accepts(SqlSettings, { [name]: COMMIT_ATTEMPT_MS - 60_000 })).toBe(true);
  },
);

it.each([
  ['connecting to PostgreSQL', SqlSettings, 'connectTimeoutMs'],
  ['a run of git', GitSettings, 'timeoutMs'],
  ['an HTTP request', HttpSettings, 'timeoutMs'],
] as const)('refuses a limit for %s that an attempt to settle a commit cannot use', (_, schema, name) => {
  expect(accepts(schema, { [name]: SETTLE_ATTEMPT_MS })).toBe(false);
});

it('waits for the marker as long as for a statement, but not longer than an attempt to settle a commit can', () => {
  expect(waitingForMarker(toSqlSettings({ statementTimeoutMs: 3_000 })).lockTimeoutMs).toBe(3_000);
  const { connectTimeoutMs, lockTimeoutMs } = waitingForMarker(
    toSqlSettings({ statementTimeoutMs: 240_000, connectTimeoutMs: 15_000 }),
  );
  // Connecting, the beginning of the transaction, the marker.
  expect(2 * connectTimeoutMs + lockTimeoutMs).toBeLessThan(SETTLE_ATTEMPT_MS);
});

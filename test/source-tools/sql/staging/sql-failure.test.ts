import { DatabaseError } from 'pg';
import { toConnectFailure, toSqlFailure, toTargetFailure } from '../../../../source-tools/sql/staging/sql-failure';

function error(code: string): DatabaseError {
  return Object.assign(new DatabaseError('rejected', 8, 'error'), { code, severity: 'ERROR' });
}
const ofOwnQuery = (code: string) => toTargetFailure('shop', toSqlFailure(error(code), 'the marker'));

it('takes a read-only server for an unavailable target, and a missing table or grant for one that is not set up', () => {
  expect(ofOwnQuery('25006')).toMatchObject({ type: 'TARGET_UNAVAILABLE', nonRetryable: false });
  for (const code of ['42P01', '42501', '0A000'])
    expect(ofOwnQuery(code)).toMatchObject({ type: 'CONFIGURATION_ERROR', nonRetryable: true });
});

it('takes a server that does not begin a transaction that writes for a standby', () => {
  expect(toConnectFailure('shop', error('0A000'))).toMatchObject({ type: 'TARGET_UNAVAILABLE', nonRetryable: false });
  expect(toConnectFailure('shop', error('42704'))).toMatchObject({ type: 'CONFIGURATION_ERROR' });
});

it('leaves it a refusal if a statement of the change is rejected as read-only, because a function can raise that', () => {
  expect(toSqlFailure(error('25006'), 'statement 1')).toMatchObject({ kind: 'refused' });
});

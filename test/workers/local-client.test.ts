import { knownSettings, localClient, operatorClient } from '../../workers/local-client';

const STATE = { COUNTERSIGN_STATE_DIR: '/nowhere' };
const OPERATOR = { ...STATE, COUNTERSIGN_OPERATOR_DATABASE_URL: 'postgres://cs_operator@db/countersign' };

test('the database of the operator suffices for its commands, and its role is not used for those of the gateway', () => {
  expect(operatorClient(OPERATOR)).toEqual({
    operatorDatabaseUrl: OPERATOR.COUNTERSIGN_OPERATOR_DATABASE_URL,
    operators: [],
  });
  expect(() => localClient(OPERATOR)).toThrow('COUNTERSIGN_DATABASE_URL is not set');
  expect(() => operatorClient(STATE)).toThrow('COUNTERSIGN_OPERATOR_DATABASE_URL is not set');
  expect(operatorClient({ ...STATE, COUNTERSIGN_DATABASE_URL: 'postgres://db/x' }).operatorDatabaseUrl).toBe(
    'postgres://db/x',
  );
});

test('the address of Temporal has a default without a database', () => {
  expect(knownSettings(STATE)).toMatchObject({ temporalAddress: '127.0.0.1:7233', namespace: 'default' });
});

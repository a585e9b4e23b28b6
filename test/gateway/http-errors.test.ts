import { CountersignError, ERROR_CODES } from '../../client/errors';
import { toCountersignError, toErrorResponse } from '../../gateway/http-errors';
import { policyMoved } from '../../policy/contracts/failure';

it.each(ERROR_CODES.map((code) => [code, toErrorResponse(new CountersignError(code, 'connect db.internal'))] as const))(
  'says with %s, if it is an error of a server, that retrying is safe, and nothing of the cause',
  (_code, { status, body }) => {
    const { message } = body.error;
    if (status < 500) expect(message).toBe('connect db.internal');
    else expect(message).toMatch(/retrying is safe$/i);
  },
);

it('refuses an answer to a review whose plan cannot be computed here, with the reason, and not as an error of the server', () => {
  const { status, body } = toErrorResponse(toCountersignError(policyMoved('Plan 1 compiles to another one')));
  expect([status, body.error]).toEqual([422, { code: 'refused', message: 'Plan 1 compiles to another one' }]);
});

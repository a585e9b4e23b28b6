import { CountersignError, ERROR_CODES } from '../../client/errors';
import { toErrorResponse } from '../../gateway/http-errors';

it.each(ERROR_CODES.map((code) => [code, toErrorResponse(new CountersignError(code, 'connect db.internal'))] as const))(
  'says with %s, if it is an error of a server, that retrying is safe, and nothing of the cause',
  (_code, { status, body }) => {
    const { message } = body.error;
    if (status < 500) expect(message).toBe('connect db.internal');
    else expect(message).toMatch(/retrying is safe$/i);
  },
);

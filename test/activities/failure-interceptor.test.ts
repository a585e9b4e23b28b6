import { ApplicationFailure, CancelledFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { failureInterceptor } from '../../activities/failure-interceptor';
import { CountersignFailure, digestMismatch } from '../../policy/contracts/failure';
import { FailureType } from '../../policy/contracts/failure-type';

async function thrownBy(error: unknown): Promise<unknown> {
  const failing = async (): Promise<never> => {
    throw error;
  };
  try {
    return await new MockActivityEnvironment(
      {},
      { interceptors: [failureInterceptor], logger: new DefaultLogger('ERROR') },
    ).run(failing);
  } catch (caught) {
    return caught;
  }
}

const converted = async (failure: CountersignFailure): Promise<ApplicationFailure> => {
  const caught = await thrownBy(failure);
  if (!(caught instanceof ApplicationFailure)) throw new Error(`expected an ApplicationFailure, got ${String(caught)}`);
  return caught;
};

it('keeps type, message, details and whether the failure is retryable', async () => {
  expect(await converted(digestMismatch('diffSha', 'a', 'b'))).toMatchObject({
    type: FailureType.DigestMismatch,
    message: 'diffSha: expected a, got b',
    details: [{ what: 'diffSha', expected: 'a', got: 'b' }],
    nonRetryable: true,
    nextRetryDelay: undefined,
  });
  const { details, nonRetryable } = await converted(CountersignFailure.retryable('away', FailureType.Store));
  expect({ details, nonRetryable }).toEqual({ details: [], nonRetryable: false });
});

it('keeps the delay before the next attempt, the cause, and the original stack', async () => {
  const cause = new Error('reset by peer');
  const failure = new CountersignFailure({
    type: FailureType.Backend,
    message: 'rate_limited: the server answered 429',
    nonRetryable: false,
    nextRetryDelayMs: 12_000,
    cause,
  });
  const { nextRetryDelay, cause: kept, stack } = await converted(failure);
  expect({ nextRetryDelay, kept, stack }).toEqual({ nextRetryDelay: 12_000, kept: cause, stack: failure.stack });
});

it('passes on other errors unchanged: a bug, a cancellation, an ApplicationFailure', async () => {
  for (const error of [
    new TypeError('a bug'),
    new CancelledFailure('CANCELLED'),
    ApplicationFailure.nonRetryable('by a team', 'TEAM'),
  ])
    expect(await thrownBy(error)).toBe(error);
});

it('returns results unchanged', async () => {
  const environment = new MockActivityEnvironment(
    {},
    { interceptors: [failureInterceptor], logger: new DefaultLogger('ERROR') },
  );
  expect(await environment.run(async () => 7)).toBe(7);
});

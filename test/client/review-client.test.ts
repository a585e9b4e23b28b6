import {
  WorkflowFailedError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import {
  ApplicationFailure,
  RetryState,
  TerminatedFailure,
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
} from '@temporalio/common';
import { Countersign } from '../../client/countersign';
import type { ClientLedger, ReviewProjection } from '../../client/ports';
import type { Preflight } from '../../policy/contracts/status';
import { CLOSED, fakeTemporal, grpcError, RUNNING, type Script, type StartCall } from './fake-temporal';
import { accepted, CHANGE, committer, failing, hex, outcome, status, trust, withReceipt } from './fakes';
import { createSigner } from '../../client/signer';
import { newKeyPair } from '../../signing/keys';

const gone = (): never => {
  throw new WorkflowNotFoundError('workflow execution already completed', CHANGE, undefined);
};
const slow = (): never => {
  throw new WorkflowUpdateRPCTimeoutOrCancelledError('deadline');
};
const away = (): never => {
  throw grpcError(14, 'No connection established');
};
const preflight = (changeId: string): Preflight => ({
  changeId,
  planHash: hex('3'),
  provisional: true,
  forbidden: false,
  findings: [],
});
const change = { target: 'shop', sourceTool: 'SQLDryRun', raw: 'UPDATE t SET a = 1' };
const envelope = { payloadType: 'x', payload: 'e30=', signatures: [{ keyid: 'k', sig: 'AA==' }] };

function client(script: Script, ledger?: Partial<ClientLedger>) {
  const temporal = fakeTemporal(script);
  const puts: { tenant: string; bytes: Uint8Array }[] = [];
  const store = { put: async (tenant: string, bytes: Uint8Array) => (puts.push({ tenant, bytes }), hex('2')) };
  const countersign = new Countersign({
    temporal: temporal.client,
    tenant: 'acme',
    store,
    trust,
    ...(ledger === undefined ? {} : { ledger: failing<ClientLedger>(ledger) }),
  });
  return { ...temporal, countersign, puts };
}

describe('submit', () => {
  it('stores the bytes, then starts the workflow and sends the update in one call, with the expected id, policies, attributes and description', async () => {
    let started: StartCall | undefined;
    const { countersign, puts, calls, deadlines } = client({
      executeUpdateWithStart: (_name, options) => {
        started = options;
        return preflight(String(options.startWorkflowOperation.options['workflowId']));
      },
    });
    const {
      changeId,
      preflight: answered,
      outcome: ended,
    } = await countersign.submit({ ...change, metadata: { note: 'SECRET' } });
    expect(answered).toEqual(preflight(changeId));
    expect(ended).toBeNull();
    expect(puts).toHaveLength(1);
    expect(calls).toHaveLength(1);
    expect(deadlines[0]).toBeGreaterThan(9_000);
    expect(started?.startWorkflowOperation.workflowTypeOrFunc).toBe('review');
    const options = started?.startWorkflowOperation.options ?? {};
    expect(options).toMatchObject({
      workflowId: changeId,
      taskQueue: 'countersign-review',
      workflowIdConflictPolicy: 'USE_EXISTING',
      workflowIdReusePolicy: 'REJECT_DUPLICATE',
    });
    const { staticSummary, staticDetails, typedSearchAttributes } = options as {
      staticSummary: string;
      staticDetails: string;
      typedSearchAttributes: { getAll: () => unknown[] };
    };
    expect(Buffer.byteLength(staticSummary)).toBeLessThanOrEqual(400);
    expect(Buffer.byteLength(staticDetails)).toBeLessThanOrEqual(20_000);
    expect(staticSummary + staticDetails + JSON.stringify(typedSearchAttributes.getAll())).not.toContain('SECRET');
  });

  it('signs with the service key, and sends the bytes in the start input if there is no store', async () => {
    let submission: Record<string, unknown> = {};
    const temporal = fakeTemporal({
      executeUpdateWithStart: (_name, options) => {
        [submission] = options.startWorkflowOperation.options['args'] as [Record<string, unknown>];
        return preflight(CHANGE);
      },
    });
    const countersign = new Countersign({
      temporal: temporal.client,
      tenant: 'acme',
      store: null,
      serviceKey: createSigner(newKeyPair()),
    });
    await countersign.submit(change);
    expect(Buffer.from(String(submission['inline']), 'base64').toString()).toBe(change.raw);
    expect(submission['envelope']).toBeDefined();
  });

  it('returns pending after a time-out while the workflow is running', async () => {
    const { countersign } = client({ executeUpdateWithStart: slow, describe: () => RUNNING });
    expect(await countersign.submit(change, { timeoutMs: 5 })).toMatchObject({ preflight: 'pending', outcome: null });
  });

  it('returns the recorded outcome if the same change was reviewed before', async () => {
    const { countersign } = client({
      executeUpdateWithStart: (_name, { startWorkflowOperation: { options } }) => {
        throw new WorkflowExecutionAlreadyStartedError('already', String(options['workflowId']), 'review');
      },
      result: () =>
        outcome({
          state: 'ROLLED_BACK',
          action: 'ROLLBACK',
          reason: 'forbidden',
          changeId: countersign.prepare(change).changeId,
        }),
    });
    const submitted = await countersign.submit(change);
    expect(submitted.outcome?.reason).toBe('forbidden');
    expect(submitted.preflight).toMatchObject({ forbidden: true });
  });

  it('reports that it is unknown whether the review started if Temporal is unreachable', async () => {
    const { countersign } = client({ executeUpdateWithStart: away, describe: away });
    await expect(countersign.submit(change)).rejects.toMatchObject({ code: 'temporal_unavailable' });
    const other = client({ executeUpdateWithStart: slow, describe: gone });
    await expect(other.countersign.submit(change)).rejects.toMatchObject({
      code: 'temporal_unavailable',
      message: expect.stringContaining('Submit again'),
    });
  });

  it('throws the refusal of the review, with its type', async () => {
    const { countersign } = client({
      executeUpdateWithStart: () => {
        throw new WorkflowUpdateFailedError(
          'failed',
          ApplicationFailure.nonRetryable('No adapter reads "Foo"', 'ErrUnknownDiffType'),
        );
      },
    });
    await expect(countersign.submit(change)).rejects.toMatchObject({
      code: 'refused',
      message: 'No adapter reads "Foo"',
      options: { details: 'ErrUnknownDiffType' },
    });
  });

  it('says what to do if the search attributes are not registered on the server', async () => {
    const { countersign } = client({
      executeUpdateWithStart: () => {
        throw grpcError(3, 'Namespace default has no mapping defined for search attribute CountersignStatus');
      },
    });
    await expect(countersign.submit(change)).rejects.toMatchObject({
      code: 'internal',
      message: expect.stringContaining('countersign setup'),
    });
  });

  it('starts nothing if the store is unavailable', async () => {
    const { client: temporal, calls } = fakeTemporal({});
    const countersign = new Countersign({
      temporal,
      tenant: 'acme',
      store: { put: () => Promise.reject(new Error('down')) },
    });
    await expect(countersign.submit(change)).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(calls).toHaveLength(0);
  });
});

describe('answer', () => {
  it('returns closed for a closed review, and appends the refusal to the ledger [T56]', async () => {
    for (const via of ['update', 'signal'] as const) {
      const late: unknown[] = [];
      const { countersign } = client(
        { executeUpdate: gone, signal: gone, describe: () => CLOSED },
        { recordLate: async (id, message, why) => void late.push([id, message, why]) },
      );
      expect(await countersign.answer(CHANGE, [envelope], { via })).toEqual({
        '#0': { code: 'closed', message: expect.any(String) },
      });
      expect(late).toEqual([[CHANGE, { answers: [envelope] }, expect.stringContaining('closed')]]);
    }
  });

  it('returns closed for a review past retention that only the ledger has', async () => {
    const recorded = { review: failing<ReviewProjection>({}), diffSha: hex('2'), outcome: outcome() };
    const { countersign } = client(
      { executeUpdate: gone, describe: gone },
      { outcome: async () => recorded, recordLate: async () => undefined },
    );
    const unsigned = {
      violationId: hex('a'),
      fingerprint: hex('f'),
      decision: 'confirm' as const,
      reason: '',
      actor: 'alice',
    };
    expect(await countersign.answer(CHANGE, [unsigned])).toMatchObject({ [hex('a')]: { code: 'closed' } });
  });

  it('throws not_found for an unknown review, and records nothing', async () => {
    const { countersign } = client({ executeUpdate: gone, describe: gone }, { outcome: async () => null });
    await expect(countersign.answer(CHANGE, [envelope])).rejects.toMatchObject({ code: 'not_found' });
  });

  it('throws if the refusal cannot be recorded, instead of losing it', async () => {
    const { countersign } = client(
      { executeUpdate: gone, describe: () => CLOSED },
      { recordLate: () => Promise.reject(new Error('down')) },
    );
    await expect(countersign.answer(CHANGE, [envelope])).rejects.toMatchObject({ code: 'ledger_unavailable' });
  });

  it.each([
    [[true, false]],
    [true],
    ['false'],
    [[]],
    [[{ violationId: hex('a'), decision: 'confirm' }]],
    [[{ ...envelope, decision: 'confirm' }]],
  ])('refuses %j: by position, as a boolean, as text, none, unbound [T58]', async (answers) => {
    const { countersign, calls } = client({});
    await expect(countersign.answer(CHANGE, answers as never)).rejects.toMatchObject({ code: 'invalid_input' });
    expect(calls).toHaveLength(0);
  });

  it('sends more than fifty answers in several messages and merges their results', async () => {
    const { countersign, calls } = client({
      executeUpdate: (_name, [message]) =>
        Object.fromEntries(
          (message as { answers: { violationId: string }[] }).answers.map((a) => [
            a.violationId,
            { code: 'accepted', message: '' },
          ]),
        ),
    });
    const answers = Array.from({ length: 120 }, (_, i) => ({
      violationId: i.toString(16).padStart(64, '0'),
      fingerprint: hex('f'),
      decision: 'confirm' as const,
      reason: '',
      actor: 'alice',
    }));
    expect(Object.keys(await countersign.answer(CHANGE, answers))).toHaveLength(120);
    expect(calls).toHaveLength(3);
  });

  it('distinguishes an unavailable worker from an unreachable server, and says that sending again is safe', async () => {
    const worker = client({ executeUpdate: slow, describe: () => RUNNING });
    await expect(worker.countersign.answer(CHANGE, [envelope])).rejects.toMatchObject({
      code: 'worker_unavailable',
      message: expect.stringContaining('count once'),
    });
    const server = client({ executeUpdate: away });
    await expect(server.countersign.answer(CHANGE, [envelope])).rejects.toMatchObject({ code: 'temporal_unavailable' });
  });

  it('returns an empty record after a signal', async () => {
    const { countersign } = client({ signal: () => undefined });
    expect(await countersign.answer(CHANGE, [envelope], { via: 'signal' })).toEqual({});
    const { countersign: other } = client({ executeUpdate: () => accepted() });
    expect(await other.answer(CHANGE, [envelope])).toEqual(accepted());
  });
});

describe('result', () => {
  it('is verified by the committer key, pending after a time-out, and pending without status if no worker answers', async () => {
    const done = client({ result: () => withReceipt(committer, outcome()) });
    expect(await done.countersign.result(CHANGE, { timeoutMs: 50 })).toMatchObject({
      state: 'COMMITTED',
      verified: true,
    });
    const open = client({ result: () => { throw grpcError(4, 'deadline'); }, query: () => status() }); // prettier-ignore
    expect(await open.countersign.result(CHANGE, { timeoutMs: 50 })).toEqual({ state: 'PENDING', status: status() });
    const lonely = client({ describe: () => RUNNING, query: () => { throw grpcError(9, 'no poller seen'); } }); // prettier-ignore
    expect(await lonely.countersign.result(CHANGE)).toEqual({ state: 'PENDING', status: null });
  });

  it('is aborted and unverified for a terminated workflow, unless the ledger has the outcome', async () => {
    const terminated = (): never => {
      throw new WorkflowFailedError('terminated', new TerminatedFailure('by hand'), RetryState.NON_RETRYABLE_FAILURE);
    };
    const { countersign } = client({ result: terminated }, { outcome: async () => null });
    expect(await countersign.result(CHANGE, { timeoutMs: 50 })).toMatchObject({
      state: 'ABORTED',
      verified: false,
    });
    const recorded = {
      review: failing<ReviewProjection>({}),
      diffSha: hex('2'),
      outcome: withReceipt(committer, outcome()),
    };
    const known = client({ result: terminated }, { outcome: async () => recorded });
    expect(await known.countersign.result(CHANGE, { timeoutMs: 50 })).toMatchObject({
      state: 'COMMITTED',
      verified: true,
    });
  });

  it('reads status and outcome from the ledger after the retention period', async () => {
    const review = {
      changeId: CHANGE, tenant: 'acme', target: 'shop', sourceTool: 'SQLDryRun', inputSha: hex('1'), state: 'COMMITTED', reason: null, mode: 'enforced', requester: 'carol', pending: 0,
      highestSeverity: 'WARN', openedAt: '2026-11-20T10:00:00.000Z', updatedAt: '2026-11-20T10:00:00.000Z', deadlineAt: null, closedAt: null, summary: '',
    } as const; // prettier-ignore
    const recorded = { review, diffSha: hex('2'), outcome: withReceipt(committer, outcome()) };
    const { countersign } = client({ query: gone, result: gone, describe: gone }, { outcome: async () => recorded });
    expect(await countersign.result(CHANGE, { timeoutMs: 50 })).toMatchObject({ state: 'COMMITTED', verified: true });
    expect(await countersign.status(CHANGE)).toMatchObject({ state: 'COMMITTED', tenant: 'acme', diffSha: hex('2') });
  });

  it('returns the outcome of a closed review without a worker, but no status of an open one', async () => {
    const noWorker = (): never => {
      throw grpcError(9, 'no poller seen');
    };
    const review = failing<ReviewProjection>({ changeId: CHANGE, state: 'COMMITTED' });
    const ended = client(
      { query: noWorker },
      { outcome: async () => ({ review, diffSha: hex('2'), outcome: outcome() }) },
    );
    expect(await ended.countersign.status(CHANGE)).toMatchObject({ state: 'COMMITTED' });
    const open = client({ query: noWorker }, { outcome: async () => ({ review, diffSha: hex('2'), outcome: null }) });
    await expect(open.countersign.status(CHANGE)).rejects.toMatchObject({ code: 'worker_unavailable' });
  });

  it('throws not_found for an unknown review, and invalid_input for an invalid id', async () => {
    const { countersign } = client({ query: gone, describe: gone }, { outcome: async () => null });
    await expect(countersign.status(CHANGE)).rejects.toMatchObject({ code: 'not_found' });
    await expect(countersign.status('review-1')).rejects.toMatchObject({ code: 'invalid_input' });
  });
});

describe('withdraw', () => {
  it('is too late for a closed review', async () => {
    const { countersign } = client({ executeUpdate: gone, describe: () => CLOSED });
    expect(await countersign.withdraw(CHANGE, { actor: 'carol', reason: '' })).toEqual({
      code: 'too_late',
      message: 'The review is closed',
    });
  });
});

import {
  WorkflowFailedError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import {
  ActivityFailure,
  ApplicationFailure,
  RetryState,
  TerminatedFailure,
  TimeoutFailure,
  TimeoutType,
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
} from '@temporalio/common';
import { Countersign } from '../../client/countersign';
import type { ClientLedger } from '../../client/ports';
import { ReviewClient } from '../../client/review-client';
import { evidenceText, parseEvidence, type Evidence, type EvidenceBundle } from '../../policy/evidence/bundle';
import { messageDigest, openEnvelope } from '../../policy/evidence/dsse';
import type { StoredRow } from '../../policy/evidence/chain';
import type { LedgerRow } from '../../policy/contracts/ledger';
import type { WithdrawResult } from '../../policy/contracts/withdrawal';
import { chained } from '../support/review/ledger-rows';
import type { Envelope } from '../../policy/contracts/diff';
import { evidenceWorld } from '../support/review/evidence-world';
import type { Preflight } from '../../policy/contracts/status';
import { CLOSED, fakeTemporal, grpcError, RUNNING, type Script, type StartCall } from './fake-temporal';
import { accepted, CHANGE, committer, failing, hex, outcome, trust as receiptTrust, withReceipt } from './fakes';
import { signSupersession, signWithdrawal } from '../../client/sign-withdrawal';
import { createSigner } from '../../client/signer';
import { newKeyPair } from '../../signing/keys';
import { signEnvelope } from '../../signing/envelope';
import { statementOf } from '../../policy/evidence/statement';
import { policyMoved } from '../../policy/contracts/failure';
import { FailureType } from '../../policy/contracts/failure-type';

const world = evidenceWorld({ checkpoint: false });
const trust = {
  operators: world.trust.operators,
  committers: [...world.trust.committers, ...receiptTrust.committers],
};

/** A review that waits for a second confirmation, and the answer that it has. */
async function openReview() {
  const answers = [{ by: 'alice', decision: 'confirm' as const }];
  const { changeId } = await world.review({ table: 'public.prices', requestKey: 'open', answers, open: true });
  const bundle = await world.export(changeId);
  const answer = bundle.rows.find(({ row }) => row.kind === 'answer_accepted')?.row.body[
    'answer'
  ] as unknown as Envelope;
  return { changeId, bundle, answer };
}

async function committedReview() {
  const { changeId } = await world.review({ table: 'public.items' });
  return { changeId, bundle: await world.export(changeId) };
}

/** A review that was committed with the confirmations of alice and bob. */
async function confirmedReview() {
  const answers = ['alice', 'bob'].map((by) => ({ by, decision: 'confirm' as const }));
  const { changeId } = await world.review({ table: 'public.prices', requestKey: 'confirmed', answers });
  const bundle = await world.export(changeId);
  const rows = bundle.rows.flatMap(({ row }) => (row.kind === 'answer_accepted' ? [row] : []));
  return { changeId, bundle, answers: rows.map(({ body }) => body['answer'] as unknown as Envelope) };
}

function violationOf(answer: Envelope): string {
  const opened = openEnvelope('answer', answer);
  return opened.ok ? opened.statement.predicate.violationId : '';
}

/** The rows of the bundle and one more. */
function withRow({ rows }: EvidenceBundle, kind: LedgerRow['kind'], body: object): StoredRow[] {
  const last = rows[rows.length - 1]?.row;
  if (last === undefined) throw new Error('no rows');
  return [...chained([...rows.map(({ row }) => row), { ...last, n: last.n + 1, kind, body: JSON.parse(JSON.stringify(body)) as LedgerRow['body'] }])]; // prettier-ignore
}

function ledgerOf(bundle: Evidence | null): Partial<ClientLedger> {
  const ended = bundle?.rows.some(({ row }) => row.kind === 'closed') === true;
  return {
    bundle: async () => bundle,
    rows: async () => bundle?.rows ?? [],
    summary: async () => (bundle === null ? null : { tenant: 'acme', ended }),
    // Without a notification, all of the time is waited.
    watch: async () => ({ next: async (ms) => void (waitedMs += ms), close: () => {} }),
  };
}

/** Added to the clocks instead of waiting. */
let waitedMs = 0;
beforeEach(() => {
  const [began, ran] = [Date.now(), performance.now()];
  waitedMs = 0;
  jest.spyOn(Date, 'now').mockImplementation(() => began + waitedMs);
  jest.spyOn(performance, 'now').mockImplementation(() => ran + waitedMs);
});
afterEach(() => jest.restoreAllMocks());

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

/** Status and message of a server that accepts no more updates of a run. */
const UPDATE_LIMITS: [number, string][] = [
  [9, 'The limit on the total number of distinct updates in this workflow has been reached (2000). Make sure …'],
  [8, 'limit on number of concurrent in-flight updates has been reached (10)'],
];

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

  it.each(UPDATE_LIMITS)('joins a running review that accepts no more updates (%i)', async (code, details) => {
    const executeUpdateWithStart = (): never => {
      throw grpcError(code, details);
    };
    const { countersign } = client({ executeUpdateWithStart, describe: () => RUNNING });
    expect(await countersign.submit(change)).toMatchObject({ preflight: 'pending', outcome: null });
  });

  it('reports that it is unknown whether the review started if Temporal refuses the call under load', async () => {
    const executeUpdateWithStart = (): never => {
      throw grpcError(8, 'namespace rate limit exceeded');
    };
    const { countersign } = client({ executeUpdateWithStart, describe: gone });
    await expect(countersign.submit(change)).rejects.toMatchObject({ code: 'temporal_unavailable' });
  });

  it.each<[string, (own: Preflight) => unknown]>([
    ['null', () => null],
    ['an empty object', () => ({})],
    ['the preflight of another change', (own) => ({ ...own, changeId: hex('9') })],
    ['a finding without a status', (own) => ({ ...own, findings: [{ validatorId: 'guardian.a', class: 'POLICY', reason: '', evidenceRefs: [] }] })], // prettier-ignore
  ])('returns pending if another workflow under the id replies %s', async (_what, reply) => {
    const { countersign } = client({
      executeUpdateWithStart: (_name, { startWorkflowOperation: { options } }) =>
        reply(preflight(String(options['workflowId']))),
    });
    const { changeId } = countersign.prepare(change);
    expect(await countersign.submit(change)).toEqual({ changeId, preflight: 'pending', outcome: null });
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

  it('joins a review that the ledger has as open, also if its workflow was terminated: it may still be committed', async () => {
    const { bundle, changeId } = await openReview();
    const executeUpdateWithStart = (): never => {
      throw new WorkflowExecutionAlreadyStartedError('already', changeId, 'review');
    };
    const { countersign } = client({ executeUpdateWithStart, describe: () => CLOSED }, ledgerOf(bundle));
    const joined = await countersign.start(bundle.submission!);
    expect(joined).toEqual({ changeId, preflight: 'pending', outcome: null });
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

  it('throws the refusal of the review, with its type and the member that it names', async () => {
    const { countersign } = client({
      executeUpdateWithStart: () => {
        throw new WorkflowUpdateFailedError(
          'failed',
          ApplicationFailure.nonRetryable('No adapter reads "Foo"', 'ErrUnknownDiffType', { field: 'sourceTool' }),
        );
      },
    });
    await expect(countersign.submit(change)).rejects.toMatchObject({
      code: 'refused',
      message: 'No adapter reads "Foo"',
      field: 'sourceTool',
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
    const { bundle, changeId } = await committedReview();
    for (const via of ['update', 'signal'] as const) {
      const late: unknown[] = [];
      const { countersign } = client(
        { executeUpdate: gone, signal: gone, describe: () => CLOSED },
        { ...ledgerOf(bundle), recordLate: async (id, message, why) => void late.push([id, message, why]) },
      );
      expect(await countersign.answer(changeId, [envelope], { via })).toEqual({
        '#0': { code: 'closed', message: expect.any(String) },
      });
      expect(late).toEqual([[changeId, { answers: [envelope] }, expect.stringContaining('closed')]]);
    }
  });

  it('returns accepted for an answer in the rows of a review that has ended, and records only the others as late', async () => {
    const { bundle, changeId, answers } = await confirmedReview();
    const late: unknown[] = [];
    const { countersign } = client(
      { executeUpdate: gone, describe: () => CLOSED },
      { ...ledgerOf(bundle), recordLate: async (_id, message) => void late.push(message) },
    );
    expect(answers).toHaveLength(2);
    for (const answer of answers)
      expect(await countersign.answer(changeId, [answer])).toEqual({
        [violationOf(answer)]: { code: 'accepted', message: expect.stringContaining('confirm by') },
      });
    expect(late).toEqual([]);
    const results = await countersign.answer(changeId, [envelope, ...answers.slice(0, 1)]);
    expect(Object.values(results).map(({ code }) => code)).toEqual(['accepted', 'closed']);
    expect(late).toEqual([{ answers: [envelope] }]);
  });

  it('throws worker_unavailable and records nothing if no workflow runs a review that the ledger has as open', async () => {
    const { bundle, changeId, answer } = await openReview();
    const { countersign } = client({ executeUpdate: gone, describe: () => CLOSED }, ledgerOf(bundle));
    await expect(countersign.answer(changeId, [envelope])).rejects.toMatchObject({
      code: 'worker_unavailable',
      message: expect.stringContaining('Send again later: it counts once'),
    });
    expect(await countersign.answer(changeId, [answer])).toMatchObject({ [violationOf(answer)]: { code: 'accepted' } });
  });

  it('is sent, not closed, for a closed workflow if the client can read no ledger', async () => {
    const { countersign } = client({ executeUpdate: gone, describe: () => CLOSED });
    expect(await countersign.answer(CHANGE, [envelope])).toMatchObject({ '#0': { code: 'sent' } });
  });

  it('returns closed for a review past retention that only the ledger has', async () => {
    const { bundle, changeId } = await committedReview();
    const { countersign } = client(
      { executeUpdate: gone, describe: gone },
      { ...ledgerOf(bundle), recordLate: async () => undefined },
    );
    const unsigned = {
      violationId: hex('a'),
      fingerprint: hex('f'),
      decision: 'confirm' as const,
      reason: '',
      actor: 'alice',
    };
    expect(await countersign.answer(changeId, [unsigned])).toMatchObject({ [hex('a')]: { code: 'closed' } });
  });

  it('throws not_found for an unknown review, and records nothing', async () => {
    const { countersign } = client({ executeUpdate: gone, describe: gone }, ledgerOf(null));
    await expect(countersign.answer(CHANGE, [envelope])).rejects.toMatchObject({ code: 'not_found' });
  });

  it('throws if the refusal cannot be recorded, instead of losing it', async () => {
    const { bundle, changeId } = await committedReview();
    const recordLate = (): Promise<never> => Promise.reject(new Error('down'));
    const { countersign } = client({ executeUpdate: gone }, { ...ledgerOf(bundle), recordLate });
    await expect(countersign.answer(changeId, [envelope])).rejects.toMatchObject({ code: 'ledger_unavailable' });
  });

  it.each<[string, () => Error]>([
    ['a failure of the ledger', () => ApplicationFailure.retryable('connection terminated', FailureType.Store)],
    [
      'a time-out of the activity',
      () =>
        new ActivityFailure('failed', 'admitAnswer', '1', RetryState.TIMEOUT, undefined,
          new TimeoutFailure('activity ScheduleToClose timeout', undefined, TimeoutType.SCHEDULE_TO_CLOSE)), // prettier-ignore
    ],
  ])('does not say that %s left no row: it says to send again', async (_what, cause) => {
    const { countersign } = client({
      executeUpdate: () => {
        throw new WorkflowUpdateFailedError('failed', cause());
      },
    });
    await expect(countersign.answer(CHANGE, [envelope])).rejects.toMatchObject({
      code: 'ledger_unavailable',
      message: expect.stringMatching(
        /^It is unknown whether the message was recorded: .+ Send again: duplicates count once$/,
      ),
    });
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

  it('sends large answers in messages that a review takes, and nothing if one of them is malformed', async () => {
    const large = Array.from({ length: 50 }, (_, i) => ({ ...envelope, payload: String(i).padEnd(9 * 1024, 'A') }));
    const { countersign, calls } = client({ executeUpdate: () => ({}) });
    await expect(countersign.answer(CHANGE, [...large, true] as never)).rejects.toMatchObject({
      code: 'invalid_input',
    });
    expect(calls).toHaveLength(0);
    expect(Object.keys(await countersign.answer(CHANGE, large))).not.toEqual([]);
    expect(calls).toHaveLength(2);
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

  it('names the ledger, not the worker, if the ledger does not answer either', async () => {
    const summary = (): Promise<never> => Promise.reject(new Error('connect ECONNREFUSED'));
    const { countersign } = client({ executeUpdate: slow, describe: () => RUNNING }, { summary });
    await expect(countersign.answer(CHANGE, [envelope])).rejects.toMatchObject({
      code: 'ledger_unavailable',
      message: expect.stringContaining('Send again later: it counts once'),
    });
  });

  it.each(UPDATE_LIMITS)(
    'goes by signal if the server accepts no more updates of the review (status %i)',
    async (code, message) => {
      const signals: unknown[] = [];
      const { countersign } = client({
        executeUpdate: () => {
          throw grpcError(code, message);
        },
        signal: (...sent) => void signals.push(sent),
      });
      expect(await countersign.answer(CHANGE, [envelope])).toMatchObject({ '#0': { code: 'sent' } });
      expect(signals).toHaveLength(1);
    },
  );

  it('reports every answer as sent, in an update and in a signal, if it can read no ledger', async () => {
    const signalled = client({ signal: () => undefined });
    const sent = { '#0': { code: 'sent', message: expect.any(String) } };
    expect(await signalled.countersign.answer(CHANGE, [envelope], { via: 'signal' })).toEqual(sent);
    const updated = client({ executeUpdate: () => accepted() });
    expect(await updated.countersign.answer(CHANGE, [envelope])).toEqual(sent);
  });

  it('reports accepted, duplicate and refused only if a row of the ledger says so, whatever the review replies', async () => {
    const { bundle, answer, changeId } = await openReview();
    const other = { ...answer, payload: Buffer.from('{}').toString('base64') };
    const key = violationOf(answer);
    const replies = (code: string) => ({
      executeUpdate: () => ({ ...accepted('#0', code), ...accepted(key, code) }),
      describe: () => RUNNING,
    });
    for (const code of ['accepted', 'duplicate', 'contradicts']) {
      const { countersign } = client(replies(code), ledgerOf(bundle));
      expect(await countersign.answer(changeId, [answer])).toMatchObject({
        [key]: { code: code === 'duplicate' ? 'duplicate' : 'accepted' },
      });
      expect(await countersign.answer(changeId, [other])).toMatchObject({ '#0': { code: 'sent' } });
    }
  });

  describe('with the same decision as an earlier one', () => {
    /** A review that alice confirmed, a new confirmation by another key of hers, and the body of a later row of hers. */
    async function confirmedAgain() {
      const { bundle, answer, changeId } = await openReview();
      const opened = openEnvelope('answer', answer);
      if (!opened.ok) throw new Error(opened.message);
      const second = newKeyPair();
      const { predicate } = opened.statement;
      const again = signEnvelope(statementOf('answer', { ...predicate, keyId: second.keyId }), second);
      const { body } = bundle.rows.find(({ row }) => row.kind === 'answer_accepted')!.row;
      const later = (members: LedgerRow['body']): LedgerRow['body'] => ({
        ...body,
        digest: hex('d'),
        answer: null,
        ...members,
      });
      const retraction = later({ decision: 'retract', retracts: String(body['digest']) });
      const owners = new Map([[second.keyId, 'alice']]);
      return { bundle, changeId, again, key: violationOf(answer), owners, retraction, reject: later({ decision: 'reject' }), second }; // prettier-ignore
    }

    it('is a duplicate of one by another key of the person, until that one was taken back or replaced', async () => {
      const { bundle, changeId, again, key, owners, retraction, reject, second } = await confirmedAgain();
      const answered = async (rows: readonly StoredRow[], by = owners) => {
        const { countersign } = client({ executeUpdate: () => accepted(key, 'duplicate') }, ledgerOf({ ...bundle, rows: [...rows] })); // prettier-ignore
        return (await countersign.answer(changeId, [again], { owners: by }))[key]?.code;
      };
      expect(await answered(bundle.rows)).toBe('duplicate');
      expect(waitedMs).toBe(0);
      expect(await answered(bundle.rows, new Map([[second.keyId, 'bob']]))).toBe('sent');
      expect(await answered(withRow(bundle, 'retracted', retraction))).toBe('sent');
      for (const fingerprint of [reject['fingerprint'], hex('e')])
        expect(await answered(withRow(bundle, 'answer_accepted', { ...reject, fingerprint }))).toBe('sent');
    });

    it('is closed after the end, and recorded as late, if the person rejected or retracted since', async () => {
      const { bundle, changeId, again, key, owners, retraction, reject } = await confirmedAgain();
      const ends: [LedgerRow['kind'], object, string][] = [
        ['answer_accepted', reject, 'closed'],
        ['retracted', retraction, 'closed'],
        ['answer_refused', { digest: null }, 'duplicate'],
      ];
      for (const [kind, body, code] of ends) {
        const late: unknown[] = [];
        const rows = withRow({ ...bundle, rows: withRow(bundle, kind, body) }, 'closed', {});
        const { countersign } = client({ executeUpdate: gone }, { ...ledgerOf({ ...bundle, rows }), recordLate: async (_id, message) => void late.push(message) }); // prettier-ignore
        expect(await countersign.answer(changeId, [again], { owners })).toMatchObject({ [key]: { code } });
        expect(late).toEqual(code === 'closed' ? [{ answers: [again] }] : []);
      }
    });

    it.each([
      ['contradicts', 'contradicts'],
      ['nothing', 'duplicate'],
    ])('waits for its own row if the review did not call it a duplicate: %s', async (recorded, code) => {
      const { bundle, changeId, again, key, owners } = await confirmedAgain();
      const refusal = withRow(bundle, 'answer_refused', {
        digest: messageDigest(again),
        code: recorded,
        message: 'no',
      });
      const rows = async () => (waitedMs > 0 && recorded === 'contradicts' ? refusal : bundle.rows);
      const { countersign } = client({ signal: () => undefined }, { ...ledgerOf(bundle), rows });
      expect(await countersign.answer(changeId, [again], { via: 'signal', owners })).toMatchObject({ [key]: { code } });
      expect(waitedMs).toBeGreaterThan(0);
    });
  });

  it('is not proven by a refusal with an unknown code, or with a code that is not one of a refusal', async () => {
    const { bundle, changeId } = await openReview();
    for (const code of ['shredded', 'accepted', 'duplicate', undefined]) {
      const rows = withRow(bundle, 'answer_refused', { digest: messageDigest(envelope), code, message: 'no' });
      const { countersign } = client({ executeUpdate: () => accepted('#0') }, ledgerOf({ ...bundle, rows }));
      expect(await countersign.answer(changeId, [envelope])).toMatchObject({ '#0': { code: 'sent' } });
    }
  });

  it('refuses rows that are not one hash chain', async () => {
    const { bundle, answer, changeId } = await openReview();
    const rows = bundle.rows.map((stored, i) => (i === 0 ? { ...stored, hash: hex('0') } : stored));
    const { countersign } = client({ executeUpdate: () => accepted() }, ledgerOf({ ...bundle, rows }));
    await expect(countersign.answer(changeId, [answer])).rejects.toMatchObject({ code: 'not_verified' });
  });
});

describe('review', () => {
  it('is rebuilt from the ledger without a call to Temporal', async () => {
    const { bundle, changeId } = await openReview();
    const { countersign, calls } = client({}, ledgerOf(bundle));
    expect(await countersign.status(changeId)).toMatchObject({ changeId, state: 'INTERVENTION_REQUIRED' });
    expect(calls).toHaveLength(0);
  });

  it('throws not_verified for another change, edited rows, or a client that trusts no one', async () => {
    const { bundle, changeId } = await openReview();
    await expect(client({}, ledgerOf(bundle)).countersign.status(CHANGE)).rejects.toMatchObject({
      code: 'not_verified',
    });
    const edited = { ...bundle, bytes: 'AAAA' };
    await expect(client({}, ledgerOf(edited)).countersign.status(changeId)).rejects.toMatchObject({
      code: 'not_verified',
      message: expect.stringContaining('bytes: '),
    });
    const trusting = new Countersign({
      temporal: fakeTemporal({}).client,
      tenant: 'acme',
      store: null,
      ledger: failing<ClientLedger>(ledgerOf(bundle)),
    });
    await expect(trusting.status(changeId)).rejects.toMatchObject({ code: 'not_verified' });
  });

  it('throws not_verified for a policy that no trusted operator signed: the ledger has answered', async () => {
    const bundle = async () => Promise.reject(policyMoved('Policy revision 1 has no trusted signature'));
    const { countersign } = client({}, failing<ClientLedger>({ bundle }));
    await expect(countersign.bundle(CHANGE)).rejects.toMatchObject({
      code: 'not_verified',
      message: 'Policy revision 1 has no trusted signature',
    });
  });

  it('throws ledger_unavailable without a ledger: a workflow proves nothing', async () => {
    await expect(client({}).countersign.status(CHANGE)).rejects.toMatchObject({ code: 'ledger_unavailable' });
  });

  it('throws worker_unavailable before it is opened, not_found for an unknown one, and invalid_input for an invalid id', async () => {
    const none = ledgerOf(null);
    await expect(client({ describe: () => RUNNING }, none).countersign.status(CHANGE)).rejects.toMatchObject({
      code: 'worker_unavailable',
    });
    const { countersign } = client({ describe: gone }, none);
    await expect(countersign.status(CHANGE)).rejects.toMatchObject({ code: 'not_found' });
    await expect(countersign.status('review-1')).rejects.toMatchObject({ code: 'invalid_input', field: 'changeId' });
  });

  it.each([
    ['runs', RUNNING, 'worker_unavailable', /^Temporal runs a workflow for \w+, but the ledger has no submission/],
    [
      'has ended',
      CLOSED,
      'not_found',
      /^Temporal has a workflow for \w+ that has ended, but the ledger has no submission/,
    ],
  ])(
    'says that Temporal has the workflow and the ledger no submission, if it %s',
    async (_state, run, code, message) => {
      const { countersign } = client({ describe: () => run }, ledgerOf(null));
      const expected = { code, message: expect.stringMatching(message) };
      for (const read of ['review', 'status', 'bundle', 'tenantOf'] as const)
        await expect(countersign[read](CHANGE)).rejects.toMatchObject(expected);
    },
  );
});

it.each([
  ['taskQueue', 'countersign-reviewer'],
  ['taskQueue', 'shop'],
  ['tenant', undefined],
  ['temporal', undefined],
  ['serviceKey', newKeyPair()],
])('a client is not made without a valid %s', (field, value) => {
  const options = { temporal: fakeTemporal({}).client, tenant: 'acme', store: null, taskQueue: 'countersign-review-a' };
  const made = (given: object): unknown => new Countersign({ ...options, ...given });
  expect(() => made({})).not.toThrow();
  expect(() => made({ [field]: value })).toThrow(expect.objectContaining({ code: 'invalid_input', field }));
});

describe('result', () => {
  it('is pending when `signal` aborts, also without a ledger', async () => {
    const stopping = new AbortController();
    const result = (): Promise<never> => (stopping.abort(), new Promise(() => {}));
    const waiting = { timeoutMs: 600_000, signal: stopping.signal };
    const pending = { state: 'PENDING', status: null };
    expect(await client({ result }).countersign.result(CHANGE, waiting)).toEqual(pending);
  });

  it('without a ledger is verified by the committer key, and pending without a status', async () => {
    const done = client({ result: () => withReceipt(committer, outcome()) });
    expect(await done.countersign.result(CHANGE, { timeoutMs: 50 })).toMatchObject({
      state: 'COMMITTED',
      verified: true,
    });
    const open = client({ result: () => { throw grpcError(4, 'deadline'); } }); // prettier-ignore
    expect(await open.countersign.result(CHANGE, { timeoutMs: 50 })).toEqual({ state: 'PENDING', status: null });
  });

  it('comes from the ledger, and not from what the workflow returns', async () => {
    const { bundle, changeId } = await committedReview();
    const lies = outcome({ changeId, explanation: 'other words', state: 'ROLLED_BACK', action: 'ROLLBACK', reason: 'declined' }); // prettier-ignore
    const { countersign, calls } = client({ result: () => lies }, ledgerOf(bundle));
    const result = await countersign.result(changeId, { timeoutMs: 50 });
    expect(result).toMatchObject({ state: 'COMMITTED', verified: true, why: null });
    expect(calls).toHaveLength(0);
  });

  it('is not verified if anything in the evidence differs', async () => {
    const { bundle, changeId } = await committedReview();
    const edited = { ...bundle, findings: [] };
    expect(await client({}, ledgerOf(edited)).countersign.result(changeId)).toMatchObject({
      state: 'COMMITTED',
      verified: false,
      why: expect.stringContaining('findings: '),
    });
  });

  it('is pending with the verified status while the ledger has the review as open, whatever Temporal says', async () => {
    const { bundle, changeId } = await openReview();
    for (const describe of [() => RUNNING, away, gone, () => CLOSED])
      expect(await client({ describe }, ledgerOf(bundle)).countersign.result(changeId)).toMatchObject({
        state: 'PENDING',
        status: { changeId },
      });
  });

  it.each([
    ['committers', { operators: [], committers: trust.committers }],
    ['operators', { operators: trust.operators, committers: [] }],
    ['no one', undefined],
  ])('is pending without a status for a client that trusts only %s', async (_whom, trusted) => {
    const { bundle, changeId } = await openReview();
    const countersign = new Countersign({
      temporal: fakeTemporal({ describe: () => RUNNING }).client,
      tenant: 'acme',
      store: null,
      ...(trusted === undefined ? {} : { trust: trusted }),
      ledger: failing<ClientLedger>(ledgerOf(bundle)),
    });
    expect(await countersign.result(changeId)).toEqual({ state: 'PENDING', status: null });
  });

  it('is aborted and unverified if the workflow was terminated before the ledger opened the review', async () => {
    const terminated = (): never => {
      throw new WorkflowFailedError('terminated', new TerminatedFailure('by hand'), RetryState.NON_RETRYABLE_FAILURE);
    };
    const { countersign } = client({ result: terminated, describe: () => CLOSED }, ledgerOf(null));
    expect(await countersign.result(CHANGE, { timeoutMs: 50 })).toMatchObject({
      state: 'ABORTED',
      verified: false,
      why: expect.stringContaining('terminated'),
    });
  });

  it('waits for the end in the ledger if the workflow of an opened review was terminated', async () => {
    const { bundle, changeId } = await committedReview();
    const ended = { ...ledgerOf(bundle), summary: async () => ({ tenant: 'acme', ended: waitedMs >= 10_000 }) };
    const { countersign } = client({ describe: () => CLOSED }, ended);
    expect(await countersign.result(changeId, { timeoutMs: 20_000 })).toMatchObject({ state: 'COMMITTED' });
  });

  it('is read again if the ledger opened the review while Temporal was asked', async () => {
    const { bundle, changeId } = await openReview();
    let reads = 0;
    const summary = async () => (++reads === 1 ? null : { tenant: 'acme', ended: false });
    const { countersign } = client({ describe: () => CLOSED, result: () => null }, { ...ledgerOf(bundle), summary });
    expect(await countersign.result(changeId)).toMatchObject({ state: 'PENDING', status: { changeId } });
  });

  it('waits for rows until the review has ended', async () => {
    const { bundle, changeId } = await committedReview();
    let reads = 0;
    const later = {
      ...ledgerOf(bundle),
      summary: async () => ({ tenant: 'acme', ended: ++reads > 3 }),
    };
    const { countersign } = client({ describe: () => RUNNING }, later);
    expect(await countersign.result(changeId, { timeoutMs: 20_000 })).toMatchObject({ state: 'COMMITTED' });
    expect(reads).toBe(4);
  });

  it('is pending as soon as its signal aborts', async () => {
    const { bundle, changeId } = await committedReview();
    const stopping = new AbortController();
    let waits = 0;
    const watch = async () => {
      let close = (): void => {};
      const closed = new Promise<void>((resolve) => (close = resolve));
      const next = async () => {
        waits += 1;
        setImmediate(() => stopping.abort());
        await closed;
      };
      return { next, close };
    };
    const open = { ...ledgerOf(bundle), watch, summary: async () => ({ tenant: 'acme', ended: false }) };
    const reviews = new ReviewClient({ temporal: fakeTemporal({}).client, ledger: failing<ClientLedger>(open) });
    const waiting = { timeoutMs: 60_000, signal: stopping.signal };
    expect(await reviews.result(changeId, waiting)).toEqual({ state: 'PENDING', status: null });
    expect(await reviews.result(changeId, waiting)).toEqual({ state: 'PENDING', status: null });
    expect(waits).toBe(1);
  });

  it('asks Temporal every five seconds about a review that is not opened, however many rows arrive, and again before it is pending', async () => {
    const began = Date.now();
    const asked: number[] = [];
    const describe = () => (asked.push(Math.round((Date.now() - began) / 100) / 10), RUNNING);
    // A row every 100 ms.
    const watch = async () => ({ next: async () => void (waitedMs += 100), close: () => {} });
    const { countersign } = client({ describe }, { ...ledgerOf(null), watch });
    expect(await countersign.result(CHANGE, { timeoutMs: 12_000 })).toEqual({ state: 'PENDING', status: null });
    expect(asked.map(Math.floor)).toEqual([0, 5, 10, 12]);
  });

  it.each([-3_600_000, 3_600_000])('waits as long as it was asked to if the clock moves by %d ms', async (movedBy) => {
    const { bundle, changeId } = await openReview();
    const watch: ClientLedger['watch'] = async () => ({
      next: async (ms) => {
        waitedMs += ms;
        jest.spyOn(Date, 'now').mockReturnValue(new Date().getTime() + movedBy);
      },
      close: () => {},
    });
    const { countersign } = client({}, { ...ledgerOf(bundle), watch });
    expect(await countersign.result(changeId, { timeoutMs: 12_000 })).toMatchObject({ state: 'PENDING' });
    expect(waitedMs).toBe(12_000);
  });

  it('is aborted if the workflow ended while the call waited for less than five seconds', async () => {
    const failed = (): never => {
      throw new WorkflowFailedError('terminated', new TerminatedFailure('by hand'), RetryState.NON_RETRYABLE_FAILURE);
    };
    const describe = () => (waitedMs === 0 ? RUNNING : CLOSED);
    const { countersign } = client({ describe, result: failed }, ledgerOf(null));
    expect(await countersign.result(CHANGE, { timeoutMs: 2_000 })).toMatchObject({ state: 'ABORTED' });
  });
});

const AT = '2026-11-20T10:00:00.000Z';

describe('withdraw', () => {
  const service = createSigner(newKeyPair());
  const message = signWithdrawal(CHANGE, { reason: 'wrong table' }, service, new Date());
  const explanation = 'Withdrawn by service shopbot: wrong table';

  it('is not signed for an input with another type or a member that it does not have', () => {
    const sign = (input: unknown) => () => signWithdrawal(CHANGE, input as object, service, new Date());
    expect(sign('wrong table')).toThrow('input: expected object, got "wrong table"');
    expect(sign({ reson: 'wrong table' })).toThrow('reson: unknown member. See WithdrawInput. Nothing was sent');
    const supersede = () => signSupersession(CHANGE, { by: 'x' }, service, new Date());
    expect(supersede).toThrow('by: expected 64 lower-case hex digits, got "x"');
  });

  it('is too late for a review that ended otherwise, and appends the refusal to the ledger', async () => {
    const { bundle, changeId } = await committedReview();
    const late: unknown[] = [];
    const recordLateWithdrawal: ClientLedger['recordLateWithdrawal'] = async (...call) => void late.push(call);
    const { countersign } = client({ executeUpdate: gone }, { ...ledgerOf(bundle), recordLateWithdrawal });
    const tooLate = { code: 'too_late', message: 'The review is closed' };
    expect(await countersign.sendWithdrawal(changeId, message)).toEqual(tooLate);
    expect(await countersign.sendSupersession(changeId, { by: hex('8') })).toEqual(tooLate);
    expect(late).toEqual([
      [changeId, 'withdraw', message, tooLate.message],
      [changeId, 'supersede', { by: hex('8') }, tooLate.message],
    ]);
  });

  it('throws if the refusal cannot be recorded, and records none for an id that the ledger does not have', async () => {
    const { bundle, changeId } = await committedReview();
    const recordLateWithdrawal = (): Promise<never> => Promise.reject(new Error('down'));
    const script = { executeUpdate: gone, describe: () => CLOSED };
    const of = (evidence: Evidence | null) =>
      client(script, { ...ledgerOf(evidence), recordLateWithdrawal }).countersign.sendWithdrawal(changeId, message);
    await expect(of(bundle)).rejects.toMatchObject({ code: 'ledger_unavailable' });
    expect(await of(null)).toMatchObject({ code: 'too_late' });
  });

  it('is accepted by its row if the review ended because of it, and a duplicate if it ended because of another', async () => {
    const { changeId } = await world.review({ table: 'public.prices', requestKey: 'withdrawn', stop: 'withdrawn' });
    const { rows } = await world.export(changeId);
    const body = rows.find(({ row }) => row.kind === 'withdrawn')?.row.body;
    const own = { statement: body?.['statement'] as unknown as Envelope };
    const { countersign } = client({ executeUpdate: gone }, { rows: async () => rows });
    expect(await countersign.sendWithdrawal(changeId, own)).toEqual({
      code: 'accepted',
      message: body?.['explanation'],
    });
    expect(await countersign.sendWithdrawal(changeId, message)).toMatchObject({ code: 'duplicate' });
  });

  it('is not too late while the ledger has the review as open and no workflow runs it', async () => {
    const { bundle, changeId } = await openReview();
    const { countersign } = client({ executeUpdate: gone }, ledgerOf(bundle));
    await expect(countersign.sendWithdrawal(changeId, message)).rejects.toMatchObject({ code: 'worker_unavailable' });
    const without = client({ executeUpdate: gone, describe: () => CLOSED });
    expect(await without.countersign.sendWithdrawal(CHANGE, message)).toMatchObject({ code: 'sent' });
  });

  it('is acknowledged only with its row in the ledger, whatever the workflow says', async () => {
    const row = (kind: 'withdrawn' | 'answer_refused', body: object) =>
      chained([
        { changeId: CHANGE, n: 0, prev: '', kind, at: AT, actor: 'cs_review', body: body as LedgerRow['body'] },
      ]);
    const send = (code: WithdrawResult['code'], rows: readonly StoredRow[]) =>
      client(
        { executeUpdate: () => ({ code, message: 'sure' }) },
        { ...ledgerOf(null), rows: async () => rows },
      ).countersign.sendWithdrawal(CHANGE, message);
    const recorded = row('withdrawn', { statement: message.statement, by: null, explanation });
    expect(await send('accepted', recorded)).toEqual({ code: 'accepted', message: explanation });
    expect(await send('duplicate', recorded)).toEqual({ code: 'duplicate', message: explanation });
    expect(await send('malformed', recorded)).toEqual({ code: 'accepted', message: explanation });
    const others = row('withdrawn', { statement: envelope, by: null, explanation });
    expect(await send('accepted', others)).toEqual({ code: 'duplicate', message: explanation });
    const refused = row('answer_refused', { digest: messageDigest(message), code: 'not_eligible', message: 'no' });
    expect(await send('accepted', refused)).toEqual({ code: 'not_eligible', message: 'no' });
    const broken = recorded.map((stored) => ({ ...stored, hash: hex('0') }));
    await expect(send('accepted', broken)).rejects.toMatchObject({ code: 'not_verified' });
    expect(await send('accepted', [])).toMatchObject({ code: 'sent', message: expect.stringContaining('sure') });
    const without = client({ executeUpdate: () => ({ code: 'accepted', message: '' }) });
    expect(await without.countersign.sendWithdrawal(CHANGE, message)).toMatchObject({ code: 'sent' });
    for (const reply of [null, 'accepted', { code: 'sure' }]) {
      const forged = client({ executeUpdate: () => reply }, { ...ledgerOf(null), rows: async () => recorded });
      expect(await forged.countersign.sendWithdrawal(CHANGE, message)).toMatchObject({ code: 'accepted' });
    }
  });

  it.each(UPDATE_LIMITS)(
    'goes by signal if the server accepts no more updates of the review (status %i)',
    async (code, text) => {
      const signals: unknown[] = [];
      const script: Script = {
        executeUpdate: () => {
          throw grpcError(code, text);
        },
        signal: (name, [sent]) => void signals.push([name, sent]),
      };
      const body = { statement: message.statement, by: null, explanation };
      const rows = chained([{ changeId: CHANGE, n: 0, prev: '', kind: 'withdrawn', at: AT, actor: 'cs_review', body: body as unknown as LedgerRow['body'] }]); // prettier-ignore
      const { countersign } = client(script, {
        ...ledgerOf(null),
        rows: async () => (signals.length === 0 ? [] : rows),
      });
      expect(await countersign.sendWithdrawal(CHANGE, message)).toEqual({ code: 'accepted', message: explanation });
      expect(await countersign.sendSupersession(CHANGE, { by: hex('8') })).toMatchObject({ code: 'duplicate' });
      expect(signals).toEqual([
        ['withdraw', message],
        ['supersede', { by: hex('8') }],
      ]);
      const without = client(script).countersign;
      const sent = { code: 'sent', message: 'sent, but not acknowledged: no row of the ledger has it' };
      expect(await without.sendWithdrawal(CHANGE, message)).toEqual(sent);
      expect(await without.sendSupersession(CHANGE, { by: hex('8') })).toEqual(sent);
    },
  );

  it('is signed with the service key, over this change, and sends nothing without one', async () => {
    const sent: unknown[] = [];
    const temporal = fakeTemporal({
      executeUpdate: (_name, [message]) => (sent.push(message), { code: 'not_eligible', message: '' }),
    });
    const of = (serviceKey: typeof service | null) =>
      new Countersign({ temporal: temporal.client, tenant: 'acme', store: null, serviceKey });
    await expect(of(null).withdraw(CHANGE)).rejects.toMatchObject({ code: 'not_eligible' });
    expect(sent).toEqual([]);
    expect(await of(service).withdraw(CHANGE, { reason: 'r' })).toMatchObject({ code: 'sent' });
    expect(await of(service).supersede(CHANGE, { by: hex('8') })).toMatchObject({ code: 'sent' });
    const statements = (sent as { statement: unknown }[]).map(({ statement }) => statement);
    expect(openEnvelope('withdraw', statements[0])).toMatchObject({
      keyid: service.keyId,
      statement: { predicate: { changeId: CHANGE, reason: 'r' } },
    });
    expect(openEnvelope('supersede', statements[1])).toMatchObject({
      statement: { predicate: { changeId: CHANGE, by: hex('8') } },
    });
  });
});

it('gives the evidence that it passes on its checksum, and verifies its own without one', async () => {
  const { bundle, changeId } = await openReview();
  const { countersign } = client({}, ledgerOf({ ...bundle, sha256: null }));
  expect(await countersign.bundle(changeId)).toEqual(bundle);
  expect(parseEvidence(evidenceText(await countersign.bundle(changeId)))).toMatchObject({ ok: true, bundle });
  expect(await countersign.status(changeId)).toMatchObject({ changeId, state: 'INTERVENTION_REQUIRED' });
});

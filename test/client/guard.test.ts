import timers from 'node:timers/promises';
import { CountersignError } from '../../client/errors';
import type { GuardClient } from '../../client/approval';
import { guard, type GuardOptions } from '../../client/guard';
import { GuardBlock, isGuardBlock } from '../../client/guard-block';
import { prepareSubmission, type SubmitInput } from '../../client/submission';
import { toResult, type ReviewResult } from '../../client/result';
import type { ReceiptPredicate, ReviewOutcome } from '../../policy/contracts/outcome';
import { newKeyPair } from '../../signing/keys';
import { committer, hex, outcome, status, trust, withReceipt } from './fakes';

interface Order {
  id: string;
  amount: number;
}

/** A client whose result comes from `decide`. `sign` creates an outcome with a receipt for the submitted bytes. */
function reviewer(
  decide: (made: {
    sign: (end?: Partial<ReviewOutcome>, lies?: Partial<ReceiptPredicate>, key?: typeof committer) => ReviewOutcome;
    changeId: string;
  }) => ReviewResult | Error,
  spent = new Map<string, string>(),
): GuardClient & { submitted: SubmitInput[]; withdrawn: string[] } {
  const submitted: SubmitInput[] = [];
  const withdrawn: string[] = [];
  const prepare = (input: SubmitInput) => prepareSubmission(input, 'acme');
  let last: ReturnType<typeof prepare> | undefined;
  return {
    trust,
    submitted,
    withdrawn,
    prepare,
    submit: async (input) => {
      submitted.push(input);
      last = prepare(input);
      return { changeId: last.changeId, preflight: 'pending', outcome: null };
    },
    result: async (changeId) => {
      const { inputSha, submission } = last ?? prepare(submitted[0]!);
      const sign = (
        end: Partial<ReviewOutcome> = {},
        lies: Partial<ReceiptPredicate> = {},
        key = committer,
      ): ReviewOutcome =>
        withReceipt(key, outcome({ changeId, inputSha, mode: 'cooperative', ...end }), {
          diffSha: submission.diffSha,
          sourceTool: 'Payment',
          ...lies,
        });
      const result = decide({ sign, changeId });
      if (result instanceof Error) throw result;
      return result;
    },
    spend: async (changeId, nonce) => {
      const first = spent.get(changeId) ?? nonce;
      spent.set(changeId, first);
      return { spent: first === nonce, message: '' };
    },
    withdraw: async (changeId) => {
      withdrawn.push(changeId);
      return { code: 'accepted', message: '' };
    },
  };
}

const options: GuardOptions<[Order], string> = {
  sourceTool: 'Payment',
  target: 'shop',
  stage: (order) => JSON.stringify(order),
};
const commits = ({ sign, changeId }: { sign: () => ReviewOutcome; changeId: string }): ReviewResult =>
  toResult(changeId, sign(), trust);
const order = (): Order => ({ id: 'o1', amount: 10 });

/** A client whose server says at once that the submitted change was decided before. */
function decidedBefore(client: GuardClient, said: Parameters<typeof outcome>[0]): GuardClient {
  return {
    ...client,
    submit: async (input) => {
      await client.submit(input);
      return { changeId: client.prepare(input).changeId, preflight: 'pending', outcome: outcome(said) };
    },
  };
}

afterEach(() => jest.restoreAllMocks());

describe('guard', () => {
  it('runs the tool only after a trusted committer signed a commit, and returns its result [V34]', async () => {
    const ran: Order[] = [];
    const client = reviewer(commits);
    const pay = guard(async (o: Order) => (ran.push(o), `paid ${o.amount}`), options, client);
    expect(await pay(order())).toBe('paid 10');
    expect(ran).toEqual([order()]);
    expect(client.submitted[0]).toMatchObject({ sourceTool: 'Payment', target: 'shop' });
  });

  it('uses an approval once, also if another process has it, or if its receipt is shown again', async () => {
    const ran: string[] = [];
    const ledger = new Map<string, string>();
    const fixed = { ...options, requestKey: () => 'fixed' };
    const inProcess = (name: string) =>
      guard(async (_o: Order) => (ran.push(name), name), fixed, reviewer(commits, ledger));
    const [one, two] = await Promise.all([inProcess('one')(order()), inProcess('two')(order())]);
    expect(ran).toEqual(['one']);
    expect([isGuardBlock(one), two]).toMatchObject([false, { reason: 'already_used' }]);
    expect(await inProcess('replayed')(order())).toMatchObject({ reason: 'already_used' });
    expect(ran).toEqual(['one']);
  });

  it.each([
    ['the tool', options],
    ['`commit`', { ...options, commit: async () => 'paid' }],
  ])(
    'runs %s only after the use of the approval was recorded, and asks again after a lost answer',
    async (_what, given) => {
      const client = reviewer(commits);
      const away = new CountersignError('gateway_unavailable', 'away');
      const spend = jest.fn(client.spend);
      spend.mockRejectedValueOnce(away).mockImplementationOnce(async (id, nonce) => {
        await client.spend(id, nonce);
        throw away;
      });
      const pause = jest.spyOn(timers, 'setTimeout').mockResolvedValue(undefined);
      expect(await guard(async (_o: Order) => 'paid', given, { ...client, spend })(order())).toBe('paid');
      expect(pause).toHaveBeenCalledTimes(2);
      expect(new Set(spend.mock.calls.map(([, nonce]) => nonce)).size).toBe(1);
      const down = { ...client, spend: () => Promise.reject(new CountersignError('ledger_unavailable', 'down')) };
      const tool = jest.fn(async (_o: Order) => 'paid');
      expect(await guard(tool, given, down)(order())).toMatchObject({ reason: 'failed' });
      expect(tool).not.toHaveBeenCalled();
    },
  );

  it.each([
    ['a finding of BLOCK beside a signed COMMIT', 'BLOCK', {}, 1],
    ['a finding of ALLOW beside a signed ROLLBACK', 'ALLOW', { action: 'ROLLBACK', state: 'ROLLED_BACK' }, 0],
  ] as const)('decides nothing and acts on the signed action, given %s [V18]', async (_name, status, end, runs) => {
    const tool = jest.fn(async (_o: Order) => 'ran');
    const finding = { validator_id: 'guardian.x', status, reason: '', evidenceRefs: [] };
    const findings = [{ ...finding, phase: 'preflight', class: 'POLICY', logic_hash: hex('5') } as const];
    const reason = 'action' in end ? ('declined' as const) : null;
    await guard(
      tool,
      options,
      reviewer(({ sign, changeId }) => toResult(changeId, sign({ ...end, reason, findings }), trust)),
    )(order());
    expect(tool).toHaveBeenCalledTimes(runs);
  });

  it('passes exactly the approved bytes and the receipt to `commit`', async () => {
    const pay = guard(
      async (_o: Order) => 'tool',
      { ...options, commit: async (bytes, receipt) => `${new TextDecoder().decode(bytes)} ${receipt.mode}` },
      reviewer(commits),
    );
    expect(await pay(order())).toBe('{"id":"o1","amount":10} cooperative');
  });

  it.each<[string, Parameters<typeof reviewer>[0], string]>([
    [
      'rejected',
      ({ sign, changeId }) =>
        toResult(changeId, sign({ state: 'ROLLED_BACK', action: 'ROLLBACK', reason: 'declined' }), trust),
      'rolled_back',
    ],
    [
      'compensated',
      ({ sign, changeId }) =>
        toResult(changeId, sign({ state: 'COMPENSATED', action: 'ROLLBACK', reason: 'post_failed' }), trust),
      'rolled_back',
    ],
    [
      'rolled back without a receipt',
      ({ sign, changeId }) =>
        toResult(
          changeId,
          { ...sign({ state: 'ROLLED_BACK', action: 'ROLLBACK', reason: 'declined' }), receipt: null },
          trust,
        ),
      'unverified',
    ],
    ['aborted', () => ({ state: 'ABORTED', verified: false, why: 'terminated' }), 'unverified'],
    [
      'committed without a receipt',
      ({ sign, changeId }) => toResult(changeId, { ...sign(), receipt: null }, trust),
      'unverified',
    ],
    [
      'committed by a stranger',
      ({ sign, changeId }) => toResult(changeId, sign({}, {}, newKeyPair()), trust),
      'unverified',
    ],
    [
      'committed and marked as verified, by a stranger',
      ({ sign }) => ({ state: 'COMMITTED', outcome: sign({}, {}, newKeyPair()), verified: true, why: null }),
      'unverified',
    ],
    [
      'committed for other bytes',
      ({ sign, changeId }) => toResult(changeId, sign({}, { diffSha: hex('9') }), trust),
      'unverified',
    ],
    [
      'committed under another plan',
      ({ sign, changeId }) => toResult(changeId, sign({}, { planHash: hex('9') }), trust),
      'unverified',
    ],
    [
      'committed for another change',
      ({ sign }) => ({ state: 'COMMITTED', outcome: sign({ changeId: hex('9') }), verified: true, why: null }),
      'unverified',
    ],
    [
      'committed by an enforced target, whose committer did it already',
      ({ sign, changeId }) => toResult(changeId, sign({ mode: 'enforced' }), trust),
      'not_cooperative',
    ],
    ['in no state that exists', () => ({ state: 'FOO' }) as unknown as ReviewResult, 'unverified'],
    [
      'in no state that exists, by the outcome of a forged workflow',
      ({ sign, changeId }) => toResult(changeId, { ...sign(), state: 'FOO' as 'COMMITTED', receipt: null }, trust),
      'unverified',
    ],
    ['not reviewable', () => new CountersignError('refused', 'no plan'), 'failed'],
    ['broken', () => new Error('boom'), 'failed'],
  ])(
    'does not run the tool when the change is %s, runs rollback, and returns a GuardBlock [V34]',
    async (_name, decide, reason) => {
      const rolledBack: unknown[] = [];
      const tool = jest.fn(async (_o: Order) => 'ran');
      const pay = guard(
        tool,
        { ...options, rollback: async (block, o) => void rolledBack.push([block.reason, o]) },
        reviewer(decide),
      );
      const blocked = await pay(order());
      expect(isGuardBlock(blocked)).toBe(true);
      expect(blocked).toBeInstanceOf(GuardBlock);
      expect(blocked).toMatchObject({ reason, mode: 'cooperative' });
      expect(tool).not.toHaveBeenCalled();
      expect(rolledBack).toEqual([[reason, order()]]);
    },
  );

  it.each(['FOO', undefined])('does not commit a change whose state is %s', async (state) => {
    const commit = jest.fn(async () => 'ran');
    const client = reviewer(({ sign, changeId }) =>
      state === undefined ? ('FOO' as never) : toResult(changeId, { ...sign(), state: state as 'COMMITTED' }, trust),
    );
    const blocked = await guard(async (_o: Order) => 'ran', { ...options, commit }, client)(order());
    expect(blocked).toMatchObject({ reason: 'unverified' });
    expect(commit).not.toHaveBeenCalled();
  });

  it('withdraws the change if there is no decision in time', async () => {
    const client = reviewer(() => ({ state: 'PENDING', status: status() }));
    const tool = jest.fn(async (_o: Order) => 'ran');
    expect(await guard(tool, { ...options, timeoutMs: 1 }, client)(order())).toMatchObject({ reason: 'timed_out' });
    expect(client.withdrawn).toHaveLength(1);
    expect(tool).not.toHaveBeenCalled();
  });

  it('waits on while the gateway answers fewer requests than it gets', async () => {
    const pause = jest.spyOn(timers, 'setTimeout').mockResolvedValue(undefined);
    let asked = 0;
    const busy = new CountersignError('too_many_requests', 'Too many requests within 5 minutes: send fewer');
    const client = reviewer((made) => (asked++ === 0 ? busy : commits(made)));
    const spend = jest.fn(client.spend).mockRejectedValueOnce(busy);
    expect(await guard(async (_o: Order) => 'paid', options, { ...client, spend })(order())).toBe('paid');
    expect(pause).toHaveBeenCalledTimes(2);
  });

  it('does not withdraw the change early if the clock is set', async () => {
    const client = reviewer(({ sign, changeId }) => {
      if (asked++ > 0) return toResult(changeId, sign(), trust);
      jest.spyOn(Date, 'now').mockReturnValue(new Date().getTime() + 3_600_000);
      return { state: 'PENDING', status: status() };
    });
    let asked = 0;
    const pay = guard(async (_o: Order) => 'paid', { ...options, timeoutMs: 60_000 }, client);
    expect(await pay(order())).toBe('paid');
    expect(client.withdrawn).toEqual([]);
  });

  it('submits the same change again if the server is away for a moment, and refuses the call if it stays away', async () => {
    const pause = jest.spyOn(timers, 'setTimeout').mockResolvedValue(undefined);
    const away = new CountersignError('gateway_unavailable', 'away');
    const client = reviewer(commits);
    const submit = jest.fn(client.submit).mockRejectedValueOnce(away).mockRejectedValueOnce(away);
    expect(await guard(async (_o: Order) => 'paid', options, { ...client, submit })(order())).toBe('paid');
    expect(new Set(submit.mock.calls.map(([input]) => client.prepare(input).changeId)).size).toBe(1);
    expect(pause).toHaveBeenCalledTimes(2);
    const tool = jest.fn(async (_o: Order) => 'paid');
    const down = { ...client, submit: jest.fn(() => Promise.reject(away)) };
    expect(await guard(tool, options, down)(order())).toMatchObject({ reason: 'failed' });
    expect([down.submit.mock.calls.length, tool.mock.calls.length]).toEqual([5, 0]);
  });

  it('submits a new review for each call: an approval never covers a second call', async () => {
    const client = reviewer(commits);
    const pay = guard(async (_o: Order) => 'ran', options, client);
    await pay(order());
    await pay(order());
    const [first, second] = client.submitted.map((input) => client.prepare(input).changeId);
    expect(first).not.toBe(second);
  });

  it('runs nothing for a change that was rolled back before, or that another call of the process waits for', async () => {
    const keyed = { ...options, requestKey: () => 'one' };
    const client = reviewer(commits);
    const tool = jest.fn(async (_o: Order) => 'ran');
    const pay = guard(tool, keyed, client);
    const both = await Promise.all([pay(order()), pay(order())]);
    expect(both.filter(isGuardBlock)).toMatchObject([{ reason: 'already_decided' }]);
    expect(tool).toHaveBeenCalledTimes(1);
    const decided = decidedBefore(client, { state: 'ROLLED_BACK', explanation: 'no' });
    expect(await guard(tool, keyed, decided)(order())).toMatchObject({
      reason: 'already_decided',
      explanation: expect.stringContaining('the effect did not run: no'),
    });
    expect(tool).toHaveBeenCalledTimes(1);
  });

  describe('a call of a process that was down while its change was approved', () => {
    const keyed = { ...options, requestKey: () => 'one', timeoutMs: 60_000 };
    const approvedAt =
      (ageMs: number): typeof commits =>
      ({ sign, changeId }: { sign: (end?: object, lies?: object) => ReviewOutcome; changeId: string }) =>
        toResult(changeId, sign({}, { at: new Date(Date.now() - ageMs).toISOString() }), trust);
    const call = (decide: typeof commits, ledger = new Map<string, string>()) => {
      const tool = jest.fn(async (_o: Order) => 'ran');
      const client = decidedBefore(reviewer(decide, ledger), { state: 'COMMITTED' });
      return { tool, run: () => guard(tool, keyed, client)(order()) };
    };

    it('uses the approval, and only one such call does', async () => {
      const ledger = new Map<string, string>();
      const [first, second] = [call(approvedAt(30_000), ledger), call(approvedAt(30_000), ledger)];
      expect(await first.run()).toBe('ran');
      expect(await second.run()).toMatchObject({ reason: 'already_used' });
      expect([first.tool.mock.calls.length, second.tool.mock.calls.length]).toEqual([1, 0]);
    });

    it('does not use one that is older than the call would have waited', async () => {
      const old = call(approvedAt(61_000));
      expect(await old.run()).toMatchObject({
        reason: 'already_decided',
        explanation: expect.stringContaining('longer ago'),
      });
      expect(old.tool).not.toHaveBeenCalled();
    });

    it('does not use one that only the answer to its submission claims', async () => {
      const forged = call(({ sign, changeId }) => toResult(changeId, { ...sign(), receipt: null }, trust));
      expect(await forged.run()).toMatchObject({ reason: 'unverified' });
      expect(forged.tool).not.toHaveBeenCalled();
    });
  });

  it('runs the tool with the staged arguments, even if the caller modifies its object during the review', async () => {
    const live = order();
    const ran: Order[] = [];
    const client = reviewer((made) => {
      live.amount = 1_000_000;
      return commits(made);
    });
    await guard(async (o: Order) => void ran.push(o), options as unknown as GuardOptions<[Order], void>, client)(live);
    expect(ran).toEqual([order()]);
  });

  it.each<[string, (again: Order) => string]>([
    ['returns different bytes', (again) => JSON.stringify({ ...again, id: 'o2' })],
    [
      'throws',
      () => {
        throw new Error('the file is gone');
      },
    ],
    ['returns nothing', () => undefined as never],
  ])('does not run the tool, and runs rollback, if the second call of `stage` %s', async (_what, again) => {
    const tool = jest.fn(async (_o: Order) => 'ran');
    const rollback = jest.fn(async () => undefined);
    const stage = jest.fn(options.stage).mockImplementationOnce(options.stage).mockImplementationOnce(again);
    const spend = jest.fn();
    const pay = guard(tool, { ...options, stage, rollback }, { ...reviewer(commits), spend });
    expect(await pay(order())).toMatchObject({ reason: 'bytes_changed' });
    expect(tool).not.toHaveBeenCalled();
    expect(spend).not.toHaveBeenCalled();
    expect(rollback).toHaveBeenCalledTimes(1);
  });

  it.each<[string, Partial<GuardOptions<[Order], string>>, Partial<GuardClient>]>([
    ['the staged bytes are refused', { stage: () => '' }, {}],
    ['the staged value has no bytes', { stage: () => 1 as unknown as string }, {}],
    [
      '`requestKey` throws',
      {
        requestKey: () => {
          throw new Error('no key');
        },
      },
      {},
    ],
    [
      'the server refuses the input',
      {},
      { submit: () => Promise.reject(new CountersignError('invalid_input', 'target: unknown')) },
    ],
  ])('runs rollback if a call throws after `stage` because %s', async (_what, set, of) => {
    const tool = jest.fn(async (_o: Order) => 'ran');
    const rollback = jest.fn(async () => undefined);
    const pay = guard(tool, { ...options, ...set, rollback }, { ...reviewer(commits), ...of });
    await expect(pay(order())).rejects.toThrow();
    expect(rollback).toHaveBeenCalledTimes(1);
    expect(rollback).toHaveBeenCalledWith(expect.objectContaining({ reason: 'failed' }), order());
    expect(tool).not.toHaveBeenCalled();
  });

  it('throws both errors if rollback fails after the call has failed', async () => {
    const rollback = (): Promise<void> => Promise.reject(new Error('disk full'));
    const refused = new CountersignError('invalid_input', 'target: unknown');
    const client = { ...reviewer(commits), submit: () => Promise.reject(refused) };
    const thrown = await guard(
      async (_o: Order) => 'ran',
      { ...options, rollback },
      client,
    )(order()).catch((e: unknown) => e);
    expect((thrown as AggregateError).errors).toEqual([refused, new Error('disk full')]);
    expect((thrown as AggregateError).message).toBe('target: unknown; then `rollback` failed: disk full');
  });

  it('does not run rollback if the tool itself throws: its effect may have begun', async () => {
    const rollback = jest.fn(async () => undefined);
    const tool = (_o: Order): Promise<string> => Promise.reject(new CountersignError('invalid_input', 'no such order'));
    await expect(guard(tool, { ...options, rollback }, reviewer(commits))(order())).rejects.toThrow('no such order');
    expect(rollback).not.toHaveBeenCalled();
  });

  it('throws on invalid options, and, when called, on arguments that cannot be copied and on nothing staged', async () => {
    expect(() => guard(undefined as never, options, reviewer(commits))).toThrow(
      'tool: expected an async function, got nothing',
    );
    expect(() => guard(async (_o: Order) => 'x', { ...options, stage: undefined as never }, reviewer(commits))).toThrow(
      'stage: expected a function',
    );
    const wrong = { target: 'my shop', commit: 'pay', timeoutMs: '60000' };
    for (const [name, value] of Object.entries(wrong))
      expect(() => guard(async (_o: Order) => 'x', { ...options, [name]: value }, reviewer(commits))).toThrow(
        `${name}: expected`,
      );
    expect(() => guard(async (_o: Order) => 'x', undefined as never, reviewer(commits))).toThrow('input: expected');
    expect(() => guard(async (_o: Order) => 'x', options, undefined as never)).toThrow(
      'countersign: expected a client',
    );
    for (const staged of [undefined, null, 7, { order: 7 }])
      await expect(
        guard(async (_o: Order) => 'x', { ...options, stage: () => staged as never }, reviewer(commits))(order()),
      ).rejects.toThrow('stage: expected a function that returns');
    const odd = guard(
      async (_f: () => void) => 'x',
      { ...options, stage: () => 'x' } as unknown as GuardOptions<[() => void], string>,
      reviewer(commits),
    );
    await expect(odd(() => undefined)).rejects.toThrow('arguments: expected values that can be copied');
  });

  it('throws without trusted committer keys, because no approval could be verified', () => {
    expect(() => guard(async (_o: Order) => 'ran', options, { ...reviewer(commits), trust: null })).toThrow(
      'trust: expected the public key of at least one committer',
    );
    expect(() =>
      guard(async (_o: Order) => 'ran', options, { ...reviewer(commits), trust: { committers: [] } }),
    ).toThrow('trust');
  });
});

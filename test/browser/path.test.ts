import { CASES, type Stage } from '../../examples/demo/cases';
import { Shop } from '../../examples/demo/shop';
import { describeInBrowser } from './support/chromium';
import { useEnvironment, type Environment } from './support/environment';
import { cards, choose, openReview, sign, typeWhatItTouches } from './support/review-page';
import { takeSeat, type Person, type Seat } from './support/seat';
import { NOTHING } from './support/traps';

describeInBrowser('the path of the demo', () => {
  const environment = useEnvironment();
  const seats = new Map<Person, Seat>();
  jest.setTimeout(240_000);

  beforeAll(async () => {
    for (const person of ['alice', 'bob'] as const) seats.set(person, await takeSeat(environment(), person));
  }, 240_000);
  afterAll(async () => {
    for (const seat of seats.values()) await seat.close();
  });

  /** The demo's agent and its shop; people answer on the page. */
  function stage(run: string): Stage {
    const { system } = environment();
    const shop = new Shop(system.setup.targetAdminUrls['shop'] ?? '');
    return {
      shop,
      run,
      say: () => undefined,
      submit: (input) => system.submit(input),
      waiting: (changeId) => system.waiting(changeId),
      result: (changeId) => system.ended(changeId),
      answerByTemporalCli: () => Promise.reject(new Error('Not by the Temporal CLI')),
      refundByWorkflow: () => Promise.reject(new Error('Not by a workflow')),
      async answer(status, person, decision, violationIds, reason) {
        const seat = seats.get(person);
        if (seat === undefined || decision === 'retract') throw new Error(`${person} cannot ${decision} here`);
        await openReview(seat.page, status.changeId);
        for (const violationId of violationIds) {
          const position = status.violations.findIndex((violation) => violation.violationId === violationId);
          await choose(cards(seat.page).nth(position), decision, reason);
        }
        if (decision === 'confirm' && status.violations.length > 1)
          await typeWhatItTouches(seat.page, 'public.customers', 2_000);
        await sign(seat.page);
        await seat.page
          .getByText(/Recorded \(accepted\)|You have answered this|takes no answers now/)
          .first()
          .waitFor();
      },
    };
  }

  async function play(id: number): Promise<string> {
    const played = CASES.find((each) => each.id === id);
    if (played === undefined) throw new Error(`The demo has no case ${id}`);
    return await played.run(stage(`browser-${id}-${Date.now()}`));
  }

  test('case 2: alice confirms one violation and bob rejects the other, and the table is as before', async () => {
    const changeId = await play(2);
    const end = await environment().system.ended(changeId);
    expect([end.state, end.outcome.reason, end.verified]).toEqual(['ROLLED_BACK', 'declined', true]);
    const answers = await answersOf(environment(), changeId);
    expect(answers.map(({ person, decision, reason }) => [person, decision, reason])).toEqual([
      ['alice', 'confirm', 'The campaign is agreed'],
      ['bob', 'reject', 'Not for closed accounts'],
    ]);
    expect(answers[0]?.coverage).toBe(1);
    const bob = seats.get('bob');
    await bob?.page
      .getByText(/^Rolled back/)
      .first()
      .waitFor();
    expect(await bob?.page.getByRole('button', { name: 'Confirm' }).count()).toBe(0);
  });

  test('case 6: bob reads what the judge quotes, which is marked as found in the bytes, and confirms', async () => {
    const changeId = await play(6);
    const end = await environment().system.ended(changeId);
    expect([end.state, end.verified]).toEqual(['COMMITTED', true]);
    const bob = seats.get('bob');
    await bob?.page
      .getByText(/^Committed/)
      .first()
      .waitFor();
    await expect(bob?.page.locator('main').innerText()).resolves.toContain('partner.example');
    expect(await answersOf(environment(), changeId)).toMatchObject([{ person: 'bob', decision: 'confirm' }]);
  });

  test('nothing on the way violated the policy of the page, reached another host or failed', () => {
    for (const { traps } of seats.values()) expect(traps).toEqual(NOTHING);
  });
});

interface RecordedAnswer {
  readonly person: string;
  readonly decision: string;
  readonly reason: string;
  readonly coverage: number | null;
}

/** The accepted answers of the ledger: the signed statement of each, and whose key signed it. */
async function answersOf({ system }: Environment, changeId: string): Promise<RecordedAnswer[]> {
  const rows = (await system.ledger(changeId)).filter(({ row }) => row.kind === 'answer_accepted');
  return rows.map(({ row: { body } }) => {
    const envelope = body['answer'] as { readonly payload: string };
    const statement = JSON.parse(Buffer.from(envelope.payload, 'base64').toString('utf8')) as {
      readonly predicate: Omit<RecordedAnswer, 'person'>;
    };
    const { decision, reason, coverage } = statement.predicate;
    return { person: String(body['person']), decision, reason, coverage };
  });
}

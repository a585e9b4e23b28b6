import {
  answering,
  answerTo,
  completion,
  sendJson,
  startJudgeServer,
  type JudgeServer,
} from '../../support/judge-server';
import { judgeWorld, MODEL } from './judge-world';

const DIFF = "UPDATE orders SET state = 'refunded' WHERE id = 7;";
/** What `completion` reports, at the prices of the test: 200 tokens at 2, 1000 cached at 0.5, 90 at 8. */
const COST = { costMicros: 1620, usage: { input: 1200, cachedInput: 1000, output: 90, reasoning: 10 } };

describe('cached answers', () => {
  let server: JudgeServer;
  beforeAll(async () => {
    server = await startJudgeServer(answering());
  });
  afterAll(() => server.stop());
  beforeEach(() => server.clear());

  it('if the ledger is unavailable, the retry uses the cached answer, and its record counts the tokens and cost of the first attempt', async () => {
    server.use(answering());
    let away = true;
    const world = judgeWorld(server, {
      append: async () => {
        if (away) throw new Error('no ledger');
        return [];
      },
    });
    const input = world.change(DIFF);
    await expect(world.ask(input)).rejects.toThrow('no ledger');
    away = false;
    await expect(world.ask(input, 2)).resolves.toMatchObject({ reused: true, result: { status: 'ALLOW' } });
    expect(server.requests).toHaveLength(1);
    expect(world.predicates[1]?.record).toMatchObject({
      ...COST,
      cacheHit: true,
      calls: [{ reusedFrom: input.changeId }],
    });
  });

  it('a record counts all pieces if one of them failed in the first attempt', async () => {
    let failed = false;
    server.use((response, request) => {
      if (request.firstLine > 1 && !failed) {
        failed = true;
        // Later than the answer to the first piece.
        setTimeout(() => sendJson(response, 429, {}), 300);
      } else sendJson(response, 200, completion(MODEL, answerTo(request)));
    });
    const world = judgeWorld(server);
    const text = Array.from({ length: 4 }, (_, i) => `UPDATE orders SET note = 'number ${i}' WHERE id = ${i};`);
    const input = world.change(text.join('\n'), { settings: { byteBudget: 256 } });
    await expect(world.ask(input)).rejects.toThrow(/rate_limited/);
    await world.ask(input, 2);
    expect(server.requests).toHaveLength(3);
    expect(world.predicates[0]?.record).toMatchObject({ costMicros: 2 * COST.costMicros, usage: { input: 2400 } });
  });

  it('of copies that are judged at the same time, only the first can get a milder answer than another', async () => {
    const waiting: (() => void)[] = [];
    server.use((response, request) => {
      const verdict = waiting.length === 0 ? 'ALLOW' : 'BLOCK';
      // The second request is answered first.
      waiting.push(() => sendJson(response, 200, completion(MODEL, answerTo(request, { verdict }))));
      if (waiting.length < 2) return;
      waiting[1]?.();
      setTimeout(() => waiting[0]?.(), 300);
    });
    const world = judgeWorld(server);
    const copies = ['one', 'two'].map((requestKey) => world.change(DIFF, { requestKey }));
    const results = await Promise.all(copies.map((copy) => world.ask(copy)));
    expect(server.requests).toHaveLength(2);
    expect(results.map(({ result }) => result.status)).toEqual(['BLOCK', 'BLOCK']);
    // Both asked the model, and both paid.
    for (const { record } of world.predicates) expect(record).toMatchObject(COST);
    const reused = world.predicates.map(
      ({ record }) => (record as { calls: { reusedFrom: unknown }[] }).calls[0]?.reusedFrom,
    );
    expect(reused).toContain(null);
    expect(reused.filter((origin) => origin !== null)).toHaveLength(1);
  });
});

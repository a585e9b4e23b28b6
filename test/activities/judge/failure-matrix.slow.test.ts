import { ApplicationFailure } from '@temporalio/common';
import { FailureType } from '../../../policy/contracts/failure-type';
import { causeOf } from '../../../policy/decide/judge-failure';
import { noCache } from '../../../activities/judge/cache';
import { createJudgeTransport } from '../../../activities/judge/transport';
import { answering, startJudgeServer, type JudgeServer } from '../../support/judge-server';
import { DEADLINE_MS, FAILURE_SHAPES, type FailureShape } from './failure-shapes';
import { judgeWorld } from './judge-world';

const DIFF = "UPDATE orders SET note = 'a' WHERE id = 7;";

/** Only the shapes that never end use the short deadline; the others must not time out on a busy machine. */
const deadlineOf = ({ cause }: FailureShape): number => (cause === 'timeout' ? DEADLINE_MS : 30_000);

/** How askJudge fails on this shape, and what it has done until then. */
async function askedOf(server: JudgeServer, shape: FailureShape) {
  server.clear();
  server.use(shape.handler);
  const world = judgeWorld(server, { cache: noCache });
  const began = performance.now();
  const failure = await world.ask(world.change(DIFF, { settings: { deadlineMs: deadlineOf(shape) } })).then(
    () => null,
    (error: unknown) => error,
  );
  const took = performance.now() - began;
  return { failure, took, done: [server.requests.length, world.ledger.length, world.predicates.length] };
}

describe('askJudge over a server that misbehaves', () => {
  let server: JudgeServer;
  /** The shapes that end by the deadline wait for it at the same time, each with a server of its own. */
  const waiting = new Map<string, ReturnType<typeof askedOf>>();
  const servers: JudgeServer[] = [];
  beforeAll(async () => {
    for (const shape of FAILURE_SHAPES.filter(({ cause }) => cause === 'timeout')) {
      const own = await startJudgeServer(answering());
      servers.push(own);
      waiting.set(shape.id, askedOf(own, shape));
    }
    server = await startJudgeServer(answering());
    servers.push(server);
  });
  afterAll(() => Promise.all(servers.map((each) => each.stop())));

  it('covers at least 35 failure shapes', () => {
    expect(new Set(FAILURE_SHAPES.map((s) => s.id)).size).toBeGreaterThanOrEqual(35);
  });

  it.each(FAILURE_SHAPES.map((s) => [s.id, s] as const))(
    'fails on %s with the expected class and cause, in time, after one request, and signs nothing [F20, F21, F54, T21]',
    async (_, shape) => {
      const { failure, took, done } = await (waiting.get(shape.id) ?? askedOf(server, shape));
      expect(failure).toBeInstanceOf(ApplicationFailure);
      const { type, message, nonRetryable, nextRetryDelay } = failure as ApplicationFailure;
      expect({
        type,
        cause: causeOf(message),
        retryable: nonRetryable !== true,
        delayMs: nextRetryDelay ?? undefined,
      }).toEqual({
        type: shape.type,
        cause: shape.cause,
        retryable: shape.retryable,
        delayMs: shape.delayMs,
      });
      expect(took).toBeLessThan(deadlineOf(shape) + 20_000);
      expect(done).toEqual([1, 0, 0]);
      expect(message).not.toContain('secret words');
    },
  );

  it('fails on a closed port and on a host name that does not resolve', async () => {
    for (const baseUrl of ['http://127.0.0.1:1/v1', 'http://no-such-host.invalid/v1']) {
      const world = judgeWorld({ baseUrl }, { cache: noCache });
      await expect(world.ask(world.change(DIFF, { settings: { deadlineMs: 5000 } }))).rejects.toMatchObject({
        type: FailureType.Backend,
        nonRetryable: false,
      });
    }
  });

  it('throws for a base URL that is malformed or contains credentials, and for an empty key', () => {
    expect(() => createJudgeTransport({ baseUrl: 'nonsense', apiKey: 'k' })).toThrow(/baseUrl: expected an http/);
    expect(() => createJudgeTransport({ baseUrl: 'file:///etc/passwd', apiKey: 'k' })).toThrow(/http/);
    expect(() => createJudgeTransport({ baseUrl: 'https://u:p@example.com/v1', apiKey: 'k' })).toThrow(/credentials/);
    expect(() => createJudgeTransport({ baseUrl: 'https://example.com/v1', apiKey: '' })).toThrow(/apiKey/);
  });

  it('does not retry an unreadable answer, because another answer would be another chance to pass', async () => {
    server.use((response, request) =>
      answering({ canary: 'x' })(response, request, { method: '', path: '', headers: {}, body: '' }),
    );
    const world = judgeWorld(server, { cache: noCache });
    await expect(world.ask(world.change(DIFF), 1)).rejects.toMatchObject({
      type: FailureType.VerdictParse,
      nonRetryable: true,
    });
  });
});

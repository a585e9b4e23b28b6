import { FailureType } from '../../../policy/contracts/failure-type';
import { JudgeRecord } from '../../../policy/judge/record';
import { noCache } from '../../../activities/judge/cache';
import {
  answering,
  saying,
  sendJson,
  startJudgeServer,
  type Handler,
  type JudgeServer,
} from '../../support/judge-server';
import { judgeWorld, type JudgeWorld } from './judge-world';

const DIFF = "UPDATE orders SET note = 'a' WHERE id = 7;";

/** Refuses a request with `response_format` as this body says, and answers any other request. */
const refusing =
  (status: number, body: unknown, then: Handler = answering()): Handler =>
  (response, request, seen) =>
    'response_format' in request.json ? sendJson(response, status, body) : then(response, request, seen);
const REFUSED = { error: { message: 'This response_format type is unavailable now', type: 'invalid_request_error' } };

describe('structured output', () => {
  let server: JudgeServer;
  beforeAll(async () => {
    server = await startJudgeServer(answering());
  });
  afterAll(() => server.stop());
  beforeEach(() => server.clear());

  const ask = (world: JudgeWorld, requestKey: string, settings: object = {}) =>
    world.ask(world.change(DIFF, { requestKey, settings: { ...settings } }));
  const withFormat = (): boolean[] =>
    server.requests.map(({ body }) => 'response_format' in (JSON.parse(body) as object));
  const recorded = (world: JudgeWorld): boolean[] =>
    world.predicates.flatMap(({ record }) => JudgeRecord.parse(record).calls.map((call) => call.structuredOutput));

  it('is requested from a server that supports it, and recorded', async () => {
    server.use(answering());
    const world = judgeWorld(server, { cache: noCache });
    await ask(world, 'a');
    expect([withFormat(), recorded(world)]).toEqual([[true], [true]]);
  });

  it.each<[string, number, unknown]>([
    ['in its message', 400, REFUSED],
    ['in the parameter', 400, { error: { message: 'Unsupported parameter', param: 'response_format' } }],
    ['by its type', 400, { error: { message: 'This model does not support response format `json_schema`.' } }],
    [
      'in a validation report',
      422,
      { detail: [{ loc: ['body', 'response_format', 'type'], msg: 'unexpected value' }] },
    ],
  ])('is left out after a server has refused it %s, once for each model', async (_, status, body) => {
    server.use(refusing(status, body));
    const world = judgeWorld(server, { cache: noCache });
    await expect(ask(world, 'a')).resolves.toMatchObject({ result: { status: 'ALLOW' } });
    await ask(world, 'b');
    await ask(world, 'c', { model: 'another', acceptedModels: [] });
    expect(withFormat()).toEqual([true, false, false, true, false]);
    expect(recorded(world)).toEqual([false, false, false]);
  });

  it('is not given up for an error that does not name it', async () => {
    server.use(refusing(400, { error: { message: 'maximum context length exceeded' } }));
    await expect(ask(judgeWorld(server, { cache: noCache }), 'a')).rejects.toThrow(/bad_request/);
    server.use(refusing(500, REFUSED));
    await expect(ask(judgeWorld(server, { cache: noCache }), 'a')).rejects.toThrow(/server_error/);
    expect(withFormat()).toEqual([true, true]);
  });

  it('is requested again if the request without it failed too, with at most two requests for a call', async () => {
    server.use(refusing(400, REFUSED, (response) => sendJson(response, 400, REFUSED)));
    const world = judgeWorld(server, { cache: noCache });
    await expect(ask(world, 'a')).rejects.toThrow(/bad_request/);
    await expect(ask(world, 'b')).rejects.toThrow(/bad_request/);
    expect(withFormat()).toEqual([true, false, true, false]);
  });

  it('is required or never requested if the plan says so', async () => {
    server.use(refusing(400, REFUSED));
    const world = judgeWorld(server, { cache: noCache });
    await expect(ask(world, 'a', { structuredOutput: 'required' })).rejects.toThrow(/bad_request/);
    await ask(world, 'b', { structuredOutput: 'off' });
    expect([withFormat(), recorded(world)]).toEqual([[true, false], [false]]);
  });

  it('does not make the reader lenient where it is missing', async () => {
    server.use(refusing(400, REFUSED, saying('Fine: {"verdict":"ALLOW"}')));
    await expect(ask(judgeWorld(server, { cache: noCache }), 'a')).rejects.toMatchObject({
      type: FailureType.VerdictParse,
      nonRetryable: true,
    });
  });
});

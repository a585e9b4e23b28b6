/** What the tests use of the client. Not by its type, because the types of a browser are not those of these tests. */
interface Client {
  readonly api: Readonly<Record<string, (...given: unknown[]) => Promise<unknown>>>;
  onUnauthenticated(listener: () => void): void;
}

let client: Client;
const ended = jest.fn();

beforeAll(() => {
  Object.assign(globalThis, { document: { baseURI: 'https://countersign.example/inbox/' } });
  jest.isolateModules(() => {
    client = require('../../../../gateway/inbox/page/api-client') as Client;
  });
  client.onUnauthenticated(ended);
});
beforeEach(() => ended.mockClear());
afterEach(() => jest.restoreAllMocks());
afterAll(() => void Reflect.deleteProperty(globalThis, 'document'));

function answering(response: Response | Error): void {
  jest
    .spyOn(globalThis, 'fetch')
    .mockImplementation(() => (response instanceof Error ? Promise.reject(response) : Promise.resolve(response)));
}

const REFUSED = '{"error":{"code":"unauthenticated","message":"no"}}';

it.each([
  ['session', 1],
  ['bundle', 1],
  ['answer', 1],
  // The passkey or the challenge was refused. A session that the browser has goes on.
  ['finishLogin', 0],
  ['finishEnrollment', 0],
])('a refused request "%s" ends the session of the page %i times', async (name, times) => {
  answering(new Response(REFUSED, { status: 401 }));
  await expect(client.api[name]?.('a', [])).rejects.toMatchObject({ code: 'unauthenticated', status: 401 });
  expect(ended).toHaveBeenCalledTimes(times);
});

it.each<[string, Response | Error, object]>([
  ['no connection', new TypeError('fetch failed'), { code: 'unreachable', status: 0 }],
  ['the page of a proxy', new Response('<html>', { status: 502 }), { code: 'unreachable' }],
  ['a body that is not JSON', new Response('<html>'), { code: 'unreachable' }],
  ['an error without a body', new Response('', { status: 503 }), { code: 'unreachable', status: 503 }],
])('reports %s as a gateway that does not answer', async (_what, response, expected) => {
  answering(response);
  await expect(client.api['session']?.()).rejects.toMatchObject(expected);
  expect(ended).not.toHaveBeenCalled();
});

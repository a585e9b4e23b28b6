import { existsSync, readFileSync, statSync, chmodSync } from 'node:fs';
import { withLyingGateway } from '../../../examples/attacks/lying-gateway';
import type { EvidenceBundle } from '../../../policy/evidence/bundle';
import { signKeyEntry } from '../../../signing/registry-entry';
import { newKeyPair } from '../../../signing/keys';
import { temporaryFolder } from '../run-command';
import { gatewayWorld, type GatewayWorld } from './gateway-world';

const folder = temporaryFolder();
let g: GatewayWorld;
beforeAll(async () => {
  g = await gatewayWorld(folder);
});
afterAll(async () => await g.stop());

const file = (): string => g.path('config/countersign/login.json');
const signedIn = async (): Promise<void> => expect(await g.run(g.login())).toMatchObject({ code: 0 });

describe('login', () => {
  it('keeps address, tenant, path of the key and trust roots in a file of the user alone, and whoami shows what an operator granted', async () => {
    const { code, out } = await g.run(g.login());
    expect(code).toBe(0);
    expect(statSync(file()).mode & 0o777).toBe(0o600);
    expect(JSON.parse(readFileSync(file(), 'utf8'))).toEqual({
      url: g.url,
      tenant: 'acme',
      keyFile: g.key('alice'),
      ...g.world.trust,
    });
    const whoami = await g.run(['whoami']);
    expect(whoami).toMatchObject({ code: 0, out });
    expect(out).toContain('person:alice');
    expect(out).toContain('read, answer in every tenant');
    expect(JSON.parse((await g.run(['whoami', '--json'])).out)).toMatchObject({
      kind: 'approver',
      rights: ['read', 'answer'],
      tenants: ['*'],
      tenant: 'acme',
    });
  });

  it('logout removes the file, and commands then say how to log in', async () => {
    await signedIn();
    expect(await g.run(['logout'])).toMatchObject({ code: 0, out: 'logged out\n' });
    expect(existsSync(file())).toBe(false);
    expect(await g.run(['logout'])).toMatchObject({ code: 0, out: 'there was no login\n' });
    for (const args of [['whoami'], ['list']])
      expect(await g.run(args)).toMatchObject({ code: 2, err: expect.stringContaining('countersign login') });
  });

  it.each<[string, () => readonly string[], number, string]>([
    ['no trust roots', () => ['login', g.url, '--key', g.key('alice')], 2, '--trust is missing'],
    ['no key', () => ['login', g.url], 2, '--key is missing'],
    ['an address of another protocol', () => g.login('ftp://gateway.example'), 2, 'expected an http or https address'],
    [
      'a key that is not registered',
      () => ['login', g.url, '--key', g.key('stranger'), '--trust', g.path('trust.json')],
      13,
      'is not registered',
    ],
    ['a key of several tenants without --tenant', () => g.login().slice(0, -2), 2, '--tenant is missing'],
    [
      'a gateway that does not answer',
      () => g.login('http://127.0.0.1:9'),
      1,
      'The gateway at http://127.0.0.1:9 did not answer',
    ],
  ])('refuses %s, and keeps nothing', async (_name, args, code, message) => {
    await g.run(['logout']);
    expect(await g.run(args())).toMatchObject({ code, err: expect.stringContaining(message) });
    expect(existsSync(file())).toBe(false);
  });

  it('is not read if other users can write it, since it says whom to trust', async () => {
    await signedIn();
    chmodSync(file(), 0o644);
    expect(await g.run(['list'])).toMatchObject({ code: 2, err: expect.stringContaining('chmod 600') });
  });
});

describe('with a login, without credentials of a database or Temporal,', () => {
  beforeEach(signedIn);

  it('lists, shows by the first digits, and prints the result', async () => {
    const list = await g.run(['list']);
    expect(list).toMatchObject({ code: 0, err: '' });
    for (const id of [g.open, g.ended]) expect(list.out).toContain(id);
    const show = await g.run(['show', g.open.slice(0, 8)]);
    expect(show.err).toBe('');
    expect(show.out).toContain('public.prices');
    expect((await g.run(['result', g.open.slice(0, 8)])).code).toBe(8);
    expect(await g.run(['result', g.ended])).toMatchObject({ code: 0, out: expect.stringContaining('COMMITTED') });
  });

  it('reads the ledger of a review, exports its evidence, and verifies and replays it with the trust roots of the login', async () => {
    expect(await g.run(['ledger', 'show', g.ended])).toMatchObject({
      code: 0,
      err: expect.stringContaining('one chain'),
    });
    const out = g.path('evidence.json');
    expect((await g.run(['export', g.ended, '--bytes', '--out', out])).code).toBe(0);
    const verified = await g.run(['verify', out]);
    expect(verified.out).toMatch(/\nverified COMMITTED/);
    expect(verified).toMatchObject({ code: 0, err: '' });
    const bundle = JSON.parse((await g.run(['export', g.ended])).out) as EvidenceBundle;
    expect([bundle.bytes, bundle.preview]).toEqual([null, null]);
    expect(bundle.inclusion).not.toBeNull();
  });

  it('signs an answer and sends nothing', async () => {
    const { code, out, err } = await g.run(['sign', g.open, '--all', '--reject', '--reason', 'no', '--json']);
    expect([code, err.includes('public.prices')]).toEqual([0, true]);
    expect(JSON.parse(out)).toMatchObject({ commands: [], messages: [{ answers: [{ signatures: [{}] }] }] });
  });

  it('answers no other review than the one that was shown, if the gateway lists another one by the same digits', async () => {
    const short = g.open.slice(0, 8);
    const asked: string[] = [];
    const listsAnotherLater = (path: string, body: unknown): unknown => {
      asked.push(path);
      if (!path.includes('idPrefix') || asked.filter((each) => each.includes('idPrefix')).length === 1) return body;
      const { reviews } = body as { readonly reviews: readonly object[] };
      return { ...(body as object), reviews: reviews.map((each) => ({ ...each, changeId: short.padEnd(64, '9') })) };
    };
    await withLyingGateway(g.url, listsAnotherLater, async (url) => {
      const run = (args: readonly string[]) => g.run(args, { ...g.variables(), COUNTERSIGN_GATEWAY_URL: url });
      const show = await run(['show', short]);
      expect(show.out).toContain(`countersign answer ${g.open} --violation`);
      asked.length = 0;
      for (const name of ['answer', 'sign'])
        expect(await run([name, short, '--all', '--confirm'])).toMatchObject({
          code: 2,
          err: expect.stringContaining('full change id'),
        });
      expect(asked).toEqual([]);
    });
  });

  it('says which right is missing, and sends what no right allows nowhere', async () => {
    const reject = ['answer', g.open, '--all', '--reject', '--reason', 'no', '--key', g.key('agent')];
    expect(await g.run(reject)).toMatchObject({ code: 13, err: expect.stringContaining('lacks the right "answer"') });
    const confirm = ['answer', g.open, '--all', '--confirm', '--key', g.key('agent')];
    expect(await g.run(confirm)).toMatchObject({ code: 13, err: expect.stringContaining('needs the right "answer"') });
    const submit = ['submit', g.path('trust.json'), '--target', 'shop', '--tool', 'SQLCAS', '--inline'];
    expect(await g.run(submit)).toMatchObject({ code: 13, err: expect.stringContaining('lacks the right "submit"') });
    expect(await g.run(['show', '9'.repeat(64)])).toMatchObject({ code: 1 });
  });

  it('says that a command which reads the database needs one', async () => {
    expect(await g.run(['ledger', 'verify'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('needs the database'),
    });
  });
});

it('COUNTERSIGN_GATEWAY_URL with a key and trust roots needs no login, and a database URL has precedence over both', async () => {
  const env = g.variables();
  expect(await g.run(['list'], env)).toMatchObject({ code: 0, err: '' });
  const { COUNTERSIGN_TRUST_FILE: _trust, ...untrusting } = env;
  expect(await g.run(['list'], untrusting)).toMatchObject({ code: 2, err: expect.stringContaining('TRUST_FILE') });
  const { COUNTERSIGN_KEY_FILE: _key, ...keyless } = env;
  expect(await g.run(['list'], keyless)).toMatchObject({ code: 2, err: expect.stringContaining('--key is missing') });
  const direct = await g.run(['list'], { ...env, COUNTERSIGN_DATABASE_URL: 'postgres://cs_gateway@127.0.0.1:9/none' });
  expect(direct).toMatchObject({ code: 1, err: expect.stringContaining('Reviews cannot be listed') });
});

type Edit = (path: string, body: Record<string, unknown>) => unknown;
const rowsOf = (body: Record<string, unknown>) => body['rows'] as EvidenceBundle['rows'];

describe('a gateway that changes what it serves', () => {
  const withRow =
    (kind: string, change: (body: Record<string, unknown>) => object): Edit =>
    (_path, body) =>
      'rows' in body
        ? {
            ...body,
            rows: rowsOf(body).map((stored) =>
              stored.row.kind === kind ? { ...stored, row: { ...stored.row, body: change(stored.row.body) } } : stored,
            ),
          }
        : body;
  it.each<[string, (g: GatewayWorld) => readonly string[], Edit]>([
    ['shows another diff', ({ open }) => ['show', open], (_p, body) => ({ ...body, bytes: 'AAAA' })],
    ['hides rows', ({ open }) => ['ledger', 'show', open], (_p, body) => ({ ...body, rows: rowsOf(body).slice(1) })],
    [
      'changes who asked',
      ({ open }) => ['show', open],
      withRow('submitted', (body) => ({ ...body, requester: 'eve' })),
    ],
    [
      'changes evidence',
      ({ ended }) => ['export', ended],
      withRow('submitted', (body) => ({ ...body, requester: 'eve' })),
    ],
    [
      'invents a commit',
      ({ ended }) => ['result', ended],
      withRow('receipt', (body) => ({ ...body, explanation: 'all fine' })),
    ],
    [
      'is asked to sign for another review',
      ({ open }) => ['sign', open, '--all', '--confirm'],
      (_p, body) => ({ ...body, staging: null }),
    ],
    [
      'lists a review of another tenant',
      () => ['list'],
      (_p, body) => ({
        ...body,
        reviews: (body['reviews'] as object[]).map((review) => ({ ...review, tenant: 'evil' })),
      }),
    ],
    [
      'finds another review',
      ({ open }) => ['show', open.slice(0, 8)],
      (path, body) =>
        path.includes('idPrefix')
          ? {
              ...body,
              reviews: (body['reviews'] as object[]).map((review) => ({ ...review, changeId: '9'.repeat(64) })),
            }
          : body,
    ],
    [
      'grants rights',
      () => ['whoami'],
      (_p, body) => ({
        ...body,
        entry: signKeyEntry({ ...g.world.keys.agent.entry, rights: ['submit', 'read'], tenants: ['*'] }, newKeyPair()),
      }),
    ],
    [
      'sends the entry of another key',
      () => ['whoami'],
      (_p, body) => ({
        ...body,
        entry: signKeyEntry(g.world.keys.agent.entry, g.world.keys.operator),
      }),
    ],
  ])('and %s is not trusted', async (_name, args, edit) => {
    const edited = (path: string, body: unknown) => edit(path, body as Record<string, unknown>);
    const { code } = await withLyingGateway(g.url, edited, (url) =>
      g.run(args(g), { ...g.variables(), COUNTERSIGN_GATEWAY_URL: url }),
    );
    expect(code).toBe(14);
  });
});

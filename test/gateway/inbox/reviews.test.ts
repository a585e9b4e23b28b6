import { answerStatements } from '../../../client/answer-statements';
import { AnswerLimits } from '../../../gateway/answer-limits';
import { noReview } from '../../../gateway/review-tenant';
import { parseEvidence } from '../../../policy/evidence/bundle';
import { CHANGE, hex, reviewed } from '../../client/fakes';
import { evidenceWorld } from '../../support/review/evidence-world';
import type { TestPasskey } from '../../support/passkey';
import { alice, inboxWorld, loggedIn, mallory, OTHER_CHANGE } from './world';

const MINUTE = 60_000;

function answersOf(passkey: TestPasskey) {
  const choice = { violationIds: [hex('a')], decision: 'confirm', reason: 'seen' } as const;
  const [issuedAt, expiresAt] = [new Date(), new Date(Date.now() + 5 * MINUTE)];
  return passkey.sign(answerStatements(CHANGE, reviewed(), choice, passkey.keyId, { issuedAt, expiresAt }));
}

describe('lists', () => {
  it('ask for the tenants of the session, and for the groups of the person', async () => {
    const world = inboxWorld();
    const browser = await loggedIn(world);
    const list = await browser.get(`reviews?tab=turn&tool=SqlPatch&agent=shopbot&minAge=60&search=orders`);
    expect([list.status, await list.json()]).toEqual([200, { items: [], next: null, turnCount: 0 }]);
    expect(world.asked).toEqual([
      {
        viewer: { person: 'alice', tenants: ['acme'], groups: [{ planHash: hex('1'), group: 'dba' }] },
        filter: {
          tab: 'turn',
          tool: 'SqlPatch',
          search: 'orders',
          minAgeSeconds: 60,
          agent: { person: 'shopbot', keyIds: [] },
        },
      },
    ]);
  });

  it('have no groups for a person who is in none, or if the plan cannot be recomputed', async () => {
    const world = inboxWorld();
    await (await loggedIn(world, mallory)).get('reviews?tab=turn');
    const unknown = inboxWorld({ inbox: { groupsOf: async () => null } });
    await (await loggedIn(unknown)).get('reviews?tab=turn');
    expect([...world.asked, ...unknown.asked].map(({ viewer }) => viewer.groups)).toEqual([[], []]);
  });

  it.each([
    '',
    'tab=mine',
    'tab=all&other=1',
    'tab=all&minAge=-1',
    'tab=all&minAge=1e3',
    'tab=all&search=a',
    'tab=all&tool=%00',
    `tab=all&rule=${'x'.repeat(201)}`,
    'tab=all&tenant=../x',
  ])('refuse the query "%s"', async (query) => {
    const world = inboxWorld();
    expect((await (await loggedIn(world)).get(`reviews?${query}`)).status).toBe(400);
    expect(world.asked).toEqual([]);
  });

  it('refuse a cursor that no page gave', async () => {
    const world = inboxWorld({
      inbox: {
        lists: {
          page: async () => Promise.reject(new RangeError('cursor: expected another one')),
          turnCount: async () => 0,
          waitingGroups: async () => [],
        },
      },
    });
    const response = await (await loggedIn(world)).get('reviews?tab=all&cursor=x');
    expect([response.status, await response.json()]).toMatchObject([400, { error: { field: 'cursor' } }]);
  });
});

describe('a review of another tenant', () => {
  const PATHS = ['bundle', 'precedents?rule=x'] as const;

  it('looks as if it did not exist', async () => {
    const world = inboxWorld();
    const browser = await loggedIn(world);
    const answers = answersOf(alice);
    for (const id of [OTHER_CHANGE, hex('9')]) {
      const responses = [
        ...(await Promise.all(PATHS.map((path) => browser.get(`reviews/${id}/${path}`)))),
        await browser.post(`reviews/${id}/answers`, { answers }),
        await browser.post(`reviews/${id}/differences`, { differences: [{ name: 'a', detail: 'b' }] }),
      ];
      for (const response of responses)
        expect([response.status, await response.json()]).toEqual([
          404,
          { error: { code: 'not_found', message: noReview(id) } },
        ]);
    }
    expect([world.relayed, world.recorded, world.differences]).toEqual([[], [], []]);
  });

  it('and every request without a session are refused', async () => {
    const world = inboxWorld();
    const browser = await loggedIn(world);
    browser.cookies.clear();
    for (const path of ['session', 'reviews?tab=all', `reviews/${CHANGE}/bundle`, 'numbers', 'events'])
      expect([path, (await browser.get(path)).status]).toEqual([path, 401]);
    for (const path of [`reviews/${CHANGE}/answers`, `reviews/${CHANGE}/differences`])
      expect([path, (await browser.post(path, { answers: answersOf(alice) })).status]).toEqual([path, 401]);
    expect(world.relayed).toEqual([]);
  });
});

it('sends the evidence of a review, with rows of the target only to those who may answer', async () => {
  const evidence = evidenceWorld({ checkpoint: false });
  const { changeId } = await evidence.review({ table: 'public.prices', open: true });
  const bundle = await evidence.export(changeId);
  expect(bundle.preview).not.toBeNull();
  const asked: unknown[] = [];
  const world = inboxWorld({
    reviews: {
      bundle: async (_id, options) => {
        asked.push(options);
        return bundle;
      },
    },
  });
  const browser = await loggedIn(world);
  const read = async () => parseEvidence(await (await browser.get(`reviews/${CHANGE}/bundle`)).text());
  expect(await read()).toEqual({ ok: true, bundle });
  world.keys.set(alice.keyId, { ...alice.entry, rights: ['read'] });
  expect(await read()).toMatchObject({ ok: true, bundle: { changeId, preview: null } });
  expect(asked).toEqual([
    { inclusion: false, preview: true },
    { inclusion: false, preview: false },
  ]);
});

describe('answers', () => {
  const path = `reviews/${CHANGE}/answers`;

  it('are relayed if they would count, and recorded as refused otherwise', async () => {
    const world = inboxWorld();
    const browser = await loggedIn(world);
    const [valid] = answersOf(alice);
    const [foreign] = answersOf(mallory);
    const response = await browser.post(path, { answers: [valid, foreign] });
    expect([response.status, await response.json()]).toEqual([
      200,
      { [hex('a')]: { code: 'accepted', message: 'counted' } },
    ]);
    expect(world.relayed).toEqual([valid]);
    expect(world.recorded).toMatchObject([{ code: 'not_eligible' }]);
  });

  it('need the right to answer', async () => {
    const world = inboxWorld();
    world.keys.set(alice.keyId, { ...alice.entry, rights: ['read'] });
    const response = await (await loggedIn(world)).post(path, { answers: answersOf(alice) });
    expect(response.status).toBe(403);
    expect(world.relayed).toEqual([]);
  });

  it('are signed envelopes, 1 to 50, of at most 1 MiB', async () => {
    const world = inboxWorld();
    const browser = await loggedIn(world);
    const [valid] = answersOf(alice);
    const unsigned = { violationId: hex('a'), fingerprint: hex('f'), decision: 'confirm', actor: 'alice', reason: '' };
    for (const answers of [[], [unsigned], [true], Array.from({ length: 51 }, () => valid), 'x'])
      expect((await browser.post(path, { answers })).status).toBe(400);
    expect((await browser.post(path, '{')).status).toBe(400);
    expect((await browser.post(path, `"${'x'.repeat(1024 * 1024)}"`)).status).toBe(413);
    expect(world.relayed).toEqual([]);
  });

  it('have the bounds of the key, also with several sessions', async () => {
    const world = inboxWorld({ gateway: { answerLimits: new AnswerLimits({ sent: 3, refused: 3 }) } });
    const statuses = [];
    for (let i = 0; i < 4; i++)
      statuses.push((await (await loggedIn(world)).post(path, { answers: answersOf(alice) })).status);
    expect(statuses).toEqual([200, 200, 200, 429]);
  });
});

describe('differences', () => {
  const path = `reviews/${CHANGE}/differences`;
  const report = { differences: [{ name: 'findingsSha', detail: 'expected a, got b' }] };

  it('are recorded with the person whose page saw them', async () => {
    const world = inboxWorld();
    expect((await (await loggedIn(world)).post(path, report)).status).toBe(204);
    expect(world.differences).toEqual([{ person: 'alice', keyId: alice.keyId, ...report }]);
  });

  it('are bounded in number, size and frequency', async () => {
    const world = inboxWorld();
    const browser = await loggedIn(world);
    const [difference] = report.differences;
    for (const differences of [
      [],
      Array.from({ length: 21 }, () => difference),
      [{ name: '', detail: '' }],
      [{ name: 'a', detail: 'x'.repeat(501) }],
      [{ name: 'a', detail: '', other: 1 }],
    ])
      expect((await browser.post(path, { differences })).status).toBe(400);
    expect((await browser.post(path, `"${'x'.repeat(70_000)}"`)).status).toBe(413);
    const statuses = [];
    for (let i = 0; i < 30; i++) statuses.push((await browser.post(path, report)).status);
    expect(statuses.filter((status) => status === 204)).toHaveLength(25);
    expect(statuses.at(-1)).toBe(429);
    expect(world.differences).toHaveLength(25);
  });
});

it('does not disclose the address of the database if it is down', async () => {
  const world = inboxWorld({
    inbox: { precedents: async () => Promise.reject(new Error('connect ECONNREFUSED 10.0.0.7:5432')) },
  });
  const response = await (await loggedIn(world)).get(`reviews/${CHANGE}/precedents?rule=x`);
  expect([response.status, await response.text()]).toEqual([500, expect.not.stringContaining('10.0.0.7')]);
});

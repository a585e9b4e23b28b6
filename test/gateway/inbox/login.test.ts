import { AUTOMATIC_HEADER } from '../../../gateway/inbox/api';
import { passkeyChallenge } from '../../../policy/evidence/passkey-challenge';
import { USER_PRESENT, testPasskey } from '../../support/passkey';
import { alice, assertionOf, Browser, inboxWorld, loggedIn, mallory, sessionOf, type InboxWorld } from './world';

const MINUTE = 60_000;
const COOKIE = '__Host-countersign';
const LOGIN = '__Host-countersign-login';

let world: InboxWorld;
beforeEach(() => {
  world = inboxWorld();
});

describe('a login', () => {
  it('starts a session of the person whose passkey signed the challenge', async () => {
    const browser = await loggedIn(world);
    expect(await sessionOf(browser)).toMatchObject({
      person: 'alice',
      tenants: ['acme'],
      keyId: alice.keyId,
      credentialId: alice.key.credentialId,
      rpId: 'countersign.example',
      temporalUi: null,
    });
    expect([...browser.cookies.keys()]).toEqual([COOKIE]);
  });

  it('sets cookies that scripts, other sites and subdomains cannot use', async () => {
    const browser = new Browser(world.app);
    const begun = await browser.post('login/begin');
    const { challenge } = (await begun.clone().json()) as { readonly challenge: string };
    const finished = await browser.post('login/finish', assertionOf(alice, challenge));
    for (const [response, name] of [
      [begun, LOGIN],
      [finished, COOKIE],
    ] as const) {
      const line = response.headers
        .getSetCookie()
        .find((each) => each.startsWith(`${name}=`) && !each.startsWith(`${name}=;`));
      expect(line).toMatch(/^[^=]+=[A-Za-z0-9_-]{43}; Max-Age=\d+; Path=\/; HttpOnly; Secure; SameSite=Strict$/);
    }
  });

  it.each([
    ['another challenge', { challenge: new Uint8Array(32) }],
    ['the challenge of an answer', { challenge: passkeyChallenge(['a'.repeat(64)]) }],
    ['another port', { clientData: { origin: 'https://countersign.example:8443' } }],
    ['another origin', { clientData: { origin: 'https://evil.example' } }],
    ['a subdomain', { clientData: { origin: 'https://a.countersign.example' } }],
    ['http', { clientData: { origin: 'http://countersign.example' } }],
    ['an embedded page', { clientData: { crossOrigin: true } }],
    ['a registration', { clientData: { type: 'webauthn.create' } }],
    ['another relying party', { rpId: 'evil.example' }],
    ['a person who was not verified', { flags: USER_PRESENT }],
    ['a person who was not present', { flags: 4 }],
  ])('is refused with %s', async (_what, touch) => {
    const browser = new Browser(world.app);
    expect((await browser.login(alice, touch)).status).toBe(401);
    expect(await sessionOf(browser)).toBe(401);
  });

  it('is refused with a signature of another passkey, a changed one, or a passkey that is not registered', async () => {
    const browser = new Browser(world.app);
    for (const change of [
      (sent: Record<string, string>) => ({ ...sent, credentialId: mallory.key.credentialId }),
      (sent: Record<string, string>) => ({ ...sent, signature: sent['signature']?.replace(/^../, 'AA') }),
      (sent: Record<string, string>) => ({ ...sent, signature: 'AA' }),
    ]) {
      const sent = assertionOf(alice, await browser.beginLogin());
      expect((await browser.post('login/finish', change(sent))).status).toBe(401);
    }
    expect((await browser.login(testPasskey('stranger'))).status).toBe(401);
    expect(await sessionOf(browser)).toBe(401);
  });

  it('works although another person has enrolled a passkey with the same credential id', async () => {
    const squatter = testPasskey('squatter');
    const passkey = { ...squatter.key, credentialId: alice.key.credentialId };
    world.keys.clear();
    for (const key of [{ ...squatter.entry, keyId: '0'.repeat(64), passkey }, alice.entry, mallory.entry])
      world.keys.set(key.keyId, key);
    expect(await sessionOf(await loggedIn(world))).toMatchObject({ person: 'alice', keyId: alice.keyId });
    const browser = new Browser(world.app);
    const challenge = await browser.beginLogin();
    const { credentialId } = alice.key;
    const sent = { ...assertionOf(squatter, challenge), credentialId };
    expect((await browser.post('login/finish', sent)).status).toBe(200);
    expect(await sessionOf(browser)).toMatchObject({ person: 'squatter' });
  });

  it.each([
    ['revoked', { revokedAt: new Date().toISOString() }],
    ['without the right to read', { rights: ['answer' as const] }],
    ['of a service', { kind: 'service' as const }],
    ['of an agent', { subject: { type: 'agent' as const, id: 'alice' } }],
    ['of another origin', { passkey: { ...alice.key, origins: ['https://other.countersign.example'] } }],
  ])('is refused with a passkey that is %s', async (_what, change) => {
    world.keys.set(alice.keyId, { ...alice.entry, ...change });
    expect((await new Browser(world.app).login(alice)).status).toBe(401);
  });

  it('uses a challenge once', async () => {
    const browser = new Browser(world.app);
    const challenge = await browser.beginLogin();
    const stolen = browser.cookies.get(LOGIN) ?? '';
    const sent = assertionOf(alice, challenge);
    expect((await browser.post('login/finish', sent)).status).toBe(200);
    browser.cookies.set(LOGIN, stolen);
    expect((await browser.post('login/finish', sent)).status).toBe(401);
  });

  it('uses up a challenge with a refused assertion', async () => {
    const browser = new Browser(world.app);
    const challenge = await browser.beginLogin();
    const cookie = browser.cookies.get(LOGIN) ?? '';
    expect((await browser.post('login/finish', assertionOf(alice, challenge, { flags: USER_PRESENT }))).status).toBe(
      401,
    );
    browser.cookies.set(LOGIN, cookie);
    expect((await browser.post('login/finish', assertionOf(alice, challenge))).status).toBe(401);
  });

  it('finishes only in the browser in which it began: an assertion for a challenge of the attacker starts no session', async () => {
    const attacker = new Browser(world.app);
    const challenge = await attacker.beginLogin();
    const victim = new Browser(world.app);
    await victim.post('login/begin');
    expect((await victim.post('login/finish', assertionOf(alice, challenge))).status).toBe(401);
    expect((await new Browser(world.app).post('login/finish', assertionOf(alice, challenge))).status).toBe(401);
  });

  it('with a stolen cookie of the login still needs the passkey', async () => {
    const victim = new Browser(world.app);
    await victim.post('login/begin');
    const thief = new Browser(world.app);
    thief.cookies.set(LOGIN, victim.cookies.get(LOGIN) ?? '');
    expect((await thief.post('login/finish', assertionOf(mallory, 'AAAA'))).status).toBe(401);
    thief.cookies.set(COOKIE, victim.cookies.get(LOGIN) ?? '');
    expect(await sessionOf(thief)).toBe(401);
  });

  it('gives a new token, whatever cookie the browser had before, and ends the session of that cookie', async () => {
    const planted = 'p'.repeat(43);
    const browser = new Browser(world.app);
    browser.cookies.set(COOKIE, planted);
    await browser.login(alice);
    const first = browser.cookies.get(COOKIE);
    expect(first).not.toBe(planted);
    const attacker = new Browser(world.app);
    attacker.cookies.set(COOKIE, planted);
    expect(await sessionOf(attacker)).toBe(401);
    await browser.login(alice);
    attacker.cookies.set(COOKIE, first ?? '');
    expect(await sessionOf(attacker)).toBe(401);
    expect(await sessionOf(browser)).toMatchObject({ person: 'alice' });
  });

  it('is bounded for all people together', async () => {
    const browser = new Browser(world.app);
    const statuses = [];
    for (let i = 0; i < 610; i++) statuses.push((await browser.post('login/begin')).status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(600);
    expect(statuses.at(-1)).toBe(429);
    world.clock.now += MINUTE;
    expect((await browser.post('login/begin')).status).toBe(200);
  });
});

describe('a session', () => {
  it('ends with a logout, also for a copy of its cookie', async () => {
    const browser = await loggedIn(world);
    const copy = new Browser(world.app);
    copy.cookies.set(COOKIE, browser.cookies.get(COOKIE) ?? '');
    expect((await browser.post('logout')).status).toBe(204);
    expect([await sessionOf(browser), await sessionOf(copy)]).toEqual([401, 401]);
    expect(browser.cookies.size).toBe(0);
  });

  it('ends when its key is revoked, loses the right to read, or becomes that of another person', async () => {
    for (const change of [
      { revokedAt: new Date().toISOString() },
      { rights: ['answer' as const] },
      { subject: { type: 'person' as const, id: 'bob' } },
    ]) {
      world.keys.set(alice.keyId, alice.entry);
      const browser = await loggedIn(world);
      world.keys.set(alice.keyId, { ...alice.entry, ...change });
      expect(await sessionOf(browser)).toBe(401);
      world.keys.set(alice.keyId, alice.entry);
      expect(await sessionOf(browser)).toBe(401);
    }
  });

  it.each(['session', 'reviews?tab=turn', 'events'])(
    'is not kept in use by `%s`, which an open page requests by itself',
    async (path) => {
      const open = await loggedIn(world);
      for (let i = 0; i < 14; i++) {
        world.clock.now += MINUTE;
        const response = await open.get(path, path === 'events' ? {} : { [AUTOMATIC_HEADER]: '1' });
        expect(response.status).toBe(200);
        await response.body?.cancel();
      }
      world.clock.now += MINUTE;
      expect(await sessionOf(open)).toBe(401);
    },
  );

  it('is kept in use by the same requests of a person', async () => {
    const browser = await loggedIn(world);
    for (let i = 0; i < 20; i++) {
      world.clock.now += MINUTE;
      expect((await browser.get('reviews?tab=turn')).status).toBe(200);
    }
  });

  it.each(['', 'x', 'a'.repeat(42), 'a'.repeat(44), 'a'.repeat(43), `${'a'.repeat(42)}!`, '__proto__'])(
    'is not found by the cookie "%s"',
    async (value) => {
      const browser = new Browser(world.app);
      browser.cookies.set(COOKIE, value);
      expect(await sessionOf(browser)).toBe(401);
    },
  );
});

import type { InboxDeps } from '../../../gateway/inbox/deps';
import type { Envelope } from '../../../policy/contracts/diff';
import { enrollmentLink, newOneTimeKey, oneTimeKeyOf, signPasskeyEnrollment } from '../../../signing/enrollment-link';
import { verifyEnrolled, verifyLink } from '../../../signing/enrollment';
import { newKeyPair } from '../../../signing/keys';
import { signEnrollment } from '../../../signing/registry-entry';
import { androidAttestation } from '../../support/android-attestation';
import { startHttpSink } from '../../support/http-sink';
import { ORIGIN, RP_ID, testPasskey, USER_PRESENT } from '../../support/passkey';
import { registrationOf, type NewPasskey } from '../../support/registration';
import { Browser, inboxWorld } from './world';

const operator = newKeyPair();
const bob = testPasskey('bob');
const stranger = testPasskey('stranger', { algorithm: 'EdDSA' });
const LOGIN = '__Host-countersign-login';

interface Offer {
  readonly offer: Envelope;
  readonly challenge: string;
}

/** A link for bob, and a gateway that knows it. `links.open` is cleared when it was used. */
function linkWorld(origins: string[] = [ORIGIN]) {
  const key = newOneTimeKey();
  const offer = signEnrollment(
    {
      keyId: key.keyId,
      publicKey: key.publicKey,
      subject: { type: 'person', id: 'bob' },
      rights: ['read', 'answer'],
      tenants: ['acme'],
      rpId: RP_ID,
      origins,
      demo: false,
      issuedAt: new Date().toISOString(),
      expiresAt: new Date(Date.now() + 3_600_000).toISOString(),
    },
    operator,
  );
  const link = verifyLink(offer, [operator.publicKey]);
  if (typeof link === 'string') throw new Error(link);
  const links = { open: true, completed: [] as Envelope[] };
  const enrollments: InboxDeps['enrollments'] = {
    enrollmentOf: async (keyId) => (links.open && keyId === key.keyId ? { enrollment: link.enrollment, offer } : null),
    completeEnrollment: async (_keyId, statement, made) => {
      const enrolled = verifyEnrolled(link, statement);
      if (typeof enrolled === 'string') return { ok: false, code: 'invalid', message: enrolled };
      if (enrolled.passkey.publicKey !== made.publicKey || enrolled.passkey.credentialId !== made.credentialId)
        return { ok: false, code: 'invalid', message: 'another credential' };
      links.open = false;
      links.completed.push(statement);
      return { ok: true, keyId: enrolled.keyId, person: enrolled.subject.id };
    },
  };
  const world = inboxWorld({ inbox: { enrollments } });
  return { ...world, key, links, browser: new Browser(world.app) };
}

type LinkWorld = ReturnType<typeof linkWorld>;

async function begin({ browser, key }: LinkWorld): Promise<Offer> {
  return (await (await browser.post('enroll/begin', { keyId: key.keyId })).json()) as Offer;
}

function completion(
  { key }: LinkWorld,
  { offer, challenge }: Offer,
  { passkey = bob, made = {} }: { readonly passkey?: typeof bob; readonly made?: NewPasskey } = {},
) {
  const { credentialId, publicKey } = passkey.key;
  const envelope = signPasskeyEnrollment(key, offer, { credentialId, publicKey, enrolledAt: new Date().toISOString() });
  return { envelope, ...registrationOf(passkey.key, challenge, made) };
}

it.each([bob, stranger])('enrols the passkey that this browser made, for the person of the link', async (passkey) => {
  const world = linkWorld();
  const offer = await begin(world);
  expect(verifyLink(offer.offer, [operator.publicKey])).toMatchObject({
    enrollment: { subject: { id: 'bob' }, rpId: RP_ID, tenants: ['acme'] },
  });
  const finished = await world.browser.post('enroll/finish', completion(world, offer, { passkey }));
  expect([finished.status, await finished.json()]).toEqual([200, { person: 'bob' }]);
  expect(world.links.completed).toHaveLength(1);
  expect((await world.browser.post('enroll/begin', { keyId: world.key.keyId })).status).toBe(404);
});

it('does not receive the one-time key: it is in the fragment, and the gateway gets its id', () => {
  const key = newOneTimeKey();
  const link = new URL(enrollmentLink(ORIGIN, key));
  expect(link.pathname + link.search).toBe('/inbox/');
  expect(oneTimeKeyOf(link.hash)?.keyId).toBe(key.keyId);
});

it.each<readonly [string, NewPasskey]>([
  ['another origin', { origin: 'https://evil.example' }],
  ['a subdomain', { origin: 'https://a.countersign.example' }],
  ['another relying party', { rpId: 'evil.example' }],
  ['an assertion instead of a registration', { type: 'webauthn.get' }],
  ['a person who was not verified', { flags: USER_PRESENT }],
  ['a person who was not present', { flags: 4 }],
  ['an attestation that was not asked for', { format: 'packed' }],
  ['an unknown attestation', { format: 'own' }],
  ['another credential in the data', { credentialId: stranger.key.credentialId }],
  ['another public key in the data', { publicKey: stranger.key.publicKey }],
  ['a key of another algorithm (RS256)', { publicKey: `a401030339010020590003${'00'.repeat(3)}2143010001` }],
  ['no key', { publicKey: 'a0' }],
  ['a text instead of a key', { publicKey: '6161' }],
])('refuses %s', async (_what, made) => {
  const world = linkWorld();
  const finished = await world.browser.post('enroll/finish', completion(world, await begin(world), { made }));
  expect(finished.status).toBeGreaterThanOrEqual(400);
  expect(finished.status).toBeLessThan(500);
  expect(world.links.completed).toEqual([]);
});

it('connects to no server that the certificates of an attestation name', async () => {
  const sink = await startHttpSink();
  const world = linkWorld();
  const statement = (hash: Uint8Array): Uint8Array => androidAttestation(bob.key.publicKey, hash, `${sink.url}/crl`);
  const made = { format: 'android-key', statement };
  const finished = await world.browser.post('enroll/finish', completion(world, await begin(world), { made }));
  await sink.close();
  expect([finished.status, sink.requests]).toEqual([401, []]);
});

it('refuses another challenge, a second use of one, and one of another browser', async () => {
  const world = linkWorld();
  const offer = await begin(world);
  const other = { ...offer, challenge: 'A'.repeat(43) };
  const cookie = world.browser.cookies.get(LOGIN) ?? '';
  expect((await world.browser.post('enroll/finish', completion(world, other))).status).toBe(401);
  world.browser.cookies.set(LOGIN, cookie);
  expect((await world.browser.post('enroll/finish', completion(world, offer))).status).toBe(401);
  const again = await begin(world);
  expect((await new Browser(world.app).post('enroll/finish', completion(world, again))).status).toBe(401);
  expect(world.links.completed).toEqual([]);
});

it('refuses the challenge of a login, and an enrolment as a login', async () => {
  const world = linkWorld();
  const offer = await begin(world);
  const challenge = await world.browser.beginLogin();
  expect((await world.browser.post('enroll/finish', completion(world, { ...offer, challenge }))).status).toBe(401);
  await begin(world);
  const login = await world.browser.post('login/finish', {
    credentialId: bob.key.credentialId,
    authenticatorData: 'AA',
    clientDataJSON: 'AA',
    signature: 'AA',
  });
  expect(login.status).toBe(401);
});

it('refuses a statement that another one-time key signed, or that names another credential', async () => {
  const world = linkWorld();
  const offer = await begin(world);
  const foreign = linkWorld();
  const { envelope } = completion(foreign, await begin(foreign));
  expect((await world.browser.post('enroll/finish', { ...completion(world, offer), envelope })).status).toBe(422);
  const again = await begin(world);
  const named = completion(world, again, { passkey: stranger });
  expect(
    (await world.browser.post('enroll/finish', { ...completion(world, again), envelope: named.envelope })).status,
  ).toBe(422);
  expect(world.links.completed).toEqual([]);
});

it('refuses an unknown or used link, and a link of another address', async () => {
  const world = linkWorld();
  expect((await world.browser.post('enroll/begin', { keyId: 'a'.repeat(64) })).status).toBe(404);
  const offer = await begin(world);
  world.links.open = false;
  expect((await world.browser.post('enroll/finish', completion(world, offer))).status).toBe(404);
  const elsewhere = linkWorld([`https://other.${RP_ID}`]);
  const response = await elsewhere.browser.post('enroll/begin', { keyId: elsewhere.key.keyId });
  expect([response.status, await response.text()]).toEqual([422, expect.stringContaining(`https://other.${RP_ID}`)]);
});

it('refuses bodies that are too large or malformed', async () => {
  const { browser } = linkWorld();
  for (const body of ['{', '[]', '{}', '{"keyId":"x"}', '{"keyId":1}', `{"keyId":"${'a'.repeat(64)}","more":1}`])
    expect((await browser.post('enroll/begin', body)).status).toBe(400);
  expect((await browser.post('enroll/finish', `"${'x'.repeat(70_000)}"`)).status).toBe(413);
});

import type { GatewayDeps } from '../../../gateway/app';
import type { RefusedBeforeRelay } from '../../../gateway/deps';
import type { InboxSession, LoginChallenge } from '../../../gateway/inbox/api';
import type { InboxAsset, InboxAssets, InboxDeps, SeenDifferences } from '../../../gateway/inbox/deps';
import { createGatewayMetrics } from '../../../gateway/metrics';
import { notFound } from '../../../client/review-errors';
import { toBase64Url } from '../../../policy/evidence/base64';
import type { RegisteredKey } from '../../../policy/evidence/key-registry';
import { loginChallenge } from '../../../policy/evidence/passkey-challenge';
import type { AnswerScope } from '../../../signing/assess-answer';
import type { ChallengeStore } from '../../../storage/inbox/challenges';
import type { InboxFilter, InboxPage, Viewer } from '../../../storage/inbox/review-list';
import { ABSOLUTE_MS, IDLE_MS, type SessionStore } from '../../../storage/inbox/sessions';
import { accepted, CHANGE, failing, hex, status } from '../../client/fakes';
import { fakeGateway, recordingRefused } from '../fake-gateway';
import { ORIGIN, testPasskey, type TestPasskey, type Touch } from '../../support/passkey';

export const OTHER_CHANGE = hex('d');
export const alice = testPasskey('alice', { tenants: ['acme'] });
export const mallory = testPasskey('mallory', { tenants: ['evil'] });

const asset = (text: string, type: string): InboxAsset => ({
  bytes: new TextEncoder().encode(text),
  gzipped: new TextEncoder().encode(`gzipped ${text}`),
  type,
});
export const ASSETS: InboxAssets = {
  index: asset('<!doctype html>', 'text/html; charset=utf-8'),
  files: new Map([['inbox-1a2b.js', asset('script', 'text/javascript; charset=utf-8')]]),
};

export const scope: AnswerScope = {
  changeId: CHANGE,
  context: { tenant: 'acme', target: status().target, environment: status().environment ?? 'production' },
  answersMode: 'signed',
  development: false,
  fingerprint: status().fingerprint,
  requester: 'carol',
  violations: [{ violationId: hex('a'), need: 'human', group: 'dba', members: ['alice'], fourEyes: true }],
};

/** A gateway with an inbox, in memory. `clock.now` is the time of gateway and stores. */
export function inboxWorld({
  reviews = {},
  gateway = {},
  inbox = {},
}: {
  readonly reviews?: Partial<GatewayDeps['reviews']>;
  readonly gateway?: Partial<GatewayDeps>;
  readonly inbox?: Partial<InboxDeps>;
} = {}) {
  const clock = { now: Date.now() };
  const keys = new Map<string, RegisteredKey>([alice, mallory].map(({ keyId, entry }) => [keyId, entry]));
  const recorded: RefusedBeforeRelay[] = [];
  const relayed: unknown[] = [];
  const differences: SeenDifferences[] = [];
  const asked: { readonly viewer: Viewer; readonly filter: InboxFilter }[] = [];
  const listeners = new Set<(changeId: string) => void>();
  const services = { database: true, temporal: true };
  const stopping = new AbortController();
  const metrics = createGatewayMetrics();
  const tenants = new Map([
    [CHANGE, 'acme'],
    [OTHER_CHANGE, 'evil'],
  ]);
  const probe = (name: keyof typeof services) => async () => {
    if (!services[name]) throw new Error(`${name} is down`);
  };
  const app = fakeGateway({
    reviews: failing<GatewayDeps['reviews']>({
      tenantOf: async (changeId) => {
        const tenant = tenants.get(changeId);
        if (tenant === undefined) throw notFound(changeId, undefined);
        return tenant;
      },
      answer: async (_id, answers) => (relayed.push(...answers), accepted()),
      ...reviews,
    }),
    keys: async () => ({ find: (keyId) => keys.get(keyId) }),
    answers: failing<GatewayDeps['answers']>({
      scopeOf: async () => scope,
      recordRefused: recordingRefused(recorded),
    }),
    now: () => clock.now,
    probes: { database: probe('database'), temporal: probe('temporal') },
    metrics,
    stopping: stopping.signal,
    ...gateway,
    inbox: {
      assets: ASSETS,
      origin: ORIGIN,
      trust: { operators: ['op'], committers: ['com'] },
      temporalUi: null,
      keys: async () => ({ find: (keyId) => keys.get(keyId), keys: [...keys.values()], ignored: [] }),
      sessions: memorySessions(clock),
      challenges: memoryChallenges(),
      enrollments: failing<InboxDeps['enrollments']>({}),
      lists: {
        page: async (viewer, filter) => (asked.push({ viewer, filter }), EMPTY),
        turnCount: async () => 0,
        waitingGroups: async () => [{ planHash: hex('1'), group: 'dba' }],
      },
      numbers: failing<InboxDeps['numbers']>({}),
      precedents: async () => [],
      tenantOf: async (changeId) => tenants.get(changeId) ?? null,
      groupsOf: async () => new Map([['dba', ['alice']]]),
      recordDifferences: async (_id, seen) => void differences.push(seen),
      registryVersion: async () => `${keys.size}`,
      changes: {
        subscribe: (listener) => {
          listeners.add(listener);
          return () => listeners.delete(listener);
        },
      },
      ...inbox,
    },
  });
  const changed = (changeId: string): void => listeners.forEach((listener) => listener(changeId));
  const parts = { app, clock, keys, recorded, relayed, differences, asked, services, stopping, metrics };
  return { ...parts, listeners, changed };
}

export type InboxWorld = ReturnType<typeof inboxWorld>;
const EMPTY: InboxPage = { items: [], next: null };

/** As in PostgreSQL, without the bounds of a person and of all use. */
function memorySessions(clock: { readonly now: number }): SessionStore {
  const stored = new Map<string, { keyId: string; person: string; createdAt: number; seenAt: number }>();
  return {
    async create(tokenSha, of) {
      stored.set(tokenSha, { ...of, createdAt: clock.now, seenAt: clock.now });
      return { ...of, expiresAt: clock.now + ABSOLUTE_MS };
    },
    async find(tokenSha, use) {
      const found = stored.get(tokenSha);
      if (found === undefined || clock.now - found.seenAt >= IDLE_MS) return null;
      if (use) found.seenAt = clock.now;
      return { keyId: found.keyId, person: found.person, expiresAt: found.createdAt + ABSOLUTE_MS };
    },
    end: async (tokenSha) => void stored.delete(tokenSha),
  };
}

function memoryChallenges(): ChallengeStore {
  const waiting = new Map<string, Parameters<ChallengeStore['add']>[0]>();
  return {
    add: async (challenge) => (waiting.set(challenge.cookieSha, challenge), true),
    async take(cookieSha, purpose) {
      const found = waiting.get(cookieSha);
      waiting.delete(cookieSha);
      return found?.purpose === purpose ? { challenge: found.challenge, subject: found.subject } : null;
    },
  };
}

/** A browser: keeps cookies, and sends what a browser sends with requests of the page itself. */
export class Browser {
  readonly cookies = new Map<string, string>();

  constructor(private readonly app: { readonly request: InboxWorld['app']['request'] }) {}

  async get(path: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
    return await this.#send(path, { headers: { 'sec-fetch-site': 'same-origin', ...headers } });
  }

  /** A header of undefined is left out. */
  async post(
    path: string,
    body: unknown = {},
    headers: Readonly<Record<string, string | undefined>> = {},
  ): Promise<Response> {
    const sent = {
      origin: ORIGIN,
      'sec-fetch-site': 'same-origin',
      'content-type': 'application/json',
      ...headers,
    };
    const present = Object.entries(sent).filter((entry): entry is [string, string] => entry[1] !== undefined);
    return await this.#send(path, {
      method: 'POST',
      headers: Object.fromEntries(present),
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  }

  /** The challenge of a new login. */
  async beginLogin(): Promise<string> {
    return ((await (await this.post('login/begin')).json()) as LoginChallenge).challenge;
  }

  async login(passkey: TestPasskey, touch: Touch = {}): Promise<Response> {
    return await this.post('login/finish', assertionOf(passkey, await this.beginLogin(), touch));
  }

  async #send(path: string, init: RequestInit & { readonly headers: Readonly<Record<string, string>> }) {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const url = path.startsWith('/') ? `${ORIGIN}${path}` : `${ORIGIN}/inbox/api/${path}`;
    const response = await this.app.request(url, {
      ...init,
      headers: { ...init.headers, ...(cookie === '' ? {} : { cookie }) },
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === '') this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    return response;
  }
}

export function assertionOf(passkey: TestPasskey, challenge: string, touch: Touch = {}): Record<string, string> {
  const { authenticatorData, clientDataJSON, signature } = passkey.assert(loginChallenge(challenge), touch);
  return {
    credentialId: passkey.key.credentialId,
    authenticatorData: toBase64Url(authenticatorData),
    clientDataJSON: toBase64Url(clientDataJSON),
    signature: toBase64Url(signature),
  };
}

export async function loggedIn(world: InboxWorld, passkey = alice): Promise<Browser> {
  const browser = new Browser(world.app);
  const response = await browser.login(passkey);
  if (response.status !== 200) throw new Error(`Login: HTTP ${response.status} ${await response.text()}`);
  return browser;
}

export async function sessionOf(browser: Browser): Promise<InboxSession | number> {
  const response = await browser.get('session');
  return response.status === 200 ? ((await response.json()) as InboxSession) : response.status;
}

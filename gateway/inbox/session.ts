import { randomBytes } from 'node:crypto';
import type { Context } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import { CountersignError } from '../../client/errors';
import { sha256HexOfText } from '../../policy/contracts/hash';
import { mayUse, type RegisteredKey, type RegisteredPasskey } from '../../policy/evidence/key-registry';
import { ANY_TENANT, type KeyRight } from '../../policy/evidence/predicates';
import { ABSOLUTE_MS, type StoredSession } from '../../storage/inbox/sessions';
import { CHALLENGE_MS } from '../../storage/inbox/challenges';
import { AUTOMATIC_HEADER } from './api';
import type { InboxDeps } from './deps';

const SESSION_COOKIE = '__Host-countersign';
const LOGIN_COOKIE = '__Host-countersign-login';
const TOKEN = /^[A-Za-z0-9_-]{43}$/;

/** Who is logged in, by a registered passkey that is active now. */
export interface Session {
  readonly tokenSha: string;
  readonly person: string;
  readonly key: RegisteredPasskey;
  readonly expiresAt: number;
}

/**
 * Sessions by cookie. The cookie is 256 random bits, set only after a login, never before: a cookie that another person put into the browser
 * cannot become a session. The key is looked up for each request, so its revocation ends the session.
 */
export class Sessions {
  constructor(private readonly deps: Pick<InboxDeps, 'sessions' | 'keys' | 'origin'>) {}

  /** Throws `unauthenticated` without a session. `use`: as in `find`. */
  async of(c: Context, use = c.req.header(AUTOMATIC_HEADER) === undefined): Promise<Session> {
    const tokenSha = cookieSha(c, SESSION_COOKIE);
    const session = tokenSha === null ? null : await this.find(tokenSha, use);
    if (session === null) throw new CountersignError('unauthenticated', 'Log in with your passkey');
    return session;
  }

  /** `use`: whether this is a request of the person, which restarts the idle time-out. */
  async find(tokenSha: string, use: boolean): Promise<Session | null> {
    const stored = await this.deps.sessions.find(tokenSha, use);
    if (stored === null) return null;
    const session = await this.#withKey(tokenSha, stored);
    if (session === null) await this.deps.sessions.end(tokenSha);
    return session;
  }

  /** Starts a session of this key under a new token, and ends the one that the browser had. */
  async start(c: Context, key: RegisteredPasskey): Promise<Session> {
    await this.end(c);
    const token = newToken();
    const tokenSha = sha256HexOfText(token);
    const person = key.subject.id;
    const { expiresAt } = await this.deps.sessions.create(tokenSha, { keyId: key.keyId, person });
    setHostCookie(c, SESSION_COOKIE, token, ABSOLUTE_MS / 1000);
    return { tokenSha, person, key, expiresAt };
  }

  /** Ends the session of the request, if there is one. Returns the SHA-256 of its token. */
  async end(c: Context): Promise<string | null> {
    const tokenSha = cookieSha(c, SESSION_COOKIE);
    if (tokenSha === null) return null;
    await this.deps.sessions.end(tokenSha);
    setHostCookie(c, SESSION_COOKIE, '', 0);
    return tokenSha;
  }

  async #withKey(tokenSha: string, { keyId, person, expiresAt }: StoredSession): Promise<Session | null> {
    const key = (await this.deps.keys()).find(keyId);
    if (key === undefined || key.subject.id !== person || !isUsablePasskey(key, this.deps.origin)) return null;
    return { tokenSha, person, key, expiresAt };
  }
}

/** Whether the key is a passkey that can log in at this origin: a person's, not revoked, with the right to read. */
export function isUsablePasskey(key: RegisteredKey, origin: string): key is RegisteredPasskey {
  return (
    'passkey' in key &&
    key.kind === 'approver' &&
    key.subject.type === 'person' &&
    key.revokedAt === null &&
    key.rights.includes('read') &&
    key.passkey.origins.includes(origin)
  );
}

/** The tenants in which a session has a right; null for every tenant. */
export function tenantsOf({ key }: Session): readonly string[] | null {
  return key.tenants.includes(ANY_TENANT) ? null : key.tenants;
}

export function maySee(session: Session, tenant: string, right: KeyRight = 'read'): boolean {
  return mayUse(session.key, { right, tenant });
}

/** Sets the cookie that binds a challenge to this browser. Returns its SHA-256. */
export function startChallenge(c: Context): string {
  const token = newToken();
  setHostCookie(c, LOGIN_COOKIE, token, CHALLENGE_MS / 1000);
  return sha256HexOfText(token);
}

/** SHA-256 of the cookie that binds a challenge to this browser, which is removed: a challenge is used once. */
export function endChallenge(c: Context): string | null {
  const sha = cookieSha(c, LOGIN_COOKIE);
  if (sha !== null) setHostCookie(c, LOGIN_COOKIE, '', 0);
  return sha;
}

/** 256 random bits in base64url. */
export function newToken(): string {
  return randomBytes(32).toString('base64url');
}

/** SHA-256 of the token in a cookie; null without a valid token. */
function cookieSha(c: Context, name: string): string | null {
  const token = getCookie(c, name);
  return token === undefined || !TOKEN.test(token) ? null : sha256HexOfText(token);
}

function setHostCookie(c: Context, name: string, value: string, maxAge: number): void {
  setCookie(c, name, value, { path: '/', secure: true, httpOnly: true, sameSite: 'Strict', maxAge });
}

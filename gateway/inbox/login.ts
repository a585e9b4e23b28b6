import { Hono, type Context } from 'hono';
import { z } from 'zod';
import { CountersignError } from '../../client/errors';
import { fromBase64Url } from '../../policy/evidence/base64';
import { loginChallenge } from '../../policy/evidence/passkey-challenge';
import { CredentialId } from '../../policy/evidence/passkey-key';
import { verifyAssertion } from '../../signing/passkey';
import type { ChallengePurpose, NewChallenge } from '../../storage/inbox/challenges';
import type { GatewayMetrics } from '../metrics';
import type { InboxSession, LoginChallenge } from './api';
import type { InboxDeps } from './deps';
import type { Rate } from './rate';
import { requestBody } from './request-body';
import { endChallenge, isUsablePasskey, newToken, startChallenge, type Session, type Sessions } from './session';

const Nothing = z.strictObject({});
/** Bytes in base64url without padding. */
export const Base64Url = z
  .string()
  .min(1)
  .max(16 * 1024)
  .transform((text, context) => {
    const bytes = fromBase64Url(text);
    if (bytes !== null) return bytes;
    context.addIssue({ code: 'custom', message: 'expected base64url without padding' });
    return z.NEVER;
  });
const Assertion = z.strictObject({
  credentialId: CredentialId,
  authenticatorData: Base64Url,
  clientDataJSON: Base64Url,
  signature: Base64Url,
});

export interface LoginDeps extends Pick<InboxDeps, 'challenges' | 'keys' | 'origin' | 'temporalUi'> {
  readonly now: () => number;
  readonly sessions: Sessions;
  readonly metrics: GatewayMetrics;
  /** Of the whole process: anyone can ask for a challenge. */
  readonly challengeRate: Rate;
  /** Closes what a session has open, such as its event streams. */
  readonly ended: (tokenSha: string) => void;
}

/**
 * Login by passkey, and logout. The challenge belongs to the browser that asked for it (a cookie), and is removed with its first use. It
 * is a typed hash of random bytes, so that no login can be used as the signature of an answer.
 */
export function loginRoutes(deps: LoginDeps): Hono {
  const { sessions, keys, origin, metrics } = deps;
  const routes = new Hono();
  routes.post('/login/begin', async (c) => {
    await requestBody(c, Nothing);
    const challenge = await newChallenge(deps, c, { purpose: 'login', subject: '' });
    return c.json({ challenge, rpId: rpIdOf(origin) } satisfies LoginChallenge);
  });
  routes.post('/login/finish', async (c) => {
    const { credentialId, ...assertion } = await requestBody(c, Assertion);
    const late = 'The login took longer than two minutes, or was used before: begin again';
    const asked = await takeChallenge(deps, c, 'login', late);
    // Whoever enrols a passkey chooses its credential id, so several people can have the same one.
    const tried = (await keys()).keys
      .filter((key) => isUsablePasskey(key, origin))
      .filter(({ passkey }) => passkey.credentialId === credentialId)
      .map((key) => ({ key, verified: verifyAssertion(assertion, key.passkey, loginChallenge(asked.challenge)) }));
    const { key, verified } = tried.find((each) => each.verified.ok) ?? tried[0] ?? {};
    if (key === undefined || verified === undefined)
      throw metrics.refusal('login', 'unauthenticated', 'This passkey is not registered here, or was revoked');
    if (!verified.ok)
      throw metrics.refusal('login', 'unauthenticated', `The passkey was not accepted: ${verified.problem}`);
    return c.json(toInboxSession(deps, await sessions.start(c, key)));
  });
  routes.get('/session', async (c) => c.json(toInboxSession(deps, await sessions.of(c))));
  routes.post('/logout', async (c) => {
    await requestBody(c, Nothing);
    const ended = await sessions.end(c);
    if (ended !== null) deps.ended(ended);
    return c.body(null, 204);
  });
  return routes;
}

/** Stores a new challenge for the browser of the request, and returns it. Throws `too_many_requests`. */
export async function newChallenge(
  { challenges, challengeRate, now }: Pick<LoginDeps, 'challenges' | 'challengeRate' | 'now'>,
  c: Context,
  of: { readonly purpose: ChallengePurpose; readonly subject: string },
): Promise<string> {
  const cookieSha = startChallenge(c);
  const challenge = newToken();
  if (!challengeRate.take(now()) || !(await challenges.add({ ...of, cookieSha, challenge })))
    throw new CountersignError('too_many_requests', 'Too many logins at once; try again in two minutes');
  return challenge;
}

/** The challenge that the browser of the request got, which is removed. Throws `unauthenticated` with the message `late` without one. */
export async function takeChallenge(
  { challenges, metrics }: Pick<LoginDeps, 'challenges' | 'metrics'>,
  c: Context,
  purpose: ChallengePurpose,
  late: string,
): Promise<Pick<NewChallenge, 'challenge' | 'subject'>> {
  const cookieSha = endChallenge(c);
  const asked = cookieSha === null ? null : await challenges.take(cookieSha, purpose);
  if (asked === null) throw metrics.refusal('login', 'unauthenticated', late);
  return asked;
}

function rpIdOf(origin: string): string {
  return new URL(origin).hostname;
}

function toInboxSession(
  { temporalUi, origin }: Pick<LoginDeps, 'temporalUi' | 'origin'>,
  { person, key, expiresAt }: Session,
): InboxSession {
  return {
    person,
    tenants: key.tenants,
    keyId: key.keyId,
    credentialId: key.passkey.credentialId,
    rpId: rpIdOf(origin),
    expiresAt: new Date(expiresAt).toISOString(),
    temporalUi,
  };
}

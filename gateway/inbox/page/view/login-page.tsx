import { useState } from 'preact/hooks';
import type { JSX } from 'preact';
import { toBase64Url } from '../../../../policy/evidence/base64';
import { loginChallenge } from '../../../../policy/evidence/passkey-challenge';
import type { InboxSession } from '../../api';
import { api } from '../api-client';
import { failureText, signChallenge } from '../passkey';
import { Alert } from './alert';

interface Props {
  readonly onSession: (session: InboxSession) => void;
  /** Why the last session ended; null at the first visit. */
  readonly why: string | null;
}

/** Login by a registered passkey. */
export function LoginPage({ onSession, why }: Props): JSX.Element {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const login = async (): Promise<void> => {
    setBusy(true);
    setError(null);
    try {
      onSession(await loggedIn());
    } catch (failure) {
      setError(failureText(failure));
    } finally {
      setBusy(false);
    }
  };
  return (
    <section class="entry" aria-labelledby="login-title">
      <h1 id="login-title" tabIndex={-1}>
        Countersign inbox
      </h1>
      <p>{why ?? 'Log in with the passkey that you enrolled.'}</p>
      <button type="button" class="primary" disabled={busy} onClick={() => void login()}>
        {busy ? 'Waiting for your passkey…' : 'Log in with a passkey'}
      </button>
      <Alert text={error} />
      <p class="note">
        No passkey yet? Ask an operator for a one-time link: <code>countersign keys enroll PERSON</code>
      </p>
    </section>
  );
}

async function loggedIn(): Promise<InboxSession> {
  const { challenge, rpId } = await api.beginLogin();
  const assertion = await signChallenge(loginChallenge(challenge), rpId, null);
  return await api.finishLogin({
    credentialId: toBase64Url(assertion.credentialId),
    authenticatorData: toBase64Url(assertion.authenticatorData),
    clientDataJSON: toBase64Url(assertion.clientDataJSON),
    signature: toBase64Url(assertion.signature),
  });
}

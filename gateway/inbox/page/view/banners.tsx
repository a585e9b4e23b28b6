import type { JSX } from 'preact';
import { useLive } from '../hooks/use-live';
import type { Trust } from '../hooks/use-trust';

/** What is down. Nothing that was typed is lost. */
export function ServiceBanners(): JSX.Element {
  const { connection, services } = useLive();
  return (
    <div aria-live="assertive">
      {connection === 'lost' && (
        <p class="banner bad">
          <strong>Disconnected from the gateway.</strong> What you see may be old; trying again. What you typed is kept.
        </p>
      )}
      {connection !== 'lost' && !services.database && (
        <p class="banner bad">
          <strong>The database does not answer.</strong> Reviews cannot be read or answered now. What you typed is kept.
        </p>
      )}
      {connection !== 'lost' && !services.temporal && (
        <p class="banner bad">
          <strong>Temporal does not answer.</strong> Answers cannot be recorded now. What you typed is kept; send it
          again later.
        </p>
      )}
    </div>
  );
}

/** The gateway names other trusted keys than at the last visit. No answer is offered until the person has compared them. */
export function TrustBanner({ trust: { before, fingerprint, accept } }: { readonly trust: Trust }): JSX.Element | null {
  if (before === null) return null;
  return (
    <div class="banner bad" role="alert">
      <p>
        <strong>The trusted keys have changed.</strong> This browser remembers <code>{before}</code>; the gateway now
        names <code>{fingerprint}</code>. Compare it with an operator before you answer anything: a forged gateway would
        look like this.
      </p>
      <button type="button" onClick={accept}>
        I have compared it: trust the new keys
      </button>
    </div>
  );
}

import type { JSX } from 'preact';
import type { Difference } from '../../../../signing/verified-review';
import { SafeText } from './safe-text';

interface Props {
  readonly changeId: string;
  readonly differences: readonly Difference[];
  readonly reported: boolean;
}

/** The gateway sent something that does not verify. Nothing of it is shown, and nothing can be answered. */
export function DiffersPage({ changeId, differences, reported }: Props): JSX.Element {
  return (
    <article class="differs" aria-labelledby="differs-title">
      <h1 id="differs-title" tabIndex={-1}>
        This review does not verify
      </h1>
      <p role="alert">
        What the gateway sent for <code>{changeId.slice(0, 12)}</code> differs from what was signed. It is not shown,
        and it cannot be answered here. Someone may have changed it: tell an operator.
      </p>
      <ul>
        {differences.map(({ name, detail }, i) => (
          <li key={i}>
            <strong>
              <SafeText text={name.replaceAll('_', ' ')} />
            </strong>
            : <SafeText text={detail} />
          </li>
        ))}
      </ul>
      <p>
        {reported
          ? 'The difference was reported to the ledger.'
          : 'The difference could not be reported to the ledger: report it yourself.'}
      </p>
    </article>
  );
}

import type { JSX } from 'preact';
import { SafeText } from './safe-text';

/** What changed while the review was open on this page. What was typed is still there. */
export function News({
  news,
  onDismiss,
}: {
  readonly news: readonly string[];
  readonly onDismiss: () => void;
}): JSX.Element {
  return (
    <div aria-live="polite">
      {news.length > 0 && (
        <div class="banner news">
          <p>
            <strong>This review changed.</strong> What you typed is still here.
          </p>
          <ul>
            {news.map((text, i) => (
              <li key={i}>
                <SafeText text={text} />.
              </li>
            ))}
          </ul>
          <button type="button" onClick={onDismiss}>
            Got it
          </button>
        </div>
      )}
    </div>
  );
}

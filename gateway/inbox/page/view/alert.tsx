import type { JSX } from 'preact';

/** A problem, read out by a screen reader at once. `look`: in its place on the page, or across the page. Nothing if it is null. */
export function Alert({
  text,
  look = 'error',
}: {
  readonly text: string | null;
  readonly look?: 'error' | 'banner bad';
}): JSX.Element | null {
  return text === null ? null : (
    <p class={look} role="alert">
      {text}
    </p>
  );
}

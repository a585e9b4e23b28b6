import type { ComponentChildren, JSX } from 'preact';
import { escapeLine, escapeLines } from '../../../../policy/text/escape';

/** Only ASCII that can be seen: most texts, which need no marks. */
const PLAIN = /^[\x20-\x7e]*$/;

/** One line of untrusted text. Control, bidirectional and invisible characters are shown as marks such as `⟦U+202E⟧`. */
export function SafeText({ text }: { readonly text: string }): JSX.Element {
  return <>{PLAIN.test(text) ? text : marked(escapeLine(text))}</>;
}

/** A line of a source text: a tab is shown as `⇥`, and a carriage return before the line feed is not shown. */
export function safeLine(text: string): ComponentChildren {
  return PLAIN.test(text) ? text : marked(escapeLines(text)[0] ?? '');
}

/** Untrusted text of several lines. */
export function SafeLines({ text }: { readonly text: string }): JSX.Element {
  return (
    <>
      {escapeLines(text).map((line, i) => (
        <span class="text-line" key={i}>
          {marked(line)}
          {'\n'}
        </span>
      ))}
    </>
  );
}

/** The marks of an escaped text as elements. The text cannot contain a forged one: its brackets are escaped too. */
function marked(escaped: string): ComponentChildren {
  const parts = escaped.split(/(⟦U\+[0-9A-F]+⟧)/);
  if (parts.length === 1) return escaped;
  return parts.map((part, i) =>
    i % 2 === 1 ? (
      <mark class="hidden-character" key={i}>
        {part}
      </mark>
    ) : (
      part
    ),
  );
}

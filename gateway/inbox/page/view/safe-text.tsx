import type { ComponentChildren, JSX } from 'preact';
import { escapeLine, escapeLines, escapeSourceLine } from '../../../../policy/text/escape';

/** Only ASCII that can be seen: most texts, which need no marks. */
const PLAIN = /^[\x20-\x7e]*$/;

/** Spaces of which a page shows fewer, or none. */
const SPACES = /^ | {2}| $/;

/** One line of untrusted text. Control, bidirectional and invisible characters are shown as marks such as `⟦U+202E⟧`, and every space. */
export function SafeText({ text }: { readonly text: string }): JSX.Element {
  const shown = PLAIN.test(text) ? text : marked(escapeLine(text));
  return SPACES.test(text) ? <span class="spaces">{shown}</span> : <>{shown}</>;
}

/** A line of a source text: a tab is shown as `⇥`. */
export function safeLine(text: string): ComponentChildren {
  return PLAIN.test(text) ? text : marked(escapeSourceLine(text));
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

/** A mark, or words of a script that is written from right to left: the blocks whose code points are right to left by default. */
const MARK_OR_WORDS = (() => {
  const letter = '[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]';
  return new RegExp(`(⟦U\\+[0-9A-F]+⟧|${letter}+(?: ${letter}+)*)`, 'u');
})();

/**
 * The marks of an escaped text as elements. The text cannot contain a forged one: its brackets are escaped too. Words that are written
 * from right to left are isolated, so that they do not reverse the order of the values, numbers and signs around them.
 */
function marked(escaped: string): ComponentChildren {
  const parts = escaped.split(MARK_OR_WORDS);
  if (parts.length === 1) return escaped;
  return parts.map((part, i) => {
    if (i % 2 === 0) return part;
    return part.startsWith('⟦') ? (
      <mark class="hidden-character" key={i}>
        {part}
      </mark>
    ) : (
      <bdi key={i}>{part}</bdi>
    );
  });
}

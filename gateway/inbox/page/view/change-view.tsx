import { useState } from 'preact/hooks';
import type { JSX } from 'preact';
import { sideBySide, type ShownChange, type ShownLine } from '../model/change-lines';
import type { ShownReview } from '../model/shown-review';
import { safeLine } from './safe-text';

interface Props {
  readonly change: ShownChange;
  readonly marks: ShownReview['marks'];
}

/** Rows of a block that the browser lays out together, and skips while it is off screen. Find-in-page works across all of them. */
const BLOCK_ROWS = 200;

/** All lines of the change. Nothing is folded. */
export function ChangeView({ change, marks }: Props): JSX.Element {
  const [split, setSplit] = useState(false);
  const isPatch = change.language === 'patch';
  return (
    <div class="change">
      {change.note !== null && <p class="note">{change.note}</p>}
      {isPatch && (
        <div class="segmented wide-only" role="group" aria-label="Layout of the diff">
          <button type="button" aria-pressed={!split} onClick={() => setSplit(false)}>
            Unified
          </button>
          <button type="button" aria-pressed={split} onClick={() => setSplit(true)}>
            Side by side
          </button>
        </div>
      )}
      <div class={`code ${change.language}`} role="region" aria-label="Text of the change" tabIndex={0}>
        {inBlocks(split ? splitRows(change.lines, marks) : unifiedRows(change, marks))}
      </div>
    </div>
  );
}

function unifiedRows({ lines, language }: ShownChange, marks: Props['marks']): JSX.Element[] {
  return lines.map((line, i) => (
    <Line
      key={i}
      index={i}
      line={line}
      marks={marks}
      numbers={language === 'patch' ? [line.oldNumber, line.newNumber] : [i + 1]}
    />
  ));
}

/** The old file on the left, the new one on the right; headers and notes across both. */
function splitRows(lines: readonly ShownLine[], marks: Props['marks']): JSX.Element[] {
  return sideBySide(lines).map(({ left, right, whole }, i) => {
    const at = (index: number | null, numbers: (line: ShownLine) => LineProps['numbers'], repeated = false) => {
      const line = index === null ? undefined : lines[index];
      if (index === null || line === undefined) return <div class="line empty" />;
      return <Line index={index} line={line} marks={marks} numbers={numbers(line)} repeated={repeated} />;
    };
    if (whole !== null) return <div key={i}>{at(whole, () => [null, null])}</div>;
    return (
      <div class="split-row" key={i}>
        {at(left, ({ oldNumber }) => [oldNumber])}
        {at(right, ({ newNumber }) => [newNumber], left === right)}
      </div>
    );
  });
}

function inBlocks(rows: readonly JSX.Element[]): JSX.Element[] {
  const blocks: JSX.Element[] = [];
  for (let at = 0; at < rows.length; at += BLOCK_ROWS)
    blocks.push(
      <div class="code-block" key={at}>
        {rows.slice(at, at + BLOCK_ROWS)}
      </div>,
    );
  return blocks;
}

interface LineProps {
  readonly index: number;
  readonly line: ShownLine;
  readonly marks: Props['marks'];
  /** In the old and the new file, or in one text. */
  readonly numbers: readonly (number | null)[];
  /** The same line is also on the left: its id and its blocks are there. */
  readonly repeated?: boolean;
}

function Line({ index, line, marks, numbers, repeated = false }: LineProps): JSX.Element {
  const cards = marks.cards.get(index);
  return (
    <div
      class={`line ${line.kind}${cards === undefined ? '' : ' fired'}`}
      id={repeated ? undefined : `line-${index}`}
      data-block={repeated ? undefined : marks.blocks.get(index)}
    >
      {numbers.map((number, i) => (
        <span class="number" key={i}>
          {number ?? ''}
        </span>
      ))}
      <span class="gutter">{cardNumbers(cards)}</span>
      {sign(line)}
      <code>{content(line)}</code>
    </div>
  );
}

/** Numbers of the cards whose evidence a line is; 0 is a finding without a card. */
function cardNumbers(cards: readonly number[] | undefined): string {
  return (cards ?? []).map((number) => (number === 0 ? '•' : String(number))).join(' ');
}

const SIGNS = { added: ['+', 'added: '], removed: ['−', 'removed: '] } as const;

/** The sign of a patch, in words for a screen reader. */
function sign({ kind }: ShownLine): JSX.Element | null {
  if (kind === 'context') return <span class="sign"> </span>;
  if (kind !== 'added' && kind !== 'removed') return null;
  const [shown, spoken] = SIGNS[kind];
  return (
    <span class="sign">
      <span aria-hidden="true">{shown}</span>
      <span class="sr-only">{spoken}</span>
    </span>
  );
}

function content({ kind, text }: ShownLine): ReturnType<typeof safeLine> {
  return safeLine(kind === 'added' || kind === 'removed' || kind === 'context' ? text.slice(1) : text) || ' ';
}

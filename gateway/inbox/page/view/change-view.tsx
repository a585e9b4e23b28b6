import { useState } from 'preact/hooks';
import type { JSX } from 'preact';
import { sideBySide, type ShownChange, type ShownLine, type SideBySide } from '../model/change-lines';
import { safeLine } from './safe-text';

/** Lines that evidence points at: the numbers of their cards. And the blocks whose middle a line is. */
export interface LineMarks {
  readonly cards: ReadonlyMap<number, readonly number[]>;
  readonly blocks: ReadonlyMap<number, string>;
}

interface Props {
  readonly change: ShownChange;
  readonly marks: LineMarks;
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
        {split ? <SplitRows change={change} marks={marks} /> : <UnifiedRows change={change} marks={marks} />}
      </div>
    </div>
  );
}

function UnifiedRows({ change: { lines, language }, marks }: Props): JSX.Element {
  const rows = lines.map((line, i) => (
    <Line key={i} index={i} line={line} marks={marks} patch={language === 'patch'} />
  ));
  return <>{inBlocks(rows)}</>;
}

function SplitRows({ change: { lines }, marks }: Props): JSX.Element {
  const rows = sideBySide(lines).map((row, i) => <SplitRow key={i} row={row} lines={lines} marks={marks} />);
  return <>{inBlocks(rows)}</>;
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
  readonly marks: LineMarks;
  readonly patch: boolean;
}

function Line({ index, line, marks, patch }: LineProps): JSX.Element {
  const cards = marks.cards.get(index);
  return (
    <div
      class={`line ${line.kind}${cards === undefined ? '' : ' fired'}`}
      id={`line-${index}`}
      data-block={marks.blocks.get(index)}
    >
      <span class="number">{patch ? (line.oldNumber ?? '') : index + 1}</span>
      {patch && <span class="number">{line.newNumber ?? ''}</span>}
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

/** The sign of a patch, in words for a screen reader. */
function sign({ kind }: ShownLine): JSX.Element | null {
  if (kind === 'added')
    return (
      <span class="sign">
        <span aria-hidden="true">+</span>
        <span class="sr-only">added: </span>
      </span>
    );
  if (kind === 'removed')
    return (
      <span class="sign">
        <span aria-hidden="true">−</span>
        <span class="sr-only">removed: </span>
      </span>
    );
  return kind === 'context' ? <span class="sign"> </span> : null;
}

function content({ kind, text }: ShownLine): ReturnType<typeof safeLine> {
  return safeLine(kind === 'added' || kind === 'removed' || kind === 'context' ? text.slice(1) : text) || ' ';
}

function SplitRow({
  row: { left, right, whole },
  lines,
  marks,
}: {
  readonly row: SideBySide;
  readonly lines: readonly ShownLine[];
  readonly marks: LineMarks;
}): JSX.Element {
  const all = whole === null ? undefined : lines[whole];
  if (whole !== null && all !== undefined) return <Line index={whole} line={all} marks={marks} patch={true} />;
  return (
    <div class="split-row">
      <Side index={left} lines={lines} marks={marks} isLeft={true} />
      <Side index={right} lines={lines} marks={marks} isLeft={false} shared={left === right} />
    </div>
  );
}

function Side(props: {
  readonly index: number | null;
  readonly lines: readonly ShownLine[];
  readonly marks: LineMarks;
  readonly isLeft: boolean;
  /** The same line is on the left: its id and its block are there. */
  readonly shared?: boolean;
}): JSX.Element {
  const { index, lines, marks, isLeft, shared = false } = props;
  const line = index === null ? undefined : lines[index];
  if (index === null || line === undefined) return <div class="line empty" />;
  const cards = marks.cards.get(index);
  return (
    <div
      class={`line ${line.kind}${cards === undefined ? '' : ' fired'}`}
      id={shared ? undefined : `line-${index}`}
      data-block={shared ? undefined : marks.blocks.get(index)}
    >
      <span class="number">{(isLeft ? line.oldNumber : line.newNumber) ?? ''}</span>
      <span class="gutter">{cardNumbers(cards)}</span>
      {sign(line)}
      <code>{content(line)}</code>
    </div>
  );
}

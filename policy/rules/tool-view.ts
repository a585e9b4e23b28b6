import type { DiffInput } from '../contracts/diff';
import type { Facts } from '../contracts/facts';
import type { ClaimCheck, DiffMeasure, DiffReader, DiffText, Touched } from '../contracts/source-tool';
import { frozenWhole } from './frozen';

/** What the diff's source tool reads from it: frozen data. A member throws if the validator's `reads` does not declare it. */
export interface ToolView {
  readonly texts: readonly DiffText[];
  readonly measure: DiffMeasure;
  readonly touched: readonly Touched[] | null;
  readonly claims: ClaimCheck | null;
}

export type ToolRead = keyof ToolView;

const TOOL_READS: ReadonlySet<string> = new Set<ToolRead>(['texts', 'measure', 'touched', 'claims']);

export function isToolRead(read: string): read is ToolRead {
  return TOOL_READS.has(read);
}

/** The readers of a tool that a validator can reach. */
export type ViewedTool = Pick<DiffReader, ToolRead>;

/** One change as its tool reads it: each member at most once, when it is first needed. */
export function viewOf(tool: ViewedTool, facts: Facts, diff: DiffInput): ToolView {
  return new WholeView(tool, facts, diff);
}

/** A view of which a validator can use what it declares: `logic_hash` covers the tool's parser only for declared reads. */
export function declaredView(view: ToolView, reads: readonly string[]): ToolView {
  return new DeclaredView(view, reads);
}

class WholeView implements ToolView {
  readonly #tool: ViewedTool;
  readonly #facts: Facts;
  readonly #diff: DiffInput;
  readonly #known = new Map<ToolRead, object | null>();

  constructor(tool: ViewedTool, facts: Facts, diff: DiffInput) {
    this.#tool = tool;
    this.#facts = facts;
    this.#diff = diff;
  }

  get texts(): readonly DiffText[] {
    return textsOf(this.#tool, this.#facts, this.#diff);
  }

  get measure(): DiffMeasure {
    return this.#once('measure', this.#tool.measure);
  }

  get touched(): readonly Touched[] | null {
    return this.#once('touched', this.#tool.touched);
  }

  get claims(): ClaimCheck | null {
    return this.#once('claims', this.#tool.claims);
  }

  #once<T extends object | null>(name: ToolRead, read: (facts: Facts, diff: DiffInput) => T): T {
    const known = this.#known.get(name);
    if (known !== undefined) return known as T;
    const value = frozenWhole(read(this.#facts, this.#diff));
    this.#known.set(name, value);
    return value;
  }
}

class DeclaredView implements ToolView {
  readonly #view: ToolView;
  readonly #reads: readonly string[];

  constructor(view: ToolView, reads: readonly string[]) {
    this.#view = view;
    this.#reads = reads;
  }

  get texts(): readonly DiffText[] {
    return this.#declared('texts').texts;
  }

  get measure(): DiffMeasure {
    return this.#declared('measure').measure;
  }

  get touched(): readonly Touched[] | null {
    return this.#declared('touched').touched;
  }

  get claims(): ClaimCheck | null {
    return this.#declared('claims').claims;
  }

  #declared(read: ToolRead): ToolView {
    if (!this.#reads.includes(read)) throw new TypeError(`tool.${read}: add "${read}" to the validator's reads`);
    return this.#view;
  }
}

interface ReadTexts {
  readonly by: ViewedTool['texts'];
  readonly diffSha: string;
  readonly texts: readonly DiffText[];
}

/** By facts, which outlive the evaluation of one unit of a review: texts are read once for all units. */
const textsBefore = new WeakMap<Facts, ReadTexts>();

function textsOf(tool: ViewedTool, facts: Facts, diff: DiffInput): readonly DiffText[] {
  const known = textsBefore.get(facts);
  if (known !== undefined && known.by === tool.texts && known.diffSha === diff.diffSha) return known.texts;
  const texts = frozenWhole(tool.texts(facts, diff));
  textsBefore.set(facts, { by: tool.texts, diffSha: diff.diffSha, texts });
  return texts;
}

import type { DiffInput } from '../contracts/diff';
import type { Facts } from '../contracts/facts';
import type { ClaimCheck, DiffMeasure, DiffReader, DiffText, Touched } from '../contracts/source-tool';
import { deepFreeze } from './deep-freeze';

/** Frozen data that the source tool reads from the diff. A member throws TypeError if the validator's `reads` does not declare it. */
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

/** The readers of a source tool that validators can use. */
export type ViewedTool = Pick<DiffReader, ToolRead>;

/** The view of one change. Each member is read lazily and at most once. */
export function viewOf(tool: ViewedTool, facts: Facts, diff: DiffInput): ToolView {
  return new MemoizedView(tool, facts, diff);
}

/** Restricts a view to the declared reads. Needed because `logic_hash` covers the tool's parser only for declared reads. */
export function declaredView(view: ToolView, reads: readonly string[]): ToolView {
  return new DeclaredView(view, reads);
}

class MemoizedView implements ToolView {
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
    return this.#memoize('measure', this.#tool.measure);
  }

  get touched(): readonly Touched[] | null {
    return this.#memoize('touched', this.#tool.touched);
  }

  get claims(): ClaimCheck | null {
    return this.#memoize('claims', this.#tool.claims);
  }

  #memoize<T extends object | null>(name: ToolRead, read: (facts: Facts, diff: DiffInput) => T): T {
    const known = this.#known.get(name);
    if (known !== undefined) return known as T;
    const value = deepFreeze(read(this.#facts, this.#diff));
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

interface CachedTexts {
  readonly reader: ViewedTool['texts'];
  readonly diffSha: string;
  readonly texts: readonly DiffText[];
}

/** Cached by facts, which outlive the evaluation of one unit of a review, so the texts are read once for all units. */
const textsCache = new WeakMap<Facts, CachedTexts>();

function textsOf(tool: ViewedTool, facts: Facts, diff: DiffInput): readonly DiffText[] {
  const known = textsCache.get(facts);
  if (known !== undefined && known.reader === tool.texts && known.diffSha === diff.diffSha) return known.texts;
  const texts = deepFreeze(tool.texts(facts, diff));
  textsCache.set(facts, { reader: tool.texts, diffSha: diff.diffSha, texts });
  return texts;
}

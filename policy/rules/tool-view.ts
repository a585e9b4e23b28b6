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
  const measure = once(() => deepFreeze(tool.measure(facts, diff)));
  const touched = once(() => deepFreeze(tool.touched(facts, diff)));
  const claims = once(() => deepFreeze(tool.claims(facts, diff)));
  return Object.freeze({
    get texts() {
      return textsOf(tool, facts, diff);
    },
    get measure() {
      return measure();
    },
    get touched() {
      return touched();
    },
    get claims() {
      return claims();
    },
  });
}

function once<T>(read: () => T): () => T {
  let known: { readonly value: T } | null = null;
  return () => (known ??= { value: read() }).value;
}

/** Restricts a view to the declared reads. Needed because `logic_hash` covers the tool's parser only for declared reads. */
export function declaredView(view: ToolView, reads: readonly string[]): ToolView {
  const declared = <Read extends ToolRead>(read: Read): ToolView[Read] => {
    if (!reads.includes(read)) throw new TypeError(`tool.${read}: add "${read}" to the validator's reads`);
    return view[read];
  };
  return Object.freeze({
    get texts() {
      return declared('texts');
    },
    get measure() {
      return declared('measure');
    },
    get touched() {
      return declared('touched');
    },
    get claims() {
      return declared('claims');
    },
  });
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

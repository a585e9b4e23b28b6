import type { JsonValue } from '../../../policy/contracts/canonical-json';
import type { ExtractedFacts } from '../../../policy/contracts/facts';

/** Where a request would go, read once and for all: percent-decoded once, without dot segments. */
export interface HttpUrl {
  /** Lower case, without colon. */
  readonly scheme: string;
  /** Lower case, ASCII, without a dot at the end; an address in its usual form, IPv6 without brackets. */
  readonly host: string;
  readonly port: number | null;
  /** Begins with a slash; decoded once. */
  readonly path: string;
  /** Names in the query, decoded, in order. */
  readonly queryNames: readonly string[];
  readonly reach: Reach;
  /** What two readers of this address could read in two ways. */
  readonly anomalies: readonly string[];
}

/** Whether a host is out on the internet, as far as its name or address tells. */
export type Reach = 'public' | 'loopback' | 'private' | 'link_local' | 'metadata' | 'reserved' | 'local_name';

export interface HttpHeader {
  /** Lower case. */
  readonly name: string;
  /** Never print it: it may be a credential. */
  readonly value: string;
  readonly at: string;
}

/** One place of the target document that the body writes, removes or reads. `at` is where the staged bytes say so. */
export interface Write {
  readonly how: 'add' | 'replace' | 'remove' | 'move' | 'copy' | 'test' | 'set' | 'null';
  /** False for the `from` of a copy, and for `test`. */
  readonly changes: boolean;
  /** JSON pointer into the target document. */
  readonly pointer: string;
  readonly at: string;
  /** True where an array's later items move up or down with it. */
  readonly shifts: boolean;
}

/** A named member anywhere in a value that is written. */
export interface Member {
  readonly name: string;
  readonly pointer: string;
  readonly at: string;
  /** Items, where it is an array. */
  readonly length: number | null;
}

export interface PatchFault {
  readonly at: string;
  readonly why: string;
}

/** What the extractor of `HTTPPatch` reads. */
export interface HttpPatchFacts extends ExtractedFacts {
  readonly kind: 'http-patch';
  /** Upper case. */
  readonly method: string;
  readonly url: HttpUrl;
  /** Media type in lower case without parameters; null where none is given. */
  readonly contentType: string | null;
  readonly headers: readonly HttpHeader[];
  readonly body: 'json-patch' | 'merge-patch' | 'json' | 'text' | 'none';
  /** Number of operations of a JSON Patch, else 0. */
  readonly operations: number;
  readonly writes: readonly Write[];
  readonly members: readonly Member[];
  /** Longest array in the body. */
  readonly longestArray: number;
  /** Why the body is no patch, or does not apply to the document that was staged with it. */
  readonly faults: readonly PatchFault[];
  /** What the document would be; undefined where none was staged, or the patch does not apply. */
  readonly result: JsonValue | undefined;
  /** True where a document was staged and the patch would leave it as it is. */
  readonly changesNothing: boolean;
  readonly touched: readonly { readonly kind: 'pointer'; readonly schema: null; readonly name: string }[];
}

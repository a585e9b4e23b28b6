import type { JsonValue } from '../../../policy/contracts/canonical-json';
import type { ExtractedFacts } from '../../../policy/contracts/facts';
import type { FactsMembers } from '../../../policy/contracts/source-tool';

/** Methods that only read. */
export const READS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/** The target URL of a request, percent-decoded once and without dot segments. All rules use this one reading. */
export interface HttpUrl {
  /** Lower case, without the colon. */
  readonly scheme: string;
  /** Lower-case ASCII without a trailing dot; an IP address is in canonical form, IPv6 without brackets. */
  readonly host: string;
  readonly port: number | null;
  /** Starts with a slash; percent-decoded once. */
  readonly path: string;
  readonly reach: Reach;
  /** Parts of the URL that two parsers could read differently. */
  readonly anomalies: readonly string[];
}

/** Where a host is, as far as its name or address shows without a DNS query. */
export type Reach = 'public' | 'loopback' | 'private' | 'link_local' | 'metadata' | 'reserved' | 'local_name';

/** A parameter of the query, decoded as a form. */
export interface QueryParameter {
  readonly name: string;
  /** Empty without "=". May be a credential, so never print it. */
  readonly value: string;
}

export interface HttpHeader {
  /** Lower case. */
  readonly name: string;
  /** May be a credential, so never print it. */
  readonly value: string;
  readonly at: string;
}

/** One location of the target document that the body writes, removes or reads. `at`: its JSON pointer in the staged bytes. */
export interface Write {
  readonly how: 'add' | 'replace' | 'remove' | 'move' | 'copy' | 'test' | 'set' | 'null';
  /** False for the `from` of a copy, and for `test`. */
  readonly changes: boolean;
  /** JSON pointer into the target document. */
  readonly pointer: string;
  readonly at: string;
  /** Whether it shifts the later items of an array. */
  readonly shifts: boolean;
}

/** A named member at any depth of a written value, or a parameter of the query, which has `at` "/url". */
export interface Member {
  readonly name: string;
  readonly pointer: string;
  readonly at: string;
  /** Number of items if it is an array; otherwise null. */
  readonly length: number | null;
}

/** A written value without members. Items of an array without members count as values of the array, once for each kind. */
export interface WrittenValue {
  /** `active-text`: a server, a page or a spreadsheet may act on it, as on markup. `empty`: an object or array. */
  readonly kind: 'text' | 'active-text' | 'number' | 'boolean' | 'null' | 'empty';
  /** JSON pointer into the target document. */
  readonly pointer: string;
  readonly at: string;
}

/** A string in a written value that is a URL, or a host without a scheme. */
export interface Link {
  /** Name of the closest member; empty for a value without one. */
  readonly name: string;
  readonly at: string;
  /** Null if it cannot be parsed. */
  readonly url: HttpUrl | null;
  /** False for a host without a scheme, which is a link only if its member is one. */
  readonly hasScheme: boolean;
}

/** A `copy` or `move` of a JSON Patch. */
export interface Transfer {
  readonly how: 'copy' | 'move';
  readonly from: readonly string[];
  readonly to: readonly string[];
  readonly at: string;
  /** Names of the members below `from` in the staged document; empty without one. */
  readonly below: readonly string[];
  /** False if there are too many members below `from` to list. */
  readonly complete: boolean;
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
  /** In order. A name may occur more than once. */
  readonly parameters: readonly QueryParameter[];
  /** Media type in lower case without parameters; null if none is given. */
  readonly contentType: string | null;
  /** Names of the parameters of the media type in lower case, without the charset. */
  readonly contentParameters: readonly string[];
  readonly headers: readonly HttpHeader[];
  readonly body: 'json-patch' | 'merge-patch' | 'json' | 'text' | 'none';
  /** Number of operations of a JSON Patch; 0 for any other body. */
  readonly operations: number;
  readonly writes: readonly Write[];
  readonly members: readonly Member[];
  /** Of the body, without those of test operations. */
  readonly values: readonly WrittenValue[];
  readonly links: readonly Link[];
  readonly transfers: readonly Transfer[];
  /** Longest array in the body. */
  readonly longestArray: number;
  /** Why the body is not a valid patch, or does not apply to the staged document. */
  readonly faults: readonly PatchFault[];
  /** The document after the patch; undefined if no document was staged or the patch does not apply. */
  readonly result: JsonValue | undefined;
  /** Whether a document was staged and the patch would not change it. */
  readonly changesNothing: boolean;
  readonly touched: readonly { readonly kind: 'pointer'; readonly schema: null; readonly name: string }[];
}

/** The names of its members, which conditions may read. */
export const HTTP_FACTS: FactsMembers<HttpPatchFacts> = {
  method: true,
  url: true,
  parameters: true,
  contentType: true,
  contentParameters: true,
  headers: true,
  body: true,
  operations: true,
  writes: true,
  members: true,
  values: true,
  links: true,
  transfers: true,
  longestArray: true,
  faults: true,
  result: true,
  changesNothing: true,
  touched: true,
};

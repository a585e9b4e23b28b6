import { addressCredentials, passwordIn, webhooks } from './addresses';
import { assignedSecrets, serviceSecrets } from './assigned';
import { curlSecrets } from './curl';
import { encodedTexts, joinedLiterals } from './encoded';
import { hexKeys } from './hex-keys';
import { knownTokens } from './known-tokens';
import { kubernetesSecrets } from './kubernetes';
import { placesIn, type Places } from './places';
import { holdsKey, privateKeys } from './private-keys';
import { disjoint, type SecretSpan } from './secret-span';

/** How a secret was told: by its form, as a key in PEM, inside an address, by the name beside it, under a cover. */
export const WAYS = ['token', 'private_key', 'address', 'assigned', 'covered'] as const;
export type Way = (typeof WAYS)[number];

export interface Scan {
  readonly found: Readonly<Record<Way, readonly SecretSpan[]>>;
  /** Where the scan gave up because too many places look like a key; null where it saw all. */
  readonly unchecked: number | null;
}

/** Base64 in base64 is opened this often. */
const MAX_DEPTH = 2;

/**
 * All secrets of a text, each told in one way: the first of the list that knows it. Linear in the text. `places`: of the
 * same text, where the caller needs them, too.
 */
export function scanText(text: string, places: Places = placesIn(text)): Scan {
  const { tokens, keys, addresses, unchecked } = openly(text, places);
  const [services, names] = [serviceSecrets(text, places.services), assignedSecrets(text, places.names)];
  const assigned = [...kubernetesSecrets(text), ...curlSecrets(text), ...services.spans, ...names.spans];
  const known = [...tokens, ...keys, ...addresses];
  return {
    found: {
      token: disjoint(tokens),
      private_key: disjoint(keys),
      address: disjoint(addresses),
      assigned: outside(disjoint(assigned), known),
      covered: outside(disjoint(coveredIn(text, MAX_DEPTH)), known),
    },
    unchecked: unchecked ?? services.unchecked ?? names.unchecked,
  };
}

interface Open {
  readonly tokens: readonly SecretSpan[];
  readonly keys: readonly SecretSpan[];
  readonly addresses: readonly SecretSpan[];
  readonly unchecked: number | null;
}

/** What needs no name beside it. */
function openly(text: string, places: Places): Open {
  const { spans, unchecked } = knownTokens(text, places.tokens);
  return {
    tokens: spans,
    keys: [...privateKeys(text).filter((span) => holdsKey(text, span)), ...hexKeys(text)],
    addresses: [...addressCredentials(text).flatMap((found) => passwordIn(text, found) ?? []), ...webhooks(text)],
    unchecked,
  };
}

/** In base64, in hexadecimal digits, and in literals that are put together. */
function coveredIn(text: string, depth: number): SecretSpan[] {
  const spans: SecretSpan[] = [];
  const kinds = new Map<string, string | undefined>();
  for (const { text: inner, start, end } of encodedTexts(text)) {
    const isNew = !kinds.has(inner);
    const kind = isNew ? kindUnder(inner, depth) : kinds.get(inner);
    if (isNew) kinds.set(inner, kind);
    if (kind !== undefined) spans.push({ kind, start, end });
  }
  const joined = joinedLiterals(text);
  if (joined !== null) {
    for (const { kind, start, end } of knownTokens(joined.text, placesIn(joined.text).tokens).spans)
      spans.push({ kind, start: joined.at(start), end: joined.at(end - 1) + 1 });
  }
  return spans;
}

function kindUnder(inner: string, depth: number): string | undefined {
  return firstKind(inner) ?? (depth > 1 ? coveredIn(inner, depth - 1)[0]?.kind : undefined);
}

function firstKind(text: string): string | undefined {
  const places = placesIn(text);
  const { tokens, keys, addresses } = openly(text, places);
  return [...tokens, ...keys, ...addresses][0]?.kind ?? assignedSecrets(text, places.names).spans[0]?.kind;
}

/** Those that do not overlap what is known already. */
function outside(spans: readonly SecretSpan[], known: readonly SecretSpan[]): SecretSpan[] {
  const taken = disjoint(known);
  let i = 0;
  return spans.filter(({ start, end }) => {
    while (i < taken.length && (taken[i] as SecretSpan).end <= start) i++;
    const next = taken[i];
    return next === undefined || next.start >= end;
  });
}

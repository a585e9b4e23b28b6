import { addressCredentials, basicCredentials, passwordIn, webhooks } from './addresses';
import { assignedSecrets, serviceSecrets } from './assigned';
import { commandSecrets } from './commands';
import { curlSecrets } from './curl';
import { encodedTexts, joinedLiterals } from './encoded';
import { withoutEscapes } from './escapes';
import { hexKeys } from './hex-keys';
import { knownTokens } from './known-tokens';
import { kubernetesSecrets } from './kubernetes';
import { placesIn, type Places } from './places';
import { containsKey, privateKeys, unmarkedKeys } from './private-keys';
import { disjoint, type SecretSpan } from './secret-span';

/**
 * How a secret was recognized: by its format, as a PEM key, inside a URL, by the name that it is assigned to, or in an encoded
 * or split form.
 */
export const SECRET_CATEGORIES = ['token', 'private_key', 'address', 'assigned', 'covered'] as const;
export type SecretCategory = (typeof SECRET_CATEGORIES)[number];

export interface Scan {
  readonly found: Readonly<Record<SecretCategory, readonly SecretSpan[]>>;
  /** Position at which the scan stopped because too many places look like a secret; null if it scanned everything. */
  readonly unchecked: number | null;
}

/** How many layers of encoding are decoded. */
const MAX_DEPTH = 2;

/**
 * All secrets of a text, each in one category: the first that recognizes it. Linear time. `places`: from `placesIn` for the same
 * text, if the caller already has them.
 */
export function scanText(text: string, places: Places = placesIn(text)): Scan {
  const { tokens, keys, addresses, unchecked } = plainSecrets(text, places);
  const [services, names] = [serviceSecrets(text, places.services), assignedSecrets(text, places.names)];
  const assigned = [
    ...kubernetesSecrets(text),
    ...curlSecrets(text),
    ...commandSecrets(text),
    ...services.spans,
    ...names.spans,
  ];
  const known = [...tokens, ...keys, ...addresses];
  return {
    found: {
      token: disjoint(tokens),
      private_key: disjoint(keys),
      address: disjoint(addresses),
      assigned: outside(disjoint(assigned), known),
      covered: outside(disjoint(coveredSecrets(text, MAX_DEPTH)), known),
    },
    unchecked: unchecked ?? services.unchecked ?? names.unchecked,
  };
}

interface PlainSecrets {
  readonly tokens: readonly SecretSpan[];
  readonly keys: readonly SecretSpan[];
  readonly addresses: readonly SecretSpan[];
  readonly unchecked: number | null;
}

/** Secrets that are recognizable without a name. */
function plainSecrets(text: string, places: Places): PlainSecrets {
  const { spans, unchecked } = knownTokens(text, places.tokens);
  return {
    tokens: spans,
    keys: [...privateKeys(text).filter((span) => containsKey(text, span)), ...unmarkedKeys(text), ...hexKeys(text)],
    addresses: [
      ...addressCredentials(text).flatMap((found) => passwordIn(text, found) ?? []),
      ...basicCredentials(text),
      ...webhooks(text),
    ],
    unchecked,
  };
}

/** Secrets in base64, in hexadecimal digits, in concatenated literals and with escapes. */
function coveredSecrets(text: string, depth: number): SecretSpan[] {
  const spans: SecretSpan[] = [];
  const kinds = new Map<string, string | undefined>();
  for (const { text: inner, start, end } of encodedTexts(text)) {
    const isNew = !kinds.has(inner);
    const kind = isNew ? kindOfDecoded(inner, depth) : kinds.get(inner);
    if (isNew) kinds.set(inner, kind);
    if (kind !== undefined) spans.push({ kind, start, end });
  }
  const joined = joinedLiterals(text);
  if (joined !== null) {
    for (const { kind, start, end } of knownTokens(joined.text, placesIn(joined.text).tokens).spans)
      spans.push({ kind, start: joined.toStaged(start), end: joined.toStaged(end - 1) + 1 });
  }
  return [...spans, ...escapedSecrets(text)];
}

/** Tokens and keys of which a part is escaped, so that the text does not show them. */
function escapedSecrets(text: string): SecretSpan[] {
  const plain = withoutEscapes(text);
  if (plain === null) return [];
  const { tokens, keys } = plainSecrets(plain.text, placesIn(plain.text));
  const staged = (index: number): number => (index < plain.text.length ? plain.toStaged(index) : text.length);
  return [...tokens, ...keys].map(({ kind, start, end }) => ({ kind, start: staged(start), end: staged(end) }));
}

function kindOfDecoded(inner: string, depth: number): string | undefined {
  return firstKind(inner) ?? (depth > 1 ? coveredSecrets(inner, depth - 1)[0]?.kind : undefined);
}

function firstKind(text: string): string | undefined {
  const places = placesIn(text);
  const { tokens, keys, addresses } = plainSecrets(text, places);
  return [...tokens, ...keys, ...addresses][0]?.kind ?? assignedSecrets(text, places.names).spans[0]?.kind;
}

/** The spans that do not overlap any of `known`. */
function outside(spans: readonly SecretSpan[], known: readonly SecretSpan[]): SecretSpan[] {
  const taken = disjoint(known);
  let i = 0;
  return spans.filter(({ start, end }) => {
    while (i < taken.length && (taken[i] as SecretSpan).end <= start) i++;
    const next = taken[i];
    return next === undefined || next.start >= end;
  });
}

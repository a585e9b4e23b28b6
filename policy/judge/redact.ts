import { isOpaque } from './opaque';
import { findSecrets } from './secrets';

interface Redactor {
  /** Replaces each secret by a placeholder. Keeps line feeds inside a secret, so that line numbers stay valid. */
  readonly redact: (text: string) => string;
  /** Number of replaced secrets by kind, over all texts. */
  readonly counts: () => Readonly<Record<string, number>>;
  /** Number of different replaced texts that are not opaque. They may be words or code, in which an agent could hide an effect. */
  readonly notOpaque: () => number;
}

/** A shorter secret is replaced only where it was found: `1234` occurs in many other places. */
const MIN_EVERYWHERE = 8;
const MAX_EVERYWHERE = 64;

/**
 * Creates a redactor with placeholders `[SECRET:kind:n]`. The same secret has the same n in every text of one redactor, so
 * that the judge can distinguish "the same key twice" from "two keys". A placeholder reveals nothing of the secret, not
 * even a hash.
 */
export function createRedactor(): Redactor {
  const placeholders = new Map<string, string>();
  const counts = new Map<string, number>();

  const replaced = (secret: string, kind: string): string => {
    let placeholder = placeholders.get(secret);
    if (placeholder === undefined) {
      placeholder = `[SECRET:${kind}:${placeholders.size + 1}]`;
      placeholders.set(secret, placeholder);
    }
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
    let feeds = '';
    for (let i = secret.indexOf('\n'); i !== -1; i = secret.indexOf('\n', i + 1)) feeds += '\n';
    return placeholder + feeds;
  };

  return {
    redact: (text) => {
      const spans = findSecrets(text);
      let result = '';
      let from = 0;
      for (const { kind, start, end } of spans) {
        result += text.slice(from, start) + replaced(text.slice(start, end), kind);
        from = end;
      }
      result += text.slice(from);
      return everywhere(result, placeholders);
    },
    counts: () => Object.fromEntries([...counts].sort(([a], [b]) => (a < b ? -1 : 1))),
    notOpaque: () => [...placeholders.keys()].filter((secret) => !isOpaque(secret)).length,
  };
}

/** Also replaces other occurrences of a secret, which lack the context by which it was recognized. */
function everywhere(text: string, placeholders: ReadonlyMap<string, string>): string {
  let result = text;
  let left = MAX_EVERYWHERE;
  for (const [secret, placeholder] of placeholders) {
    if (secret.length < MIN_EVERYWHERE || secret.includes('\n')) continue;
    if (left-- === 0) break;
    if (result.includes(secret)) result = result.replaceAll(secret, () => placeholder);
  }
  return result;
}

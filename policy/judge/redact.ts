import { findSecrets } from './secrets';

export interface Redactor {
  /** The text with each secret replaced; line feeds inside a secret stay, so that line numbers hold. */
  readonly redact: (text: string) => string;
  /** How many secrets of each kind were replaced, over all texts. */
  readonly counts: () => Readonly<Record<string, number>>;
}

/** A secret shorter than this is replaced only where it was found: `1234` stands everywhere. */
const MIN_EVERYWHERE = 8;
const MAX_EVERYWHERE = 64;

/**
 * Placeholders are `[SECRET:kind:n]`; the same secret has the same n in every text that one redactor sees, so that the
 * judge can tell "the same key twice" from "two keys" without seeing any. Nothing of a secret, not even a hash, is kept.
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
  };
}

/** A secret that was recognised once by what stands before it is replaced where it stands alone, too. */
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

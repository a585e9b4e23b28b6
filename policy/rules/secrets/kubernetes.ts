import { isSpace } from './characters';
import { foldAscii } from '../../text/fold-ascii';
import { isPlaceholder } from './placeholders';
import type { SecretSpan } from './secret-span';

const MAX_DOCUMENT = 64 * 1024;

/** Values under `data:` and `stringData:` in a manifest of kind Secret. Base64 does not protect them. */
export function kubernetesSecrets(text: string): SecretSpan[] {
  const spans: SecretSpan[] = [];
  const lower = foldAscii(text);
  let done = -1;
  for (let at = lower.indexOf('kind:'); at !== -1; at = lower.indexOf('kind:', at + 5)) {
    if (at < done || !isKindSecret(lower.slice(at + 5, at + 24))) continue;
    const start = Math.max(lower.lastIndexOf('\n---', at), at - MAX_DOCUMENT, done, 0);
    const next = lower.indexOf('\n---', at);
    const end = Math.min(next === -1 ? text.length : next, at + MAX_DOCUMENT);
    done = end;
    spans.push(...dataIn(text, start, end));
  }
  return spans;
}

function isKindSecret(rest: string): boolean {
  const value = rest.trimStart();
  return ['secret', '"secret"', "'secret'"].some((word) => {
    const after = value[word.length];
    return value.startsWith(word) && (after === undefined || isSpace(after));
  });
}

function* dataIn(text: string, from: number, to: number): Generator<SecretSpan> {
  let indent = -1;
  let start = from;
  while (start < to) {
    const feed = text.indexOf('\n', start);
    const end = feed === -1 || feed > to ? to : feed;
    // The judge sees patches: the "+" of an added line is part of the indentation.
    const line = text.slice(start, Math.min(end, start + 4096)).replace(/^[+-]/, ' ');
    const depth = line.length - line.trimStart().length;
    const trimmed = line.trim();
    if (trimmed !== '') {
      if (indent !== -1 && depth <= indent) indent = -1;
      if (indent === -1 && (trimmed === 'data:' || trimmed === 'stringData:')) indent = depth;
      else if (indent !== -1) {
        const colon = line.indexOf(':');
        const value = line
          .slice(colon + 1)
          .trim()
          .replaceAll('"', '')
          .replaceAll("'", '');
        if (colon !== -1 && value.length >= 10 && !isPlaceholder(value)) {
          const at = start + line.indexOf(value.slice(0, 10), colon);
          yield { kind: 'kubernetes_secret', start: at, end: at + value.length };
        }
      }
    }
    start = end + 1;
  }
}

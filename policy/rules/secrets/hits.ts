import type { JsonValue } from '../../contracts/canonical-json';
import type { Metadata } from '../../contracts/diff';
import { pointerOf } from '../../text/json-pointer';
import type { Hit } from '../rule-maker';
import { scanText, WAYS, type Scan, type Way } from './scan';
import type { SecretSpan } from './secret-span';
import type { ScannedText } from './texts';

/** Kind and length, never the value. */
export function said({ kind, start, end }: SecretSpan): string {
  return `${kind.replaceAll('_', ' ')} of ${end - start} characters`;
}

/** What was found in one way, once for each place, on one side of the change. */
export function hitsOf(texts: readonly ScannedText[], way: Way, side: ScannedText['side'] = 'added'): Hit[] {
  const seen = new Set<string>();
  return texts
    .filter((text) => text.side === side)
    .flatMap(({ scan, spanOf }) =>
      scan.found[way].flatMap((found): Hit[] => {
        const at = spanOf(found.start, found.end);
        const key = `${at.startLine}:${at.startColumn}`;
        if (seen.has(key)) return [];
        seen.add(key);
        return [{ at, what: said(found) }];
      }),
    );
}

/** Where the scan gave up. */
export function uncheckedHits(texts: readonly ScannedText[]): Hit[] {
  return texts.flatMap(({ scan, spanOf, side }) =>
    side === 'removed' || scan.unchecked === null
      ? []
      : [
          {
            at: spanOf(scan.unchecked, scan.unchecked),
            what: 'from here on too much looks like a key to look at all of it',
          },
        ],
  );
}

function allOf(scan: Scan): SecretSpan[] {
  return WAYS.flatMap((way) => scan.found[way]);
}

/** Secrets in the names and texts of metadata, each at a pointer into it. A name that is a secret itself is not shown. */
export function metadataHits(metadata: Metadata): Hit[] {
  const hits: Hit[] = [];
  const visit = (value: JsonValue, path: readonly string[]): void => {
    if (typeof value === 'object' && value !== null) {
      for (const [name, member] of Object.entries(value)) {
        const [inName] = allOf(scanText(name));
        if (inName === undefined) visit(member as JsonValue, [...path, name]);
        else hits.push({ at: pointerOf(path), of: 'metadata', what: `${said(inName)}, as a name` });
      }
      return;
    }
    if (typeof value !== 'string') return;
    // Beside its name, as it would stand in a file.
    const [first] = [...allOf(scanText(value)), ...allOf(scanText(`${path.at(-1) ?? ''}="${value}"`))];
    if (first !== undefined) hits.push({ at: pointerOf(path), of: 'metadata', what: said(first) });
  };
  visit(metadata as JsonValue, []);
  return hits;
}

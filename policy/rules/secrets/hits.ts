import { canonicalJson, type JsonValue } from '../../contracts/canonical-json';
import type { Metadata } from '../../contracts/diff';
import { pointerOf } from '../../text/json-pointer';
import { hitsInAdded, type Hit } from '../hit';
import { isTestData } from './test-data';
import { scanText, SECRET_CATEGORIES, type Scan, type SecretCategory } from './scan';
import type { SecretSpan } from './secret-span';
import type { ScannedText } from './texts';

/** Kind and length of a secret, never its value. */
function describe({ kind, start, end }: SecretSpan): string {
  return `${kind.replaceAll('_', ' ')} of ${end - start} characters`;
}

/** Hits for the added secrets of some categories, one for each place. `inFixtures`: in the data of tests, or elsewhere. */
export function hitsOf(
  texts: readonly ScannedText[],
  categories: readonly SecretCategory[],
  inFixtures: boolean,
): Hit[] {
  return hitsInAdded(texts, ({ scan, fileOf }) =>
    categories
      .flatMap((category) => scan.found[category])
      .filter(({ start }) => {
        const file = fileOf?.(start);
        return (file !== undefined && isTestData(file.path)) === inFixtures;
      })
      .map((found) => ({ start: found.start, end: found.end, what: describe(found) })),
  );
}

/** Hits for the places where the scan stopped at a limit. */
export function uncheckedHits(texts: readonly ScannedText[]): Hit[] {
  return texts.flatMap(({ scan, spanOf, side }) =>
    side === 'removed' || scan.unchecked === null
      ? []
      : [
          {
            at: spanOf(scan.unchecked, scan.unchecked),
            what: 'the scan stopped here: too many places look like a secret',
          },
        ],
  );
}

function allOf(scan: Scan): SecretSpan[] {
  return SECRET_CATEGORIES.flatMap((category) => scan.found[category]);
}

/** Secrets in the member names and strings of metadata, each with a pointer. A name that contains a secret is not shown. */
export function metadataHits(metadata: Metadata): Hit[] {
  const hits: Hit[] = [];
  const visit = (value: JsonValue, path: readonly string[], nameOf: string): void => {
    if (typeof value === 'object' && value !== null) {
      for (const [name, member] of Object.entries(value)) {
        const [inName] = allOf(scanText(name));
        // The elements of a list are values of its name.
        if (inName === undefined) visit(member as JsonValue, [...path, name], Array.isArray(value) ? nameOf : name);
        else hits.push({ at: pointerOf(path), of: 'metadata', what: `${describe(inName)} in a member name` });
      }
      return;
    }
    if (typeof value !== 'string') return;
    // Also scan the value as an assignment to its name.
    const [first] = [...allOf(scanText(value)), ...allOf(scanText(`${nameOf}="${value}"`))];
    if (first !== undefined) hits.push({ at: pointerOf(path), of: 'metadata', what: describe(first) });
  };
  visit(metadata as JsonValue, [], '');
  if (hits.length > 0) return hits;
  // Name and value in two members: `{"name": "DB_PASSWORD", "value": …}`, `["--password", …]`, a JSON Web Key.
  const [first] = allOf(scanText(canonicalJson(metadata)));
  return first === undefined ? [] : [{ at: pointerOf([]), of: 'metadata', what: describe(first) }];
}

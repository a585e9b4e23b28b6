import fc from 'fast-check';
import { readJsonDocument } from '../../../policy/text/json-document';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const codeOf = (text: string, maxEntries: number): string => {
  const read = readJsonDocument(bytes(text), { maxBytes: 1_000_000, maxDepth: 100, maxEntries });
  return read.ok ? 'ok' : read.code;
};

/** Counts members and items at every depth. */
function entriesOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return Object.values(value).reduce<number>((sum, member) => sum + 1 + entriesOf(member), 0);
}

test('reads a document with exactly the maximum number of members and items, and refuses one more, for any strings and white space', () => {
  const odd = fc.constantFrom('', ',', '[', '{"a":[1,2]}', '\\', '"', '\\",[', ']');
  const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
    tree: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom(null, true, 7, -1.5),
      odd,
      fc.array(tie('tree'), { maxLength: 4 }),
      fc.dictionary(fc.oneof(odd, fc.string({ maxLength: 4 })), tie('tree'), { maxKeys: 4 }),
    ),
  }));
  fc.assert(
    fc.property(tree, fc.constantFrom<string | number | undefined>(undefined, 1, '\t', '\r\n '), (value, blanks) => {
      const text = JSON.stringify(value, null, blanks);
      const entries = entriesOf(value);
      expect(codeOf(text, entries)).toBe('ok');
      if (entries > 0) expect(codeOf(text, entries - 1)).toBe('too_many_entries');
    }),
    { numRuns: 2000 },
  );
});

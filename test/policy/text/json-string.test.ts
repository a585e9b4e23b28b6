import fc from 'fast-check';
import { closingQuote } from '../../../policy/text/json-string';
import { anyText } from '../../support/any-text';

test('finds the closing quote of any JSON string, whatever follows', () => {
  fc.assert(
    fc.property(anyText(), fc.string(), (value, after) => {
      const literal = JSON.stringify(value);
      expect(closingQuote(literal + after, 1)).toBe(literal.length - 1);
      expect(closingQuote(literal + after, 1, true)).toBe(literal.length - 1);
      expect(closingQuote(literal.slice(0, -1), 1)).toBe(-1);
    }),
  );
});

test('with oneLine, a line feed before the quote ends the search, unless it is escaped', () => {
  expect(closingQuote('a\nb"', 0)).toBe(3);
  expect(closingQuote('a\nb"', 0, true)).toBe(-1);
  expect(closingQuote('a\\\nb"', 0, true)).toBe(4);
});

test('returns -1 for a backslash at the end', () => {
  expect(closingQuote('"\\', 1)).toBe(-1);
  expect(closingQuote('', 0)).toBe(-1);
});

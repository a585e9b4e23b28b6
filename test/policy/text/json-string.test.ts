import fc from 'fast-check';
import { closingQuote } from '../../../policy/text/json-string';

test('the quote that closes any JSON string is found, whatever follows', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.string(), (value, after) => {
      const literal = JSON.stringify(value);
      expect(closingQuote(literal + after, 1)).toBe(literal.length - 1);
      expect(closingQuote(literal + after, 1, true)).toBe(literal.length - 1);
      expect(closingQuote(literal.slice(0, -1), 1)).toBe(-1);
    }),
  );
});

test('a line feed before the quote ends the search only if one line was asked for, and an escaped one does not', () => {
  expect(closingQuote('a\nb"', 0)).toBe(3);
  expect(closingQuote('a\nb"', 0, true)).toBe(-1);
  expect(closingQuote('a\\\nb"', 0, true)).toBe(4);
});

test('a backslash at the end escapes nothing and closes nothing', () => {
  expect(closingQuote('"\\', 1)).toBe(-1);
  expect(closingQuote('', 0)).toBe(-1);
});

import fc from 'fast-check';
import { parseUniqueJson } from '../../../policy/text/unique-json';

test('reads any JSON as JSON.parse', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
      const text = JSON.stringify(value, null, 2);
      expect(parseUniqueJson(text)).toStrictEqual(JSON.parse(text));
    }),
  );
});

test.each([
  ['', 'line 1 column 1: the JSON ends too early'],
  ['{"key":\n "sk-1"x}', 'line 2 column 8: not JSON'],
  ['{}\n{}', 'line 2 column 1: not JSON'],
  ['{"a": [{"b": 1,\n "\\u0062": 2}]}', 'line 2 column 2: the second member of this name in one object; remove one'],
  ['1e999', 'line 1 column 6: a number that is too large'],
  ['"\\ud800"', 'line 1 column 1: half of a surrogate pair'],
  ['['.repeat(66), 'line 1 column 66: more than 64 levels of objects and arrays'],
])('refuses %j with the place and nothing of the text', (text, message) => {
  expect(() => parseUniqueJson(text)).toThrow(new SyntaxError(message));
});

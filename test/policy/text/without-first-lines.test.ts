import { withoutFirstLines } from '../../../policy/text/without-first-lines';

test.each([
  ['Deletes 1', '', ''],
  ['Deletes 1', '\nAsk the owner', 'Ask the owner'],
  ['two\nlines', '\nand more', 'and more'],
])('a text that begins with the lines %j is shown without them', (lines, rest, shown) => {
  expect(withoutFirstLines(lines + rest, lines)).toBe(shown);
});

test.each([
  ['Deletes 1', 'Deletes 10 rows'],
  ['', 'any text'],
  ['other', 'any text'],
])('a text that does not begin with the whole lines %j is shown as it is', (lines, text) => {
  expect(withoutFirstLines(text, lines)).toBe(text);
});

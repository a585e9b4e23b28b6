import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { shellCommand, shellQuote } from '../../cli/shell-quote';

it('gives a shell back exactly the words, whatever is in them', () => {
  const word = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.constantFrom("it's", '"$(id)"', '`id`', '$HOME', 'a\nb', '\\', '!!', '*', '~', '', '-n', "'", "''"),
  );
  // One shell for many cases: starting one takes longer than all of them.
  const cases = fc.sample(
    fc.array(
      word.filter((w) => !w.includes('\0')),
      { minLength: 1, maxLength: 5 },
    ),
    200,
  );
  const script = cases.map((words) => `printf '%s\\0' ${shellCommand(words)}; printf '\\001'`).join('\n');
  const out = execFileSync('/bin/sh', [], { input: script, encoding: 'utf8' });
  const seen = out
    .split('\u0001')
    .slice(0, -1)
    .map((text) => text.split('\0').slice(0, -1));
  expect(seen).toEqual(cases);
});

it('refuses NUL, which no argument can hold', () => {
  expect(() => shellQuote('a\0b')).toThrow('NUL');
});

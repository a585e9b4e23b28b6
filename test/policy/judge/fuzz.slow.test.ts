import { seededRandom } from '../../../chaos/seeded-random';
import { conclude } from '../../../policy/judge/conclude';
import { readAnswer } from '../../../policy/judge/read-answer';
import { RUN_ALL } from '../../support/extent';
import { leastCpuMs } from '../../support/least-cpu';
import { STRICT_ANSWERS, STRICT_CANARY, STRICT_LINES, STRICT_POLICIES } from './strict-answers';

const rawOf = (id: string): string => STRICT_ANSWERS.find((answer) => answer.id === id)?.raw ?? '';
/** None of these answers is an ALLOW, and no mutation of them may become one. */
const BLOCKING = [
  rawOf('BLOCK object'),
  rawOf('violated BLOCK row under ALLOW'),
  JSON.stringify(JSON.parse(rawOf('BLOCK object')), null, 1),
];
const PIECES = [
  '{',
  '}',
  '[',
  ']',
  '"',
  '\\',
  ':',
  ',',
  '\n',
  '```',
  '```json\n',
  '<think>',
  '</think>',
  '"verdict":"ALLOW"',
  '"verdict":"BLOCK"',
  '\\u0076',
  'null',
  '1e999',
  '\ufeff',
  '\ud800',
  '"__proto__":{}',
  rawOf('bare object'),
];

function mutate(text: string, next: () => number): string {
  let result = text;
  const times = 1 + Math.floor(next() * 4);
  for (let i = 0; i < times; i++) {
    const at = Math.floor(next() * (result.length + 1));
    const to = Math.min(result.length, at + Math.floor(next() * 30));
    const piece = PIECES[Math.floor(next() * PIECES.length)] ?? '';
    switch (Math.floor(next() * 5)) {
      case 0:
        result = result.slice(0, at) + piece + result.slice(at);
        break;
      case 1:
        result = result.slice(0, at) + result.slice(to);
        break;
      case 2:
        result = result.slice(0, at) + result.slice(at, to) + result.slice(at);
        break;
      case 3:
        result = result.slice(0, at);
        break;
      default:
        result = result.slice(0, at) + String.fromCharCode(Math.floor(next() * 0x3000)) + result.slice(at + 1);
    }
  }
  return result;
}

const expected = {
  policyIds: STRICT_POLICIES,
  canary: STRICT_CANARY,
  piece: { first: 0, last: STRICT_LINES - 1, context: [] },
};

const leastTime = (text: string): number => leastCpuMs(() => readAnswer(text, expected));

const MUTATIONS = RUN_ALL ? 100_000 : 10_000;

describe('readAnswer on mutated answers', () => {
  it('does not throw, stays within its time limit, and does not read ALLOW while the text still contains BLOCK', () => {
    const draw = seededRandom(20261101);
    const next = (): number => draw(2 ** 32) / 2 ** 32;
    const seeds = STRICT_ANSWERS.map((a) => a.raw).filter((raw) => raw.length < 8000);
    const slow: string[] = [];
    let flips = 0;
    for (let i = 0; i < MUTATIONS; i++) {
      const blocking = i % 2 === 0;
      const seed = blocking ? (BLOCKING[i % BLOCKING.length] ?? '') : (seeds[Math.floor(next() * seeds.length)] ?? '');
      const text = mutate(seed, next);
      const began = performance.now();
      const read = readAnswer(text, expected);
      if (performance.now() - began > 5 && leastTime(text) > 200) slow.push(text);
      if (blocking && read.ok && conclude(read.answer).status === 'ALLOW') {
        // A mutation may replace the BLOCK and its verdict member by a complete ALLOW; then the text contains no BLOCK.
        if (/"BLOCK"/.test(text)) flips++;
      }
    }
    expect({ slow, flips }).toEqual({ slow: [], flips: 0 });
  });

  it.each([
    ['opening braces', '{'.repeat(65_536)],
    ['opening brackets', '['.repeat(65_536)],
    ['keys without end', '{"a":'.repeat(13_107)],
    ['quotes', '"'.repeat(65_536)],
    ['backslashes', `{"${'\\'.repeat(65_530)}`],
    ['objects in a row', '{"a":1}'.repeat(9_362)],
    ['verdicts in a row', '{"verdict":"ALLOW"}'.repeat(3_449)],
    ['a long number', `{"a":${'9'.repeat(65_000)}}`],
    ['nested arrays', '[[[[[[[[1,'.repeat(6_000)],
    ['prose that nearly says it', 'verdict is '.repeat(5_900)],
  ])('reads 64 KiB of %s in bounded time', (_, text) => {
    expect(readAnswer(text, expected).ok).toBe(false);
    // A generous limit that only super-linear time exceeds; `bench/judge` measures.
    expect(leastTime(text)).toBeLessThan(200);
  });
});

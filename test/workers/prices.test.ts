import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { costMicros } from '../../policy/judge/record';
import { readPrices } from '../../workers/config';

const dir = mkdtempSync(join(tmpdir(), 'countersign-prices-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));
const file = (text: string): string => {
  const path = join(dir, 'prices.json');
  writeFileSync(path, text);
  return path;
};

it('computes the cost of a judgement from the price file, with a separate price for cached input', () => {
  const prices = readPrices(file('{"m": {"input": 2000000, "cachedInput": 1000000, "output": 8000000}}'));
  const usage = { input: 1000, cachedInput: 400, output: 10, reasoning: null };
  expect(costMicros(prices, 'm', usage)).toBe(600 * 2 + 400 + 10 * 8);
  expect(costMicros(prices, 'another', usage)).toBeNull();
});

it('has no prices without a file: the cost is unknown, not zero', () => {
  expect(costMicros(readPrices(undefined), 'm', { input: 1, cachedInput: 0, output: 1, reasoning: null })).toBeNull();
});

it.each([
  ['a negative price', '{"m": {"input": -1, "output": 1}}', 'm.input'],
  ['a missing price', '{"m": {"input": 1}}', 'm.output'],
  [
    'a model with two prices, of which JSON.parse would keep the last',
    '{\n"m": {"input": 9, "output": 9}, "m": {"input": 1, "output": 1}}',
    'line 2 column 33: the second member of this name',
  ],
  ['an unknown member', '{"m": {"input": 1, "output": 1, "ouput": 1}}', 'ouput'],
])('refuses %s, and names the member', (_, text, place) => {
  expect(() => readPrices(file(text))).toThrow(place);
});

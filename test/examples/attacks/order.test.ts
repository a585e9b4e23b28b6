import { partOf } from '../../../examples/attacks/order';

const items = Array.from({ length: 20 }, (_, i) => i);

test('the parts of the attacks are disjoint, and together they are all of them', () => {
  const parts = ['1/6', '2/6', '3/6', '4/6', '5/6', '6/6'].map((part) => partOf(items, part));
  expect(parts[1]).toEqual([1, 7, 13, 19]);
  expect(parts.flat().sort((a, b) => a - b)).toEqual(items);
  expect(partOf(items, '1/1')).toEqual(items);
});

test.each(['', '0/6', '7/6', '1/0', '1', '1/6/2', '-1/6', '1.5/6', 'a/b', ' 1/6'])(
  'a part that is not one of its number is a wrong option, not a run without attacks: "%s"',
  (part) => {
    expect(() => partOf(items, part)).toThrow(`--part: expected i/n with i from 1 to n, got "${part}"`);
  },
);

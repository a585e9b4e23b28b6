import { RecentValues } from '../../../policy/text/recent-values';

it('drops the value that was not used for the longest time, once there are too many', () => {
  const recent = new RecentValues<number>({ entries: 2, length: 100 });
  recent.set('a', 1);
  recent.set('b', 2);
  expect(recent.get('a')).toBe(1);
  recent.set('c', 3);
  expect(['a', 'b', 'c'].map((text) => recent.get(text))).toEqual([1, undefined, 3]);
});

it('drops the oldest values until their texts are short enough together, and never keeps a longer text', () => {
  const recent = new RecentValues<number>({ entries: 100, length: 10 });
  recent.set('aaaa', 1);
  recent.set('bbbb', 2);
  recent.set('ccccc', 3);
  expect(['aaaa', 'bbbb', 'ccccc'].map((text) => recent.get(text))).toEqual([undefined, 2, 3]);
  recent.set('d'.repeat(11), 4);
  expect([recent.size, recent.get('bbbb')]).toEqual([2, 2]);
});

it('stays within its bounds while the same and new texts are set again', () => {
  const recent = new RecentValues<number>({ entries: 5, length: 40 });
  for (let i = 0; i < 1000; i++) {
    recent.set(String(i % 7).repeat(1 + (i % 12)), i);
    expect(recent.size).toBeLessThanOrEqual(5);
  }
  const before = recent.size;
  for (let i = 0; i < 100; i++) recent.set('same', i);
  expect(recent.get('same')).toBe(99);
  for (const text of ['1', '2', '3', '4']) recent.set(text, 0);
  expect([before > 0, recent.size, recent.get('same')]).toEqual([true, 5, 99]);
});

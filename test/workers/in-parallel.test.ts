import { setTimeout as pause } from 'node:timers/promises';
import { inParallel } from '../../workers/in-parallel';

test('work on all items is done before the first failure is reported', async () => {
  const done: number[] = [];
  const work = inParallel([1, 2, 3, 4, 5], 2, async (item) => {
    if (item === 1) throw new Error('the first');
    await pause(5);
    if (item === 2) throw new Error('a later one');
    done.push(item);
  });
  await expect(work).rejects.toThrow('the first');
  expect(done).toEqual([3, 4, 5]);
});

test('work that throws before it returns a promise is a failure like others, and undefined is an item', async () => {
  const done: unknown[] = [];
  const work = inParallel<number | undefined>([1, undefined, 3, 4], 2, (item) => {
    if (item === 1) throw new Error('at once');
    return pause(5).then(() => void done.push(item));
  });
  await expect(work).rejects.toThrow('at once');
  expect(done).toEqual([undefined, 3, 4]);
});

test('at most as many items as allowed are worked on at a time', async () => {
  let [running, most] = [0, 0];
  await inParallel([...Array(10).keys()], 3, async () => {
    most = Math.max(most, ++running);
    await pause(1);
    running--;
  });
  expect(most).toBe(3);
});

import { FreshReading } from '../../gateway/fresh-reading';

/** Reads how often it was read. */
function counting(now: number) {
  const clock = { now };
  let count = 0;
  const reading = new FreshReading(
    async () => ++count,
    1_000,
    () => clock.now,
  );
  return { clock, reading };
}

it('shares one reading until it is too old', async () => {
  const { clock, reading } = counting(0);
  expect(await Promise.all([reading.get(), reading.get()])).toEqual([1, 1]);
  clock.now = 999;
  expect(await reading.get()).toBe(1);
  clock.now = 1_000;
  expect(await reading.get()).toBe(2);
});

it('reads again after the clock was set back', async () => {
  const { clock, reading } = counting(3_600_000);
  expect(await reading.get()).toBe(1);
  clock.now = 0;
  expect(await reading.get()).toBe(2);
});

it('reads again after a failure', async () => {
  let down = true;
  const read = async () => (down ? await Promise.reject(new Error('down')) : 'read');
  const reading = new FreshReading(read, 1_000, () => 0);
  await expect(reading.get()).rejects.toThrow('down');
  down = false;
  expect(await reading.get()).toBe('read');
});

it('keeps a newer reading when an older one fails', async () => {
  let now = 0;
  let count = 0;
  let fail = (_error: Error): void => {};
  const read = () => (++count === 1 ? new Promise<number>((_, reject) => (fail = reject)) : Promise.resolve(count));
  const reading = new FreshReading(read, 1_000, () => now);
  const first = reading.get();
  now = 1_000;
  expect(await reading.get()).toBe(2);
  fail(new Error('late'));
  await expect(first).rejects.toThrow('late');
  expect(await reading.get()).toBe(2);
});

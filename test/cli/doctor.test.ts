import { checkVersion, queueCheck } from '../../cli/doctor/temporal';

test.each([
  ['1.29.1', true],
  ['1.32.0', true],
  ['2.0.0', true],
  ['1.29.0', false],
  ['1.28.9', false],
  ['0.30.0', false],
  ['', true],
  ['main-8f3a', true],
])('Temporal server %j fits: %s', (version, ok) => {
  expect(checkVersion('127.0.0.1:7233', version).ok).toBe(ok);
});

test('a queue has live pollers only if one polled in the last two minutes', () => {
  const now = Date.parse('2026-11-20T10:00:00.000Z');
  const check = (...ages: number[]) =>
    queueCheck(
      'queue a',
      ages.map((age) => now - age),
      now,
      'start it',
    );
  expect(check(1_000, 200_000)).toMatchObject({ ok: true, detail: '1 poller' });
  expect(check()).toMatchObject({ ok: false, detail: 'no worker polls it', fix: 'start it' });
  expect(check(200_000, 150_000)).toMatchObject({ ok: false, detail: 'the last poll was 150 s ago' });
});

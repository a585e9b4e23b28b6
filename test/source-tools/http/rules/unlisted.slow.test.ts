import { leastCpuMs } from '../../../support/least-cpu';
import { HOSTS, asks, merge, run } from './run-unlisted';

it.each([
  [
    'many members',
    { title: 'x', ...Object.fromEntries(Array.from({ length: 25_000 }, (_, i) => [`member_${i}`, 'x'])) },
  ],
  ['a long formula', { note: `+${'|x'.repeat(200_000)}${'\n'.repeat(300_000)}` }],
  ['many references', { note: `${'fix:'.repeat(120_000)}${'@'.repeat(200_000)}${'[#'.repeat(100_000)}` }],
  ['many words that close', { note: 'fix '.repeat(240_000) }],
  ['long words that close', { note: `fixed:${'x'.repeat(190)}`.repeat(4500) }],
  ['many quotation marks', { note: `${'"'.repeat(300_000)}${"'on".repeat(150_000)}` }],
  ['many issues', { note: `${'AB-1 '.repeat(100_000)}${'[%'.repeat(150_000)}${'%%a'.repeat(60_000)}` }],
  ['a long text', { note: `${' @'.repeat(200_000)}${'{'.repeat(200_000)}` }],
  ['a long name', { [`a${'-a'.repeat(400_000)}`]: 'x' }],
  ['many items', { keywords: Array.from({ length: 29_000 }, () => 'x') }],
])('reads a request with %s in linear time', (_, body) => {
  expect(leastCpuMs(() => run(merge(body)), 1)).toBeLessThan(5000);
});

it('compares many members with many listed fields in linear time', () => {
  const fields = Array.from({ length: 500 }, (_, i) => `/attributes/x${i}/title`);
  const requests = Array.from({ length: 100 }, () => ({ methods: ['PATCH'], paths: ['/v1/orders/{id}'], fields }));
  const body = { attributes: Object.fromEntries(Array.from({ length: 14_000 }, (_, i) => [`m${i}`, { tag: 'x' }])) };
  const compare = (): void => expect(asks(merge(body), { ...HOSTS, requests })).toBe(true);
  expect(leastCpuMs(compare, 1)).toBeLessThan(5000);
});

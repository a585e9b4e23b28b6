import { listReviews } from '../../client/list-reviews';
import type { ListFilter } from '../../client/ports';
import type { ReviewQuery } from '../../policy/evidence/ledger-port';

const PAGE = { reviews: [], next: null };

it('asks for the filters that are set, 50 reviews by default', async () => {
  const asked: ReviewQuery[] = [];
  const ledger = { list: async (query: ReviewQuery) => (asked.push(query), PAGE) };
  expect(await listReviews(ledger, { tenant: 'acme', state: undefined })).toBe(PAGE);
  await listReviews(ledger, { idPrefix: 'aaaaaaaa', limit: 500 });
  expect(asked).toEqual([
    { tenant: 'acme', limit: 50 },
    { idPrefix: 'aaaaaaaa', limit: 500 },
  ]);
});

it.each<[string, ListFilter]>([
  ['limit', { limit: 0 }],
  ['limit', { limit: 501 }],
  ['limit', { limit: 1.5 }],
  ['idPrefix', { idPrefix: 'aaaaaaa' }],
  ['after', { after: 'x' }],
])('refuses an invalid %s as input, and names it', async (field, filter) => {
  const list = async ({ after }: ReviewQuery) =>
    await (after === undefined ? Promise.resolve(PAGE) : Promise.reject(new RangeError('after')));
  await expect(listReviews({ list }, filter)).rejects.toMatchObject({ code: 'invalid_input', field });
});

it('says that the ledger is not available for any other failure', async () => {
  const list = async () => await Promise.reject(new Error('down'));
  await expect(listReviews({ list }, {})).rejects.toMatchObject({ code: 'ledger_unavailable' });
});

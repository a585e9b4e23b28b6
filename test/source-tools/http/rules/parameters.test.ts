import { request } from '../../../../source-tools/http/rules/define-http-rule';
import { requestTitle } from '../../../../source-tools/http/title';
import { extractHttpPatchFacts } from '../../../../source-tools/http/facts/extract-http-facts';
import type { HttpPatchFacts } from '../../../../source-tools/http/facts/http-facts';
import { runRule } from '../../../policy/rules/support/run-pack-rule';

const url = (query: string): string => `https://api.example.com/v1/orders/17?${query}`;
const run = (method: string, query: string, allowParameters: readonly string[] = []) =>
  runRule('http_tenant_header', request({ method, url: url(query) }), { config: { allowParameters } });
const asks = (...args: Parameters<typeof run>): boolean => run(...args).status !== 'ALLOW';

describe('a parameter of a request that writes', () => {
  it.each([
    'filter=open',
    'q=status:open',
    'where=1',
    'ids=*',
    'ids[]=1&ids[]=2',
    'force',
    'notify=false',
    '%66ilter=open',
    'limit=1000',
  ])('asks if it is not listed: %s', (query) => {
    expect(asks('PATCH', query)).toBe(true);
  });

  it.each([
    'id=*',
    'id=%2A',
    'id=1,2',
    'id=1&id=2',
    'id=1&ID=2',
    'id=',
    'id',
    'id=0',
    'id=1-100',
    'id=1..100',
    'id=neq.1',
    'id=in.(1,2)',
    'id=>1',
    'id=!1',
    'id[]=1&id[]=2',
    'id[ne]=1',
    'id=[1,2]',
    'id=%7B%22$ne%22:1%7D',
    'id=1%20or%201=1',
    "id=1'--",
    'id=1%2C2',
    'id=1%252C2',
    'id=1%26cascade=true',
    'id=1%0A2',
    'id=1%C2%A02',
    'id=status:open',
    'id=all',
    'id=All',
    'id=delete-everything',
    'id=deleteAll',
    'id=ALL-2026',
    'id=anyone',
    'id=everybody',
    'id=multiple',
    'id=null',
    'id=a@b.example,c@d.example',
    'id=all@example.com',
    'id=-1',
    'id=%EF%BC%8A',
  ])('asks if a listed one may choose more than one resource: %s', (query) => {
    expect(asks('PATCH', query, ['id'])).toBe(true);
  });

  it.each([
    'id=17',
    'ID=KT-170-BL',
    'id=9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d',
    'id=01J9ZC4QK3V8MXTN5WPA7RGH2B',
    'id=main',
    'id=main-branch',
    'id=Background',
    'id=false',
    'id=anna%40example.com',
    'id=MDU6SXNzdWUyMzEzOTE1NTE%3D',
    'id=1503435956.000247',
    'id=2026-11-28T08:00:00.5Z',
    'id=1.5',
  ])('passes if a listed one has one plain value: %s', (query) => {
    expect(asks('PATCH', query, ['id'])).toBe(false);
  });

  it('passes with exactly the listed value, or with any if the list says so', () => {
    expect(asks('PATCH', 'notify=false', ['notify=false'])).toBe(false);
    expect(asks('PATCH', 'Notify=false', ['notify=false'])).toBe(false);
    expect(asks('PATCH', 'notify=true', ['notify=false'])).toBe(true);
    expect(asks('PATCH', 'notify=false&notify=true', ['notify=false'])).toBe(true);
    expect(asks('PATCH', 'dry=all', ['dry=all', 'dry'])).toBe(false);
    expect(asks('PATCH', 'wait=', ['wait='])).toBe(false);
    expect(asks('PATCH', 'filter=a eq b&filter=c', ['filter=*'])).toBe(false);
    expect(asks('PATCH', 'filter=x', ['other=*'])).toBe(true);
  });

  it.each([
    ['fields=items(id,title),owner/name', false],
    ['$expand=lines($select=id,sku)&$select=*', false],
    ['lang=de-CH&api-version=2026-10-01-preview&pretty', false],
    ['idempotency_key=q%2B/abc%3D%3D%7C', false],
    ["fields=id'or'1", true],
    ['fields=id%26force=true', true],
    ['format=%7B%7Bx%7D%7D', true],
    ['expand=id%0Aforce', true],
  ])('may say with names what the response contains, but not with an expression; %s asks: %s', (query, expected) => {
    expect(asks('PATCH', query)).toBe(expected);
    expect(asks('PATCH', query, ['fields', 'format', 'expand'])).toBe(expected);
  });
});

it.each([
  ['q=status:open&filter[id]=1&filter[id]=2', [], false],
  ['starting_after=cus_9s6XKzkNRiz8i3&maxResults=5', [], false],
  ['view=a,b', ['view'], false],
  ['view=a,b', ['view=a'], true],
  ['view=a,b', [], true],
])('a request that only reads may search; %s with %j listed asks: %s', (query, listed, expected) => {
  expect(asks('GET', query, listed)).toBe(expected);
});

it.each([
  ['force=true', '"force" is not in `allowParameters`', ['force']],
  ['id=1,2', '"id" has a value that may be a list, a pattern or an expression', ['id=1,2']],
  ['id=1&id=2', '"id" occurs more than once', ['id=*']],
  ['notify=true', '"notify" has another value than `allowParameters` lists', ['notify=true']],
])('the reason for %s names the setting, and %j passes with the entry', (query, why, entries) => {
  const listed = ['id', 'notify=false'];
  expect(run('PATCH', query, listed).reason).toContain(why);
  expect(run('PATCH', query, listed).reason).toContain('`allowParameters`');
  expect(asks('PATCH', query, [...listed, ...entries])).toBe(false);
});

it('neither the reason nor the title contains the value of a parameter', () => {
  const query = 'token=hunter2&id=hunter2,hunter3';
  expect(run('PATCH', query, ['id']).reason).toContain('"id" has a value that may be a list');
  expect(run('PATCH', query, ['id']).reason).not.toContain('hunter');
  const facts = extractHttpPatchFacts(Buffer.from(request({ url: url(query) }))) as HttpPatchFacts;
  expect(facts.parameters.map(({ value }) => value)).toEqual(['hunter2', 'hunter2,hunter3']);
  expect(requestTitle(facts)).toBe('PATCH https://api.example.com/v1/orders/17?token&id');
});

it.each(['baggage', 'tracestate'])('asks about the header %s, by whose entries some services are chosen', (name) => {
  const raw = request({ headers: { [name]: 'routing-key=x' } });
  expect(runRule('http_tenant_header', raw).status).not.toBe('ALLOW');
});

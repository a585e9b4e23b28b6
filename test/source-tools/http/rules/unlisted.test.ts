import { leastCpuMs } from '../../../support/least-cpu';
import { HOST, HOSTS, asks, merge, run } from './run-unlisted';

const JSON_TYPE = 'application/json';
const read = (path: string, method = 'GET') => ({ method, url: HOST + path, contentType: null, body: undefined });

describe('without a list', () => {
  it.each(['POST', 'PUT', 'DELETE', 'LOCK', 'BREW'])('asks a person about each %s', (method) => {
    expect(asks({ method, contentType: JSON_TYPE, body: { note: 'x' } })).toBe(true);
  });

  it('asks about a host or a port that the rule does not name', () => {
    expect(asks({}, {})).toBe(true);
    expect(asks({ url: 'https://api.example.net/v1/orders/17' })).toBe(true);
    expect(asks({ url: `${HOST}:8443/v1/orders/17` })).toBe(true);
    expect(asks({ url: `${HOST}:8443/v1/orders/17` }, { ...HOSTS, ports: [8443] })).toBe(false);
    expect(asks({}, { hosts: ['*.example.com'] })).toBe(false);
  });

  it.each([
    '/v1/orders',
    '/v1/orders/17/state',
    '/v1/orders/all',
    '/v1/orders/*',
    '/v1/orders/1,2',
    '/v1/settings',
    '/',
  ])('asks about a PATCH of %s, which is not one resource of a collection', (path) => {
    expect(asks(merge({ note: 'x' }, path))).toBe(true);
  });

  it.each([
    '/v1/sync/17',
    '/v1/orders/cancel/17',
    '/admin/orders/17',
    '/v1/process/17',
    '/v1/orders:sync/17',
    '/v1/oauth2',
    '/v1/send-emails/17',
    '/v1/resetPasswords/17',
    '/v1/orders/17/sync_items/3',
  ])('asks about a PATCH of %s, because a segment is neither a collection nor an identifier', (path) => {
    expect(asks(merge({ note: 'x' }, path))).toBe(true);
  });

  it.each([
    '/orders/17',
    '/api/v2/Orders/17/items/3.json',
    '/v1/products/KT-170-BL',
    '/v1/notes/9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d',
    '/v1/customers/cus_9s6XKzkNRiz8i3/',
  ])('passes a PATCH of %s that describes the resource', (path) => {
    expect(asks(merge({ title: 'x', longDescription: 'y' }, path))).toBe(false);
  });

  it.each([
    { status: 'shipped' },
    { note: 'Late', notify: true },
    { note: 'Late', inform_customer: 'yes' },
    { title: 'x', send_at: '2026-11-28T08:00:00Z' },
    { callback_url: 'https://hooks.example.net/in' },
    { name: 'admins' },
    { tags: ['deploy'] },
    { preferences: { title: 'x' } },
    { note: { text: 'x' } },
    { note: {} },
    { note: true },
    { note: null },
    { weight: 0 },
    { 'note.status': 'x' },
    { ｎｏｔｅ: 'x' },
    { '0': 'x' },
    { '18': { title: 'x' } },
    { attributes: [{ title: 'x' }] },
    { fields: [['x'], { description: 'x' }] },
    [],
    [{ title: 'x' }],
    'x',
  ])('asks about the members %j, which a server can act on', (body) => {
    expect(asks(merge(body))).toBe(true);
  });

  it.each([
    { title: 'Tea & coffee, 2 < 3', note: '' },
    { note: 'Call +49 (30) 123-45 or anna@example.com @ 5 pm; I <3 it -> ok' },
    { note: '- 20 % off, $5, #urgent and/or [draft] {"a": 1}\n- [x] see [docs](https://www.example.com/a), `x = 1`' },
    { note: 'Fix the #1 issue!\n\n# Title\n=====\n"quoted", 100 %, a=b, ~3 | 4, #12 (old)' },
    {
      note: 'Q&amp;A: &quot;x&quot;, &#39;y&#39; &#8211; R&D; "a" on page=3; once closed, 2026-11 is fixed; fix covid-19',
    },
    { note: 'Closed SHOP; fixed https://www.example.com/faq; complete set of 4; url: x; (a, -b) f(-x); 1,-2' },
    { attributes: { 'short-description': 'x' } },
    { keywords: ['a', 'b'] },
    { weight_grams: 420, width_mm: 80 },
  ])('passes the members %j, which describe', (body) => {
    expect(asks(merge(body))).toBe(false);
    expect(asks({ ...merge(body), contentType: JSON_TYPE })).toBe(false);
  });

  it.each([
    '<img src=x>',
    '{{ config }}',
    '${jndi:x}',
    '=HYPERLINK("x")',
    'Thanks @everyone',
    'Done\n/close',
    '<%= x %>',
    '<#include "x">',
    '#set($x = 1)',
    '$x.class.forName("y")',
    '{system("id")}',
    '{!! x !!}',
    'x @(7*7)',
    'Hi <@U123>',
    '[~alice] look',
    '(@everyone)',
    '＠everyone',
    '＝1+1',
    '   =1+1',
    'a\n=1+1',
    'x,=SUM(A1)',
    "+x|' /C y'!A0",
    '-HYPERLINK("x")',
    '![x](https://hooks.example.net/t.png)',
    '[x](javascript:y)',
    '&lt;script>',
    '%3Cscript>',
    '\\u003cscript>',
    '!deploy prod',
    'Closes #12',
    'Closing issue #12',
    'fixes fixes shop/web#12',
    'FIXES SHOP-12',
    'Resolves: https://git.example.net/shop/web/-/issues/12',
    'Duplicate of #12',
    'hi &commat;everyone',
    '&#64;everyone',
    '&#x0040;everyone',
    '&#00060;b>',
    '[x](java\tscript:y)',
    '[x](javascript&colon;y)',
    'red;background:url(//hooks.example.net/t)',
    'x" autofocus onfocus=y',
    'x;=+SUM(A1)',
    'x;-HYPERLINK("y")',
    'include::/x[]',
    '\\input{/x}',
    'SHOP-17 #done',
    'SHOP-17 as discussed #resolve',
    'Update docs [skip ci]',
    '[ci-skip]',
    'x ***NO_CI***',
    'x\nskip-checks: true',
    'Dear *|FNAME|*',
    '%%=Lookup("x")=%%',
    '%%emailaddr%%',
    '[% INCLUDE x %]',
  ])('asks about the text %j, which a page, a template, a spreadsheet or a tracker acts on', (note) => {
    expect(asks(merge({ note }))).toBe(true);
    expect(asks({ body: [{ op: 'replace', path: '/note', value: note }] })).toBe(true);
    expect(asks(merge({ keywords: ['a', note] }))).toBe(true);
  });

  it.each(['See SHOP-17 in #support', 'Growth [% of total]', '100%% sure', 'a *| b', '[skip]', 'CI skipped', '#done'])(
    'passes the text %j',
    (note) => {
      expect(asks(merge({ note }))).toBe(false);
    },
  );

  it('says why such a text asks, and passes it if the member is listed', () => {
    const change = merge({ note: 'Thanks @anna' });
    expect(run(change).reason).toContain('"/note" is not in `fields` of this rule, and contains markup, a template');
    const requests = [{ methods: ['PATCH'], paths: ['/v1/orders/{id}'], fields: ['/note'] }];
    expect(asks(change, { ...HOSTS, requests })).toBe(false);
  });

  it.each([
    ['another host', { url: 'https://api.example.net/v1/orders/17' }, 'nor its host in `hosts`'],
    ['another port', { url: `${HOST}:8443/v1/orders/17` }, 'port 8443 is not in `ports`'],
    ['another method', { method: 'DELETE', contentType: null, body: undefined }, 'is not in `requests` of this rule'],
    ['another media type', { ...merge({}), contentType: 'application/x+json' }, 'is not in `contentTypes`'],
  ])('names the setting that lists %s', (_, change, setting) => {
    expect(run(change).reason).toContain(setting);
  });

  it.each([
    [[{ op: 'replace', path: '/status', value: 'cancelled' }], true],
    [[{ op: 'remove', path: '/lines/0' }], true],
    [[{ op: 'move', from: '/role', path: '/note' }], true],
    [[{ op: 'copy', from: '/api_key', path: '/note' }], true],
    [[{ op: 'add', path: '/attributes', value: { note: 'x' } }], true],
    [[{ op: 'add', path: '/notes/-', value: { notify: true } }], true],
    [[{ op: 'replace', path: '', value: { note: 'x' } }], true],
    [[{ op: 'replace', path: '/0', value: 'x' }], true],
    [[{ op: 'replace', path: '/0/title', value: 'x' }], true],
    [[{ op: 'replace', path: '/note', value: 'x', notify: true }], true],
    [[{ op: 'remove', path: '/note', comment: 'x' }], true],
    [[{ op: 'add', path: '/notes/-', value: 'x' }], false],
    [[{ op: 'copy', from: '/title', path: '/note' }], false],
    [[{ op: 'remove', path: '/note' }], false],
    [
      [
        { op: 'test', path: '/status', value: 'open' },
        { op: 'replace', path: '/note', value: 'x' },
      ],
      false,
    ],
  ])('compares everything that the JSON Patch %j writes or takes with the list; asks: %s', (body, expected) => {
    expect(asks({ body })).toBe(expected);
  });

  it('passes the type and the id with which a document of JSON:API names itself', () => {
    const body = { data: { type: 'articles', id: '17', attributes: { title: 'x' } } };
    expect(asks({ ...merge(body), contentType: 'application/vnd.api+json' })).toBe(false);
    expect(asks({ ...merge(body), contentType: JSON_TYPE })).toBe(true);
    expect(asks({ ...merge({ data: { meta: body } }), contentType: 'application/vnd.api+json' })).toBe(true);
  });

  it('asks about a content type by which a server may choose the operation', () => {
    const types = [
      'application/vnd.shop.cancel-order+json',
      'application/json; domain-model=CancelOrder',
      'application/vnd.api+json; ext=bulk',
    ];
    for (const contentType of types) expect(asks({ ...merge({ note: 'x' }), contentType })).toBe(true);
    const utf8 = 'application/json; charset=utf-8';
    expect(asks({ ...merge({ note: 'x' }), contentType: utf8 })).toBe(false);
    expect(asks({ ...merge({ note: 'x' }), contentType: null, headers: { 'Content-Type': types[1] } })).toBe(true);
    const config = { ...HOSTS, contentTypes: ['application/vnd.shop.v2+json'] };
    expect(asks({ ...merge({ note: 'x' }), contentType: 'application/vnd.shop.v2+json' }, config)).toBe(false);
    expect(asks({ ...merge({ note: 'x' }), contentType: 'application/vnd.shop.v3+json' }, config)).toBe(true);
  });

  it('asks about a body that is not JSON', () => {
    expect(asks({ contentType: 'application/x-www-form-urlencoded', body: 'note=x' })).toBe(true);
  });

  it.each([
    ['/v1/orders', false],
    ['/v1/orders/17', false],
    ['/v1/orders/17/items', false],
    ['/v1/orders/17/cancel', true],
    ['/confirm', true],
    ['/v1/sessions/revoke-all', true],
    ['/v1/purge-caches', true],
    ['/api/deleteUsers', true],
    ['/', true],
  ])('reads collections and resources; asks about %s: %s', (path, expected) => {
    expect(asks(read(path))).toBe(expected);
    expect(asks(read(path, 'HEAD'))).toBe(expected);
  });
});

describe('a request that the team lists', () => {
  const config = {
    ...HOSTS,
    requests: [
      { methods: ['POST'], paths: ['/v1/tickets/*/comments'], fields: ['/body'] },
      { methods: ['PATCH'], paths: ['/v1/tickets/*'], fields: ['/state', '/links/*/label'] },
      { methods: ['POST'], hosts: ['jobs.example.net'], paths: ['/run'], fields: [''] },
      { methods: ['DELETE', 'GET'], paths: ['/v1/drafts/*'] },
    ],
  };
  const post = (path: string, body: unknown, host = HOST) => ({
    method: 'POST',
    url: host + path,
    contentType: JSON_TYPE,
    body,
  });

  it('passes with its fields and with members that describe', () => {
    expect(asks(post('/v1/tickets/7/comments', { body: { text: 'x' }, title: 'y' }), config)).toBe(false);
    expect(asks(merge({ state: 'open', links: { a: { label: 'x' } } }, '/v1/tickets/7'), config)).toBe(false);
    expect(asks(read('/v1/drafts/3', 'DELETE'), config)).toBe(false);
  });

  it('asks if the body replaces an array of which the list only names members of the items', () => {
    const links = [{ label: 'x' }];
    const tickets = { url: `${HOST}/v1/tickets/7` };
    expect(asks(merge({ links }, '/v1/tickets/7'), config)).toBe(true);
    expect(asks({ ...merge({ links }, '/v1/tickets/7'), contentType: JSON_TYPE }, config)).toBe(true);
    expect(asks({ ...tickets, body: [{ op: 'replace', path: '/links', value: links }] }, config)).toBe(true);
    expect(asks({ ...tickets, body: [{ op: 'replace', path: '/links/0/label', value: 'x' }] }, config)).toBe(false);
    // A POST creates, so it has no items to lose.
    const created = { ...config, requests: [{ methods: ['POST'], paths: ['/v1/orders'], fields: ['/lines/*/sku'] }] };
    expect(asks(post('/v1/orders', { lines: [{ sku: 'x' }] }), created)).toBe(false);
  });

  it('asks if it writes another member, or has another method, path or host', () => {
    expect(asks(post('/v1/tickets/7/comments', { body: 'x', notify: true }), config)).toBe(true);
    expect(asks(post('/v1/tickets/7/comments', { body: 'x', State: 'open' }), config)).toBe(true);
    expect(asks(merge({ body: 'x' }, '/v1/tickets/7'), config)).toBe(true);
    expect(asks(merge({ links: [{ href: 'x' }] }, '/v1/tickets/7'), config)).toBe(true);
    expect(asks(merge({ state: 'open' }, '/v1/orders/7'), config)).toBe(true);
    expect(asks({ ...merge({ state: 'open' }, '/v1/tickets/7'), method: 'PUT' }, config)).toBe(true);
    expect(asks(post('/v1/tickets/7/8/comments', { body: 'x' }), config)).toBe(true);
    expect(asks(post('/run', {}), config)).toBe(true);
  });

  it('may have any body with the empty pointer', () => {
    expect(asks(post('/run', { job: { all: true } }, 'https://jobs.example.net'), config)).toBe(false);
    expect(asks(post('/run', [1], 'https://jobs.example.net'), config)).toBe(false);
    const text = { ...post('/run', 'x=1', 'https://jobs.example.net'), contentType: 'text/plain' };
    expect(asks(text, config)).toBe(false);
  });

  it('is compared by one reading of its URL', () => {
    expect(asks(merge({ state: 'x' }, '/v1/orders/../tickets/7'), config)).toBe(true);
  });

  it.each([
    ['/v1/orders/{id}', '/v1/orders/17', false],
    ['/v1/orders/{id}', '/v1/orders/all', true],
    ['/v1/orders/{id}', '/v1/orders/17/', true],
    ['/v1/orders/*', '/v1/orders/all', false],
    ['/v1/orders/*', '/v1/orders/', true],
    ['/v1/orders/o-*', '/v1/orders/o-17', false],
    ['/v1/orders/o-*', '/v1/orders/17', true],
  ])('matches its path %s with %s; asks: %s', (path, given, expected) => {
    const requests = [{ methods: ['PATCH'], paths: [path], fields: ['/state'] }];
    expect(asks(merge({ state: 'x' }, given), { ...HOSTS, requests })).toBe(expected);
  });

  it.each(['/v1/**', '/v1/orders/{orderId}', '/v1/orders/x{id}'])('is refused in a bundle with the path %s', (path) => {
    const listed = { ...HOSTS, requests: [{ methods: ['POST'], paths: [path] }] };
    expect(() => run({}, listed)).toThrow(/expected \{id\} or one \* for each segment/);
  });
});

it('names each member that is not listed, with its place', () => {
  const { reason } = run(merge({ note: 'x', status: 'paid', lines: [{ sku: 'a' }] }));
  expect(reason).toContain('/status');
  expect(reason).toContain('/lines/0/sku');
  expect(reason).not.toContain('"/note"');
});

it('reads a long path in linear time', () => {
  const readAll = (): void => {
    for (const path of [`/a${'-a'.repeat(4000)}`, `/orders/${'1a'.repeat(4000)}`, '/A-1'.repeat(2000)])
      expect(asks(merge({ note: 'x' }, path))).toBe(true);
    expect(asks(merge({ note: 'x' }, '/orders/17'.repeat(800)))).toBe(false);
  };
  expect(leastCpuMs(readAll, 1)).toBeLessThan(5000);
});

import { isIdentifier } from '../../../../source-tools/http/rules/identifier';
import { MERGE, request } from '../../../../source-tools/http/rules/define-http-rule';
import { fires, runRule } from '../../../policy/rules/support/run-pack-rule';

const HOST = 'https://api.example.com';
const asks = (method: string, path: string, config: object = {}): boolean => {
  const body =
    method === 'PATCH' ? { contentType: MERGE, body: { note: 'x' } } : { contentType: null, body: undefined };
  const raw = request({ method, url: HOST + path, ...body });
  const settings = { hosts: ['api.example.com'], ...config };
  return fires('http_unlisted_request', raw, { config: settings });
};

describe('a path that joins a word to an identifier', () => {
  it.each([
    '/v1/orders/CANCEL-42',
    '/v1/orders/%43ANCEL-42',
    '/v1/orders/42-CANCEL',
    '/v1/orders/SO-42-CANCEL',
    '/v1/orders/cancel_42',
    '/v1/orders/cancel:42',
    '/v1/orders/42:cancel',
    '/v1/orders/42.cancel',
    '/v1/orders/42.cancel.json',
    '/v1/orders/42,cancel',
    '/v1/orders/42@cancel',
    '/v1/orders/42;action=cancel',
    '/v1/orders/42%3Baction=cancel',
    '/v1/orders/(42)/cancel',
    '/v1/orders/ALL-2026',
    '/v1/orders/all_2026',
    '/v1/orders/STORNO-42',
    '/v1/orders/cancel4x2y',
    '/v1/orders/DELETE2ALL4',
    '/v1/orders/ord_9cancel8x7',
    '/v1/orders/cancel_9s6XKzkNRiz8i3',
    '/v1/products/PUT-42',
    '/v1/orders/rm-42',
    '/v1/orders/RM-42',
    '/v1/orders/rm_42',
    '/v1/orders/DLT-42',
    '/v1/deliveries/DEL-42',
    '/v1/topics/top_10',
    '/v1/orders/setAll2Off4',
    '/v1/orders/resize800x600',
    '/v1/orders/escalate2to3',
    '/v1/orders/page1of20',
    '/v1/orders/1or2or3or4',
    '/v1/orders/17and18and19',
    '/v1/orders/2026Q1to2026Q4',
    '/v1/orders/CANCEL0010023',
    '/v1/orders/ALL20261128',
    '/v1/orders/FY2026',
    '/v1/orders/Cancel_9s6XKzkNRiz8i3',
    '/v1/orders/cancel-9s6XKzkNRiz8i3',
    '/v1/orders/V1StGXR8_Cancel_B-myT7',
    '/v1/orders/how-to-reset-5-of-2-routers',
    '/v1/contacts/all@example.com',
    '/v1/contacts/everyone.else@example.com',
    '/v1/contacts/42@cancel.example',
    '/v1/contacts/a@example.com,b@example.com',
    '/v1/contacts/*@example.com',
    '/v1/contacts/@example.com',
    '/v1/messages/1503435956.000247.cancel',
    '/v1/orders/0',
    '/v1/orders/00000000-0000-0000-0000-000000000000',
    '/v1/orders/ffffffff-ffff-ffff-ffff-ffffffffffff',
    '/v1/syncs/42',
    '/v1/orders/17/retries/3',
    '/v1/flushes/42',
  ])('asks a person: %s', (path) => {
    expect(asks('PATCH', path)).toBe(true);
    expect(asks('GET', path)).toBe(true);
  });

  it('asks in the place of {id}, too', () => {
    const requests = [{ methods: ['DELETE'], paths: ['/v1/drafts/{id}', '/v1/drafts/{id}/lines/{id}'] }];
    expect(asks('DELETE', '/v1/drafts/17', { requests })).toBe(false);
    expect(asks('DELETE', '/v1/drafts/DR-17/lines/3', { requests })).toBe(false);
    for (const path of ['/v1/drafts/ALL-17', '/v1/drafts/0', '/v1/drafts/17/lines/purge_17'])
      expect(asks('DELETE', path, { requests })).toBe(true);
  });

  it('passes if the team lists the word', () => {
    expect(asks('PATCH', '/v1/issues/SHOP-17')).toBe(true);
    expect(asks('PATCH', '/v1/issues/SHOP-17', { identifierWords: ['Shop'] })).toBe(false);
    expect(asks('PATCH', '/v1/issues/WEBSHOP-17', { identifierWords: ['SHOP'] })).toBe(true);
  });
});

describe('the reason', () => {
  const config = { hosts: ['api.example.com'] };
  const reasonOf = (path: string): string => {
    const raw = request({ url: HOST + path, contentType: MERGE, body: { note: 'x' } });
    return runRule('http_unlisted_request', raw, { config }).reason;
  };

  it.each([
    ['/v1/issues/SHOP-17', '"SHOP-17"', 'identifierWords: [SHOP]'],
    ['/v1/issues/SHOP-17-WEB-SHOP', '"…"', 'identifierWords: [SHOP, WEB]'],
    ['/v1/orders/evt_1NG8Du2eZvKYlo2CUI79vXWy', '"…"', 'identifierWords: [evt]'],
    ['/v1/orders/42/items/ART0010023', '"ART0010023"', 'identifierWords: [ART]'],
  ])('names the words of %s that the team can list, after which it passes', (path, segment, entry) => {
    expect(reasonOf(path)).toContain(segment);
    expect(reasonOf(path)).toContain(`\`${entry}\``);
    const identifierWords = entry.slice(entry.indexOf('[') + 1, -1).split(', ');
    expect(asks('PATCH', path, { identifierWords })).toBe(false);
  });

  it.each([
    ['/v1/articles/how-to-reset', '"how-to-reset" does not have the form of an identifier', '/v1/articles/*'],
    ['/v1/orders/408-1234567-7654321', 'does not have the form of an identifier', '/v1/orders/*'],
    ['/v1/orders/100-0001-7', 'does not have the form of an identifier', '/v1/orders/*-*-*'],
    ['/v1/line-items/17', '"line-items" does not have the form of a collection', '/v1/line-items/{id}'],
    ['/rest/api/3/issue/17', '"issue" does not have the form of a collection', '/rest/api/3/issue/{id}'],
    ['/v1/orders', 'its path ends with a collection', '/v1/orders'],
    ['/v1', 'its path names no collection', '/v1'],
  ])('says which segment of %s is not known, and the path can be listed', (path, why, listed) => {
    expect(reasonOf(path)).toContain(why);
    expect(reasonOf(path)).toContain('`requests`');
    expect(asks('PATCH', path, { requests: [{ methods: ['PATCH'], paths: [listed] }] })).toBe(false);
  });

  it.each([
    ['PATCH', '/rest/issue/SHOP-17', '`identifierWords: [SHOP]`'],
    ['DELETE', '/rest/issue/SHOP-17/votes/7', '`identifierWords: [SHOP]`'],
    ['DELETE', '/rest/issue/17/votes/all', '"all" does not have the form of an identifier'],
    ['DELETE', '/rest/issue/SHOP-17', 'is not in `requests` of this rule (/method)'],
  ])('says of %s %s, which is listed except for an {id}, what is missing', (method, path, why) => {
    const requests = [
      { methods: ['PATCH'], paths: ['/rest/issue/{id}'] },
      { methods: ['DELETE'], paths: ['/rest/page/{id}', '/rest/issue/{id}/votes/{id}'] },
    ];
    const raw = request({ method, url: HOST + path, contentType: MERGE, body: { note: 'x' } });
    const run = (settings: object) =>
      runRule('http_unlisted_request', raw, { config: { ...config, requests, ...settings } });
    expect(run({}).reason).toContain(why);
    expect(run({ identifierWords: ['SHOP'] }).status === 'ALLOW').toBe(why.includes('SHOP'));
  });

  it('does not recommend to list a word that can be an action', () => {
    expect(reasonOf('/v1/orders/CANCEL-42')).toContain('"CANCEL-42" does not have the form of an identifier');
    expect(reasonOf('/v1/orders/CANCEL-42')).not.toContain('identifierWords');
    expect(reasonOf('/v1/orders/SHOP-42-CANCEL')).not.toContain('identifierWords');
  });

  it('does not contain a random segment, which can be a secret', () => {
    const secret = 'xYz9-Qw3RtLmN0pB4vKs-Zq';
    expect(reasonOf(`/hooks/x/${secret}`)).not.toContain(secret);
    expect(reasonOf(`/v1/orders/${secret}.cancel`)).not.toContain(secret);
    const raw = request({ url: `${HOST}/hooks/${secret}` });
    const scope = { deny: [{ methods: ['PATCH'], hosts: ['api.example.com'], paths: ['/**'] }] };
    const { status, reason } = runRule('http_method_path_scope', raw, { config: scope });
    expect([status, reason.includes('/hooks/…'), reason.includes(secret)]).toEqual(['BLOCK', true, false]);
  });
});

it.each([
  ['17', 'orders'],
  ['KT-170-BL', 'products'],
  ['SO-2026-0017', 'orders'],
  ['INV-2026-0017', 'invoices'],
  ['ORDER-17', 'orders'],
  ['ord_5001', 'orders'],
  ['acct_81', 'accounts'],
  ['cus_9s6XKzkNRiz8i3', 'customers'],
  ['cus_NffrFeUfNV2Hib', 'customers'],
  ['01J9ZC4QK3V8MXTN5WPA7RGH2B', 'notes'],
  ['507f1f77bcf86cd799439011', 'notes'],
  ['NWjs8kKbJWmuuc', 'products'],
  ['PR_kwDOJ5RCss5aBcDe', 'pulls'],
  ['MDU6SXNzdWUyMzEzOTE1NTE=', 'issues'],
  ['V1StGXR8_Z5jdHi6B-myT', 'orders'],
  ['0B7_FsVXk_k8QV2xYc3RkTEU', 'files'],
  ['file-abc123XYZ456', 'files'],
  ['price_1MoBy5LkdIwHu7ixZhnattbh', 'prices'],
  ['INC0010023', 'incidents'],
  ['DE123456789', 'customers'],
  ['r-5896481729', 'drafts'],
  ['gh-1234', 'issues'],
  ['1503435956.000247', 'messages'],
  ['anna.mueller@example.com', 'contacts'],
  ['9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d', 'notes'],
  ['9b1deb4d3b7d4bad9bdd2b0d7b3dcb6d', 'notes'],
])('reads %s as an identifier of one of the %s', (text, resource) => {
  expect(isIdentifier(text, resource, new Set())).toBe(true);
});

it.each([
  'all',
  'cancel',
  'state',
  'oauth2',
  'web1234567',
  'Holidays2026',
  '1,2',
  '1-100',
  '1.5',
  '2026.11',
  'a@b',
  '*',
  '-1',
  '1.0',
  '',
])('does not read %j as an identifier', (text) => {
  expect(isIdentifier(text, 'orders', new Set())).toBe(false);
});

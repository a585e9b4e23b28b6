import { isIdentifier } from '../../../../source-tools/http/rules/identifier';
import { MERGE, request } from '../../../../source-tools/http/rules/define-http-rule';
import { packDefinitions } from '../../../../source-tools';
import { runRule } from '../../../policy/rules/support/run-pack-rule';

const HOST = 'https://api.example.com';
const asks = (method: string, path: string, config: object = {}): boolean => {
  const body =
    method === 'PATCH' ? { contentType: MERGE, body: { note: 'x' } } : { contentType: null, body: undefined };
  const raw = request({ method, url: HOST + path, ...body });
  const settings = { hosts: ['api.example.com'], ...config };
  return runRule(packDefinitions, 'http_unlisted_request', raw, { config: settings }).status !== 'ALLOW';
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
  ['9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d', 'notes'],
  ['9b1deb4d3b7d4bad9bdd2b0d7b3dcb6d', 'notes'],
])('reads %s as an identifier of one of the %s', (text, resource) => {
  expect(isIdentifier(text, resource, new Set())).toBe(true);
});

it.each(['all', 'cancel', 'state', 'oauth2', 'web1234567', 'Holidays2026', '1,2', '1-100', '*', '-1', '1.0', ''])(
  'does not read %j as an identifier',
  (text) => {
    expect(isIdentifier(text, 'orders', new Set())).toBe(false);
  },
);

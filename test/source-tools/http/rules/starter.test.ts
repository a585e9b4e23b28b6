import { starterEvaluator } from '../../../quality/labelled';
import { MERGE, request } from '../../../../source-tools/http/rules/define-http-rule';

const evaluate = starterEvaluator();
const outcomeOf = async (change: Readonly<Record<string, unknown>>): Promise<string> =>
  (await evaluate({ sourceTool: 'HTTPPatch', raw: request(change), metadata: {} })).outcome;

describe('the starter bundle for HTTP', () => {
  it.each([
    ['a JSON Patch', {}],
    ['a JSON Patch without If-Match', { headers: {} }],
    ['a merge patch', { contentType: MERGE, headers: {}, body: { note: 'x', attributes: { title: 'y' } } }],
    ['a read', { method: 'GET', headers: {}, contentType: null, body: undefined }],
    [
      'the headers of a browser',
      { headers: { Accept: 'text/html, */*;q=0.8', 'User-Agent': 'Mozilla/5.0 (X11) Gecko/1' } },
    ],
    ['an entity tag', { headers: { 'If-Match': 'W/"a=/b+c=="', 'Idempotency-Key': 'q+/abc==' } }],
    ['ordinary headers', { headers: { 'If-None-Match': '*', Prefer: 'return=minimal', traceparent: '00-1-2-01' } }],
  ])('passes %s to the named host', async (_, change) => {
    expect(await outcomeOf(change)).toBe('COMMIT');
  });

  it.each([
    ['another host', { url: 'https://api.example.net/v1/orders/17' }],
    ['a subdomain of the named host', { url: 'https://x.api.example.com/v1/orders/17' }],
    ['an internal address', { url: 'http://10.0.0.7/v1/orders/17' }],
    ['a header that names another path', { headers: { 'X-HTTP-Path-Override': '/admin' } }],
    ['a header that names another person', { headers: { 'On-Behalf-Of': 'ceo' } }],
    ['a header that names an operation', { headers: { SOAPAction: 'DeleteAll' } }],
    ['a header with a lookup that a log may evaluate', { headers: { 'User-Agent': '${jndi:ldap://x}' } }],
    ['an OPTIONS with a body', { method: 'OPTIONS', contentType: 'application/json', body: { job: 'x' } }],
    ['a header that is not known', { headers: { 'X-Shop-Mode': '1' } }],
    ['a POST', { method: 'POST', headers: {}, contentType: 'application/json', body: { title: 'x' } }],
    ['a member that a server can act on', { contentType: MERGE, body: { note: 'x', status: 'shipped' } }],
    ['a DELETE', { method: 'DELETE', contentType: null, body: undefined }],
  ])('holds %s', async (_, change) => {
    expect(await outcomeOf(change)).not.toBe('COMMIT');
  });
});

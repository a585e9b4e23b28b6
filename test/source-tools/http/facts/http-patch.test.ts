import fc from 'fast-check';
import { applyPatch } from 'rfc6902';
import { extractHttpPatchFacts } from '../../../../source-tools/http/facts/extract-http-facts';
import type { Json } from '../../../../source-tools/http/facts/json';
import {
  applyJsonPatch,
  applyMergePatch,
  readOperation,
  type Operation,
} from '../../../../source-tools/http/facts/json-patch';
import { canonicalJson, type JsonValue } from '../../../../policy/contracts/canonical-json';
import type { HttpPatchFacts } from '../../../../source-tools/http/facts/http-facts';
import { MERGE, request } from '../../../../source-tools/http/rules/define-http-rule';
import { runRule } from '../../../policy/rules/support/run-pack-rule';

const factsOf = (raw: string) => extractHttpPatchFacts(Buffer.from(raw));

function read(raw: string): HttpPatchFacts {
  const facts = factsOf(raw);
  if (!facts.ok) throw new Error(`${facts.code}: ${facts.message}`);
  return facts as HttpPatchFacts;
}

const urlOf = (url: string) => read(request({ url })).url;

describe('a JSON Patch', () => {
  const name = fc.constantFrom('a', 'b', '0', '1', '-', '', 'x/y', '~');
  const pointer = fc
    .array(name, { maxLength: 3 })
    .map((tokens) => tokens.map((t) => `/${t.replaceAll('~', '~0').replaceAll('/', '~1')}`).join(''));
  const value = fc.jsonValue({ maxDepth: 2, depthSize: 'small' });
  const operation = fc.oneof(
    fc.record({ op: fc.constantFrom('add', 'replace', 'test'), path: pointer, value }),
    fc.record({ op: fc.constant('remove'), path: pointer }),
    // No `copy`: the other implementation turns arrays of another realm (Jest) into objects.
    fc.record({ op: fc.constant('move'), path: pointer, from: pointer }),
  );
  const document = fc.constant({ a: { b: [1, 2, { a: 3 }], '': 4 }, b: [0, [1]], 'x/y': null, '~': 'z' } as JsonValue);

  it('produces the same result as another implementation if both apply it', () => {
    fc.assert(
      fc.property(document, fc.array(operation, { minLength: 1, maxLength: 4 }), (doc, patch) => {
        const operations: Operation[] = [];
        for (const item of patch) {
          const one = readOperation(item as JsonValue);
          if (!one.ok) return;
          operations.push(one.operation);
        }
        // The other implementation cannot replace the root and ignores leading zeros, so it gets a nested document.
        const wrapped = { r: structuredClone(doc) };
        const under = patch.map((item) => ({
          ...item,
          path: `/r${item.path}`,
          ...('from' in item ? { from: `/r${item.from}` } : {}),
        }));
        const ours = applyJsonPatch(doc, operations);
        if (!ours.ok) return;
        const errors = applyPatch(wrapped, under as never).filter((error) => error !== null);
        if (errors.length > 0 || wrapped.r === undefined) return;
        expect(canonicalJson(ours.value)).toBe(canonicalJson(wrapped.r));
      }),
      { numRuns: 400 },
    );
  });

  it('treats "constructor" and "toString" as ordinary member names, which are never read from a prototype', () => {
    const apply = (document: JsonValue, patch: JsonValue) =>
      applyJsonPatch(
        document,
        (patch as JsonValue[]).map((item) => {
          const one = readOperation(item);
          if (!one.ok) throw new Error(one.why);
          return one.operation;
        }),
      );
    expect(apply({ role: 'user' }, [{ op: 'replace', path: '/constructor/role', value: 'admin' }])).toMatchObject({
      ok: false,
    });
    expect(apply({}, [{ op: 'test', path: '/toString', value: null }])).toMatchObject({ ok: false });
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  it('finds a protected member that is affected only through an array index', () => {
    const config = { pointers: ['/users/3/role'] };
    const status = (body: JsonValue) => runRule('http_protected_pointer', request({ body }), { config }).status;
    expect(status([{ op: 'remove', path: '/users/1' }])).toBe('BLOCK');
    expect(status([{ op: 'add', path: '/users/0', value: {} }])).toBe('BLOCK');
    expect(status([{ op: 'move', from: '/users', path: '/old' }])).toBe('BLOCK');
    expect(status([{ op: 'copy', from: '/users/3/role', path: '/note' }])).toBe('BLOCK');
    expect(status([{ op: 'remove', path: '/users/4' }])).toBe('ALLOW');
    expect(status([{ op: 'replace', path: '/users/1', value: {} }])).toBe('ALLOW');
    expect(status([{ op: 'test', path: '/users/3/role', value: 'x' }])).toBe('ALLOW');
  });
});

it.each([
  [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
  [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
  [{ a: 'b' }, { a: null }, {}],
  [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
  [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
  [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
  [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
  [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
  [
    ['a', 'b'],
    ['c', 'd'],
    ['c', 'd'],
  ],
  [{ a: 'b' }, ['c'], ['c']],
  [{ a: 'foo' }, null, null],
  [{ a: 'foo' }, 'bar', 'bar'],
  [{ e: null }, { a: 1 }, { e: null, a: 1 }],
  [[1, 2], { a: 'b', c: null }, { a: 'b' }],
  [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
] as [Json, Json, Json][])('merges as RFC 7396 defines: %j with %j is %j', (document, patch, result) => {
  expect(canonicalJson(applyMergePatch(document, patch))).toBe(canonicalJson(result));
});

it.each([
  ['DELETE', undefined, ['']],
  ['DELETE', { reason: 'x' }, ['/reason', '']],
  ['POST', undefined, ['']],
  ['POST', { note: 'x' }, ['/note']],
  ['GET', undefined, []],
])('a %s with the body %j touches %j: the whole document, unless its members say what', (method, body, names) => {
  const { touched } = read(request({ method, contentType: body && 'application/json', body }));
  expect(touched.map(({ name }) => name)).toEqual(names);
});

it('an empty object in a merge patch is a write, because it replaces a value that is not an object', () => {
  const raw = request({ contentType: MERGE, body: { account: { plan: {} } } });
  const hit = (rule: string, config: object) => runRule(rule, raw, { config: { ...config } }).status;
  expect(hit('http_protected_pointer', { pointers: ['/account/plan'] })).toBe('BLOCK');
  const listed = { methods: ['PATCH'], hosts: ['api.example.com'], paths: ['/v1/orders/*'] };
  expect(hit('http_unlisted_request', { requests: [{ ...listed, fields: ['/note'] }] })).toBe('BLOCK');
  expect(hit('http_unlisted_request', { requests: [{ ...listed, fields: ['/account'] }] })).toBe('ALLOW');
});

describe('the URL of a request', () => {
  it.each([
    ['http://2130706433/', '127.0.0.1', 'loopback'],
    ['http://0x7f.1/', '127.0.0.1', 'loopback'],
    ['http://0177.0.0.01/', '127.0.0.1', 'loopback'],
    ['http://[::ffff:10.0.0.1]/', '::ffff:a00:1', 'private'],
    ['http://[::ffff:a9fe:a9fe]/', '::ffff:a9fe:a9fe', 'metadata'],
    ['http://[64:ff9b::7f00:1]/', '64:ff9b::7f00:1', 'loopback'],
    ['http://[2002:7f00:1::]/', '2002:7f00:1::', 'loopback'],
    ['http://[fe80::1]/', 'fe80::1', 'link_local'],
    ['http://[::]/', '::', 'loopback'],
    ['http://0/', '0.0.0.0', 'loopback'],
    ['http://100.64.0.1/', '100.64.0.1', 'private'],
    ['http://localhost./', 'localhost', 'loopback'],
    ['http://Metadata.Google.Internal/', 'metadata.google.internal', 'metadata'],
    ['http://10.0.0.1.nip.io/', '10.0.0.1.nip.io', 'local_name'],
    ['http://payments/', 'payments', 'local_name'],
    ['http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ/', 'localhost', 'loopback'],
    ['http://１２７.0.0.1/', '127.0.0.1', 'loopback'],
    ['http://[::ffff:0:127.0.0.1]/', '::ffff:0:7f00:1', 'reserved'],
    ['http://[2001:0:1::1]/', '2001:0:1::1', 'reserved'],
    ['http://[4000::1]/', '4000::1', 'reserved'],
    ['https://[2606:4700::1111]/', '2606:4700::1111', 'public'],
    ['https://api.example.com/', 'api.example.com', 'public'],
  ])('%s has the host %s, which is %s', (url, host, reach) => {
    expect(urlOf(url)).toMatchObject({ host, reach });
  });

  it.each([
    'https://user:pass@api.example.com/',
    'https://api.example.com@evil.example/',
    'https://api.example.com\\@evil.example/',
    'https://api.example.com/v1/%2e%2e%2fadmin',
    'https://api.example.com/v1/..;/admin',
    'https://api.example.com/v1/%252e%252e/admin',
    'https://api.example.com/v1//admin',
    'https://api.example.com/v1/a%00b',
    'https://api.example.com/v1/%ff',
    'https://api.example.com/v1/\tadmin',
    'https://аpi.example.com/',
    'https://xn--pi-7kc.example.com/',
    'https://api.example.com./',
    'https://127.1/',
    'https://api.example.com/#x',
    'ftp://api.example.com/',
    'https://api.example.com/v1/../admin',
    'https://api.example.com/v1/./orders',
    'https://api.example.com/v1/%2E%2e/admin',
    'https:/api.example.com/v1',
    'https:api.example.com/v1',
    'https://api.example.com:/v1',
    'https://api.example.com:0443/v1',
    'https://api.example.com/v1/a%0d%0ab',
    'https://api.example.com/v1/a%7f',
    'https://api.example.com/v1/..%20/admin',
    'https://api.example.com/v1?a=1;_method=DELETE',
  ])('%s is ambiguous, and is refused', (url) => {
    expect(urlOf(url).anomalies).not.toEqual([]);
    expect(runRule('http_url_ambiguous', request({ url })).status).toBe('BLOCK');
  });

  it.each([
    'https://api.example.com',
    'https://api.example.com?q=1',
    'HTTPS://API.example.com:443/v1/%6frders',
    'http://api.example.com:80/v1',
    'https://api.example.com:8443/v1/a%20b/100%25',
    "https://api.example.com/v1/users/a@b.example/o'brien?filter=a%3B%20b&sort=-x&x[]=1",
    'https://[2606:4700::1111]/v1/a:b,c(d)/*',
    `https://api.example.com/v1/{id}?$filter=a%20eq%20'b'&where={"c":[1]}`,
  ])('%s is not ambiguous', (url) => {
    expect(urlOf(url).anomalies).toEqual([]);
  });

  it('is compared after removal of dot segments and one percent-decoding', () => {
    const config = { allow: [{ hosts: ['api.example.com'], paths: ['/v1/*'] }] };
    const status = (url: string) => runRule('http_method_path_scope', request({ url }), { config }).status;
    expect(status('https://API.example.com:443/v1/%6frders')).toBe('ALLOW');
    expect(status('https://api.example.com/v1/../v2/orders')).toBe('BLOCK');
    expect(status('https://api.example.com/v1/%2e%2e/v2')).toBe('BLOCK');
    expect(status('https://api.example.com:8443/v1/orders')).toBe('BLOCK');
    expect(status('https://api.example.com.evil.example/v1/orders')).toBe('BLOCK');
  });
});

describe('a request that cannot be parsed', () => {
  it.each([
    ['a duplicate key', '{"method":"PATCH","url":"https://a.example/","body":{"a":1,"\\u0061":2}}', 'duplicate_key'],
    ['a number beyond 2^53', '{"method":"PATCH","url":"https://a.example/","body":9007199254740993}', 'inexact_number'],
    [
      'nesting that is too deep',
      `{"method":"PATCH","url":"https://a.example/","body":${'['.repeat(200)}${']'.repeat(200)}}`,
      'too_deep',
    ],
    [
      'too many entries',
      `{"method":"PATCH","url":"https://a.example/","body":[${'1,'.repeat(100_001)}1]}`,
      'too_many_entries',
    ],
    ['an unknown member', '{"method":"PATCH","url":"https://a.example/","Body":1}', 'invalid_document'],
    [
      'a header with a line end',
      '{"method":"PATCH","url":"https://a.example/","headers":{"a":"b\\r\\nc: d"}}',
      'invalid_header',
    ],
    [
      'a duplicate header',
      '{"method":"PATCH","url":"https://a.example/","headers":{"a":"b","A":"c"}}',
      'invalid_header',
    ],
    [
      'two different content types',
      '{"method":"PATCH","url":"https://a.example/","contentType":"a/b","headers":{"content-type":"c/d"}}',
      'invalid_content_type',
    ],
    ['a relative URL', '{"method":"PATCH","url":"/v1/orders"}', 'invalid_url'],
    ['an empty text', '', 'empty'],
    ['truncated JSON', '{"method":"PATCH"', 'syntax_error'],
    ['UTF-16', '\ufeff', 'syntax_error'],
  ])('is refused: %s', (_, raw, code) => {
    expect(factsOf(raw)).toMatchObject({ ok: false, code });
    const result = runRule('http_bulk', raw);
    expect(result).toMatchObject({ status: 'BLOCK', errorClass: 'ErrVerdictParse', reasonCode: 'facts_unavailable' });
  });
});

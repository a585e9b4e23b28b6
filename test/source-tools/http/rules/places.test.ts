import { MERGE, request } from '../../../../source-tools/http/rules/define-http-rule';
import { runRule } from '../../../policy/rules/support/run-pack-rule';

const run = (rule: string, change: Readonly<Record<string, unknown>>, config = {}) =>
  runRule(rule, request(change), { config });
const isHeld = (...args: Parameters<typeof run>): boolean => run(...args).status !== 'ALLOW';

describe('a copy or move', () => {
  const of = (op: string, from: string, path: string, document?: unknown) => ({ body: [{ op, from, path }], document });

  it('is held if it takes a private member, or a parent of one in the staged document, to another place', () => {
    const document = { user: { name: 'a', login: { password_hash: 'x' } }, note: '' };
    expect(isHeld('http_private_copy', of('copy', '/private/notes', '/notes'))).toBe(true);
    expect(isHeld('http_private_copy', of('move', '/config/stripeSecretKey', '/label'))).toBe(true);
    expect(isHeld('http_private_copy', of('copy', '/user', '/note', document))).toBe(true);
    expect(isHeld('http_private_copy', of('copy', '', '/note', document))).toBe(true);
  });

  it('passes if the member stays private or is ordinary', () => {
    const document = { user: { name: 'a', login: { password_hash: 'x' } }, note: '' };
    expect(isHeld('http_private_copy', of('move', '/secrets/a', '/secrets/b'))).toBe(false);
    expect(isHeld('http_private_copy', of('copy', '/user/name', '/note', document))).toBe(false);
  });

  it('is held if it takes a privileged member, even inside of another one', () => {
    const document = { users: [{ role: 'admin' }, { role: 'user' }] };
    expect(isHeld('http_privilege_fields', of('move', '/role', '/former'))).toBe(true);
    expect(isHeld('http_privilege_fields', of('copy', '/users/0', '/users/1', document))).toBe(true);
    expect(isHeld('http_privilege_fields', of('copy', '/a', '/b', document))).toBe(false);
  });

  it('is compared with the document that the operations before it leave', () => {
    const document = { users: [{ name: 'a' }, { name: 'b', role: 'admin', token: 'x' }], me: {} };
    const body = [
      { op: 'remove', path: '/users/0' },
      { op: 'copy', from: '/users/0', path: '/me' },
    ];
    expect(isHeld('http_privilege_fields', { body, document })).toBe(true);
    expect(isHeld('http_private_copy', { body, document })).toBe(true);
  });

  it('is held if too many members are below its source', () => {
    const document = { from: Array.from({ length: 5000 }, () => ({ a: 1, b: 2, c: 3 })) };
    const body = Array.from({ length: 4 }, (_, i) => ({ op: 'copy', from: '/from', path: `/k${i}` }));
    expect(run('http_private_copy', { body, document })).toMatchObject({
      status: 'BLOCK',
      reason: expect.stringContaining('more members than can be listed'),
    });
  });
});

describe('a link in a written value', () => {
  const held = (name: string, value: unknown, config = {}) =>
    isHeld('http_private_link', { contentType: MERGE, body: { [name]: value } }, config);

  it.each([
    ['webhook_url', 'http://169.254.169.254/latest/meta-data/'],
    ['callback', 'http://2852039166/'],
    ['avatar', 'http://[::ffff:10.0.0.1]/x'],
    ['description', 'http://127.0.0.1:9200/_all'],
    ['webhookUrl', '//metadata.google.internal/computeMetadata/v1/'],
    ['endpoint', '10.0.0.5:6379'],
    ['upstream_host', 'vault.internal'],
    ['callbackUrl', ' \thttp:\\\\localhost\\x'],
    ['import_url', 'file:///etc/passwd'],
    ['source', 'gopher://api.example.com:25/'],
    ['targets', ['https://www.example.com/', 'http://192.168.0.1/']],
    ['avatar', 'ht\ttp://127.0.0.1/'],
    ['avatar', `${' '.repeat(50)}http:127.0.0.1/`],
    ['avatar', 'http:/169.254.169.254/'],
    ['image_url', 'jar:http://127.0.0.1!/x'],
    ['import_url', 'http://[fe80::1%25eth0]/'],
    ['import_url', 'http://1.2.3.4.5/'],
    ['import_url', `http://127.0.0.1/${'x'.repeat(9000)}`],
  ])('is held if %s is %j', (name, value) => {
    expect(held(name, value)).toBe(true);
  });

  it.each([
    ['homepage', 'https://www.example.com/'],
    ['runbook', 'see http://localhost:3000 for the local server'],
    ['docs', 'https://wiki.shop.internal/runbook'],
    ['device_ip', '10.0.0.5'],
    ['quantity', '17'],
    ['webhook_url', 'https://hooks.example.com/in'],
    ['image_url', 'data:image/png;base64,AAAA//'],
    ['contact_link', 'mailto:a@b.example'],
    ['title', 'http://: what is it?'],
  ])('passes if %s is %j', (name, value) => {
    expect(held(name, value)).toBe(false);
  });

  it('passes for an internal host that the bundle names', () => {
    expect(held('endpoint', 'http://orders.internal/x', { allowHosts: ['orders.internal'] })).toBe(false);
    expect(held('endpoint', 'http://vault.internal/x', { allowHosts: ['orders.internal'] })).toBe(true);
  });

  it('is read in the value of a JSON Patch operation, but not of a test', () => {
    const value = 'http://127.0.0.1/';
    expect(isHeld('http_private_link', { body: [{ op: 'add', path: '/hooks/-', value }] })).toBe(true);
    expect(isHeld('http_private_link', { body: [{ op: 'test', path: '/hooks/0', value }] })).toBe(false);
  });
});

it.each(['X-Tenant-Id', 'x-scope-orgid', 'Impersonate-User', 'X-Internal-Call', 'Stripe-Account'])(
  'the header %s is held, because it says for whom the request acts',
  (name) => {
    expect(isHeld('http_tenant_header', { headers: { [name]: '42' } })).toBe(true);
    expect(isHeld('http_tenant_header', { headers: { [name]: '42' } }, { allow: [name] })).toBe(false);
  },
);

it.each([
  ['PATCH', '?filter=active', true],
  ['PATCH', '?action=delete', true],
  ['PUT', '?method=DELETE', true],
  ['PATCH', '?cascade', true],
  ['PATCH', '?fields=id,name&api-version=2', false],
  ['GET', '?filter[state]=active&page=2&$top=5', false],
  ['GET', '?deliver_to=a', true],
  ['GET', '?action=delete', true],
  ['GET', '?sudo=root', true],
])('%s with the query %s is held: %s', (method, query, held) => {
  const url = `https://api.example.com/v1/orders/17${query}`;
  expect(isHeld('http_tenant_header', { method, url })).toBe(held);
});

it('a query parameter that the bundle allows passes', () => {
  const url = 'https://api.example.com/v1/orders/17?Workspace=7';
  expect(isHeld('http_tenant_header', { url })).toBe(true);
  expect(isHeld('http_tenant_header', { url }, { allow: ['workspace'] })).toBe(true);
  expect(isHeld('http_tenant_header', { url }, { allowParameters: ['workspace'] })).toBe(false);
});

it('the deny list ignores case, the allow list does not', () => {
  const held = (path: string, config: object): boolean =>
    isHeld('http_method_path_scope', { url: `https://api.example.com${path}` }, config);
  const scope = [{ hosts: ['api.example.com'], paths: ['/v1/Users/**'] }];
  expect(held('/v1/users/7', { deny: scope })).toBe(true);
  expect(held('/V1/USERS/7', { deny: scope })).toBe(true);
  expect(held('/v1/orders/7', { deny: scope })).toBe(false);
  expect(held('/v1/Users/7', { allow: scope })).toBe(false);
  expect(held('/v1/users/7', { allow: scope })).toBe(true);
});

it.each([
  ['return=minimal', false],
  ['return=representation, wait=10', false],
  ['respond-async', true],
  ['handling=lenient', true],
  ['resolution=merge-duplicates', true],
  ['return=minimal; x=1', true],
])('the header Prefer with the value %s is held: %s', (Prefer, held) => {
  expect(isHeld('http_tenant_header', { headers: { Prefer } })).toBe(held);
});

it('a query parameter that contains a credential or replaces the method is held', () => {
  const url = 'https://api.example.com/v1/orders/17';
  expect(isHeld('http_auth_header', { url: `${url}?page=1&access_token=x` })).toBe(true);
  expect(isHeld('http_auth_header', { url: `${url}?page_token=x` })).toBe(false);
  for (const name of ['_method', '+_Method', '_method%5B%5D', '$method', 'httpMethod', 'X-HTTP-Method'])
    expect(isHeld('http_override_header', { url: `${url}?a=1&${name}=DELETE` })).toBe(true);
  expect(isHeld('http_override_header', { url: `${url}?${'a&'.repeat(3000)}_method=DELETE` })).toBe(true);
  expect(isHeld('http_override_header', { url: `${url}?method=express&payment_method=card` })).toBe(false);
});

describe('a name that some servers read as another one', () => {
  const merge = (body: unknown) => ({ contentType: MERGE, body });

  it.each([{ 'account.role': 'x' }, { 'user[role]': 'x' }, { ' role ': 'x' }, { 'ex:role': 'x' }, { $role: 'x' }])(
    'is held if it contains a privileged member: %j',
    (body) => {
      expect(isHeld('http_privilege_fields', merge(body))).toBe(true);
    },
  );

  it('is held if it differs from a privileged or protected member only in case or compatible letters', () => {
    const protects = { pointers: ['/account/role'] };
    for (const role of ['Role', 'ROLE', 'ｒｏｌｅ']) {
      expect(isHeld('http_privilege_fields', merge({ [role]: 'x' }))).toBe(true);
      expect(isHeld('http_protected_pointer', merge({ Account: { [role]: 'x' } }), protects)).toBe(true);
    }
    expect(isHeld('http_privilege_fields', merge({ permiſſions: ['x'] }))).toBe(true);
    expect(isHeld('http_protected_pointer', merge({ 'account.role': 'x' }), protects)).toBe(true);
    expect(isHeld('http_protected_pointer', merge({ account: { roleName: 'x' } }), protects)).toBe(false);
    expect(isHeld('http_protected_pointer', merge({ '': 'x', '.': 'x', $: 'x' }), protects)).toBe(false);
    expect(isHeld('http_protected_pointer', merge({ 'x.y/z': 1 }), { pointers: ['/x.y~1z'] })).toBe(true);
  });

  it('is held if it contains a name of a prototype', () => {
    expect(isHeld('http_prototype_pollution', merge({ 'a.__proto__.isAdmin': true }))).toBe(true);
  });

  it('passes if a privileged name is only a part of a word', () => {
    expect(isHeld('http_privilege_fields', merge({ 'user.roleplay': 1, 'v1.payroll': 2 }))).toBe(false);
  });
});

it('a test operation on a private member is held, because its result shows whether a guess is right', () => {
  const of = (path: string) => ({ body: [{ op: 'test', path, value: 'x' }] });
  expect(isHeld('http_private_copy', of('/login/password'))).toBe(true);
  expect(isHeld('http_private_copy', of('/secrets/0/value'))).toBe(true);
  expect(isHeld('http_private_copy', of('/version'))).toBe(false);
});

it.each(['http_privilege_fields', 'http_security_setting', 'http_prototype_pollution'])(
  'a test operation does not write, so it passes %s',
  (rule) => {
    const body = ['/price', '/visibility', '/__proto__'].map((path) => ({ op: 'test', path, value: 1 }));
    expect(isHeld(rule, { body })).toBe(false);
  },
);

describe('the reason for an invalid patch', () => {
  const reason = (body: unknown, document?: unknown): string => run('http_patch_invalid', { body, document }).reason;

  it('says the operation, its path and its value', () => {
    expect(reason([{ op: 'replace', path: '/a~2b', value: 1 }])).toContain('not a JSON pointer: "/a~2b"');
    expect(reason([{ op: 'replace', path: '/state', value: 'paid' }], { status: 'open' })).toContain(
      'replace of "/state" with "paid": the member does not exist',
    );
    expect(reason([{ op: 'test', path: '/version', value: 7 }], { version: 8 })).toContain(
      'test of "/version" with 7: the value in the document is 8',
    );
    expect(reason([{ op: 'copy', from: '/a', path: '/b' }], {})).toContain('copy of "/a" to "/b": the source does not');
    expect(reason([{ op: 'frob', path: '/a' }])).toContain('an unknown operation "frob"');
  });

  it('names a member that some servers read as one of the operation', () => {
    expect(reason([{ op: 'replace', path: '/note', value: 'x', Path: '/role' }])).toContain('"Path"');
    expect(reason([{ op: 'replace', path: '/note', value: 'x', comment: 'Path', from: '/a' }])).not.toContain('"');
  });

  it('does not contain a value that may be a secret, and only the size of a long one', () => {
    const secret = reason([{ op: 'test', path: '/login/password', value: 'hunter2-x' }], {
      login: { password: 'correct horse' },
    });
    expect(secret).toContain('test of "/login/password" with a value that is not shown');
    expect(secret).not.toMatch(/hunter2|horse/);
    expect(reason([{ op: 'replace', path: '/x', value: 'y'.repeat(500) }], {})).toContain('a text of 500 characters');
  });
});

describe('a security setting', () => {
  const held = (body: unknown, path = '/v1/things/1'): boolean =>
    isHeld('http_security_setting', { contentType: MERGE, url: `https://api.example.com${path}`, body });

  it.each([{ allowForcePushes: true }, { require_pkce: false }, { a: { 'mfa-required': false } }, { private: false }])(
    'is held: %j',
    (body) => {
      expect(held(body)).toBe(true);
    },
  );

  it('is found in the path, and not in words that only contain a setting', () => {
    expect(held({ x: 1 }, '/v1/waf/rules/1')).toBe(true);
    expect(held({ author: 'x', publicTitle: 'y', catalog: 'z', reinforced: 1 }, '/v1/authors/1')).toBe(false);
  });
});

it('an amount in a unit is found like the amount', () => {
  const body = { amountCents: -1, priceInEur: 2 };
  expect(run('http_privilege_fields', { contentType: MERGE, body }).reason).toMatch(/amountCents.*priceInEur/);
});

it('a PUT replaces the whole document unless it keeps every member of the staged one', () => {
  const put = (body: unknown, document?: unknown): boolean =>
    isHeld('http_root_replaced', { method: 'PUT', contentType: 'application/json', body, document });
  expect(put({ a: 2, b: [1, 2] })).toBe(true);
  expect(put({ a: 2, b: [1, 2], c: 3 }, { a: 1, b: [0] })).toBe(false);
  expect(put({ a: 2 }, { a: 1, b: 1 })).toBe(true);
  expect(put({ a: { b: 1 } }, { a: { b: 1, c: 2 } })).toBe(true);
  expect(put({ a: [1] }, { a: [1, 2] })).toBe(true);
});

it('a PUT that keeps every member of the staged document writes only what differs from it', () => {
  const document = { owner: 'ada', note: 'x', account: { role: 'user', plan: 'a' }, users: [{ role: 'user' }] };
  const put = (rule: string, change: object, config = {}): boolean => {
    const body = { ...document, ...change };
    return isHeld(rule, { method: 'PUT', contentType: 'application/json', body, document }, config);
  };
  expect(put('http_privilege_fields', { note: 'y', account: { role: 'user', plan: 'b' } })).toBe(false);
  expect(put('http_privilege_fields', { owner: 'eve' })).toBe(true);
  expect(put('http_privilege_fields', { account: { role: 'admin', plan: 'a' } })).toBe(true);
  expect(put('http_privilege_fields', { users: [{ role: 'admin' }] })).toBe(true);
  expect(put('http_privilege_fields', { users: [{ role: 'user' }, { role: 'user' }] })).toBe(true);
  expect(put('http_privilege_fields', { is_admin: true })).toBe(true);
  const listed = [{ methods: ['PUT'], hosts: ['api.example.com'], paths: ['/v1/orders/*'] }];
  expect(put('http_unlisted_request', { note: 'y' }, { requests: listed })).toBe(false);
  expect(put('http_unlisted_request', { note: 'y', owner: 'eve' }, { requests: listed })).toBe(true);
  expect(put('http_protected_pointer', { note: 'y' }, { pointers: ['/account/role'] })).toBe(false);
  expect(put('http_no_effect', {})).toBe(true);
  expect(put('http_no_effect', { note: 'y' })).toBe(false);
});

it.each([
  ['/spec/template/spec/containers/0/securityContext/privileged', true],
  ['/spec/template/spec/containers/0/securityContext/allowPrivilegeEscalation', true],
  ['/spec/template/spec/hostNetwork', true],
  ['/spec/template/spec/serviceAccountName', true],
  ['/spec/replicas', false],
  ['/spec/template/spec/containers/0/image', false],
  ['/notes/privilegedInformation', false],
])('a container privilege is held, an ordinary member is not: %s', (path, held) => {
  expect(isHeld('http_privilege_fields', { body: [{ op: 'add', path, value: true }] })).toBe(held);
});

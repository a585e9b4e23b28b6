import { MERGE, request } from '../../../../source-tools/http/rules/define-http-rule';
import { fires } from '../../../policy/rules/support/run-pack-rule';

const HOST = 'https://api.example.com';
const JSON_TYPE = 'application/json';
const isHeld = (rule: string, change: Readonly<Record<string, unknown>>, config = {}): boolean =>
  fires(rule, request(change), { config });

describe('a parameter of the query', () => {
  it.each([
    ['http_privilege_fields', 'role=admin', true],
    ['http_privilege_fields', 'user[is_admin]=true', true],
    ['http_security_setting', 'visibility=public', true],
    ['http_prototype_pollution', '__proto__[x]=1', true],
    ['http_private_link', 'url=http%3A%2F%2F169.254.169.254%2F', true],
    ['http_private_link', 'target=10.0.0.5:6379', true],
    ['http_tenant_header', 'sudo=root', true],
    ['http_tenant_header', 'doAs=hdfs', true],
    ['http_auth_header', 'token=x', true],
    ['http_auth_header', 'X-Api-Key=x', true],
    ['http_auth_header', 'auth[access_token]=x', true],
    ['http_privilege_fields', 'notifyUsers=false&fields=title', false],
    ['http_private_link', 'url=https%3A%2F%2Fwww.example.com%2F', false],
    ['http_tenant_header', 'fields=assignee', false],
    ['http_auth_header', 'page_token=x', false],
  ])('is read by %s like a member or header: %s', (rule, query, held) => {
    expect(isHeld(rule, { url: `${HOST}/v1/users/7?${query}` })).toBe(held);
  });

  it('is compared with the protected pointers', () => {
    const held = (query: string): boolean =>
      isHeld('http_protected_pointer', { url: `${HOST}/v1/a?${query}` }, { pointers: ['/account/role'] });
    expect(held('account[role]=admin')).toBe(true);
    expect(held('account_id=1')).toBe(false);
  });

  it('of a request that only reads is not a write, but may name an address that the server calls', () => {
    const read = (query: string) => ({
      method: 'GET',
      contentType: null,
      body: undefined,
      url: `${HOST}/v1/a?${query}`,
    });
    expect(isHeld('http_privilege_fields', read('role=admin'))).toBe(false);
    expect(isHeld('http_private_link', read('url=http://10.0.0.1/'))).toBe(true);
  });
});

it.each([
  ['http_privilege_fields', { patch: [{ op: 'replace', path: '/is_admin', value: true }] }, true],
  ['http_privilege_fields', { op: 'replace', path: '/role', value: 'x' }, true],
  ['http_privilege_fields', { Operations: [{ op: 'add', path: 'roles[type eq "a"].value', value: 'x' }] }, true],
  [
    'http_privilege_fields',
    { Operations: [{ op: 'add', path: 'urn:ietf:params:scim:2.0:User:roles', value: 1 }] },
    true,
  ],
  ['http_protected_pointer', { patch: [{ op: 'move', path: '/a', from: '/account' }] }, true],
  ['http_protected_pointer', { patch: [{ op: 'replace', path: 'account.role', value: 1 }] }, true],
  ['http_root_replaced', { patch: [{ op: 'replace', path: '', value: {} }] }, true],
  ['http_privilege_fields', { patch: [{ op: 'test', path: '/role', value: 'x' }] }, false],
  ['http_privilege_fields', { op: 'read', path: '/v1/items' }, false],
  ['http_protected_pointer', { patch: [{ op: 'replace', path: '/accounts/role', value: 1 }] }, false],
])('an operation inside of another body names what it writes: %s, %j', (rule, body, held) => {
  const config = rule === 'http_protected_pointer' ? { pointers: ['/account/role'] } : {};
  expect(isHeld(rule, { contentType: JSON_TYPE, body }, config)).toBe(held);
  expect(isHeld(rule, { contentType: MERGE, body }, config)).toBe(held);
});

it.each([
  ['PATCH', JSON_TYPE, { milestone: null }, true],
  ['PATCH', 'application/vnd.api+json', { data: { attributes: { a: null } } }, true],
  ['PATCH', 'application/strategic-merge-patch+json', { spec: { containers: [{ name: 'a', resources: null }] } }, true],
  ['PATCH', 'application/strategic-merge-patch+json', { containers: [{ name: 'a', $patch: 'delete' }] }, true],
  ['PATCH', MERGE, { '$deleteFromPrimitiveList/finalizers': ['a'] }, true],
  ['PUT', JSON_TYPE, { data: { due_on: null } }, true],
  ['POST', JSON_TYPE, { note: null }, false],
  ['PATCH', JSON_TYPE, { rows: [[1, null]] }, false],
  ['PATCH', 'application/strategic-merge-patch+json', { '$setElementOrder/containers': [{ name: 'a' }] }, false],
])('null or a directive that removes is held in a %s of %s: %j', (method, contentType, body, held) => {
  expect(isHeld('http_null_delete', { method, contentType, body })).toBe(held);
});

it('a PUT that sets a member of the staged document to null is held, one that keeps a null is not', () => {
  const held = (body: object): boolean =>
    isHeld('http_null_delete', { method: 'PUT', contentType: JSON_TYPE, document: { a: { b: 1, c: null } }, body });
  expect(held({ a: { b: null, c: null } })).toBe(true);
  expect(held({ a: { b: 2, c: null, d: null } })).toBe(false);
});

it.each([
  ['userRole', true],
  ['isSuperAdmin', true],
  ['default_account_role_ids', true],
  ['Is Admin', true],
  ['user["role"]', true],
  ['discountPercent', true],
  ['groupName', false],
  ['permissionSlipReceived', false],
  ['userBio', false],
  ['account', false],
])('words before a privileged name only say whose it is: %s is held: %s', (name, held) => {
  expect(isHeld('http_privilege_fields', { contentType: MERGE, body: { [name]: 'x' } })).toBe(held);
});

it('limits of a container and the page size of a search are no privileges', () => {
  const limits = (path: string): boolean =>
    isHeld('http_privilege_fields', { body: [{ op: 'add', path, value: '1' }] });
  expect(limits('/spec/template/spec/initContainers/0/resources/limits/cpu')).toBe(false);
  expect(limits('/account/limits/daily')).toBe(true);
  const page = { method: 'POST', contentType: JSON_TYPE, body: { query: 'a', limit: 10 } };
  expect(isHeld('http_privilege_fields', { ...page, url: `${HOST}/v1/contacts/search` })).toBe(false);
  expect(isHeld('http_privilege_fields', { ...page, url: `${HOST}/v1/cards/research` })).toBe(true);
  expect(isHeld('http_privilege_fields', { ...page, url: `${HOST}/v1/search`, body: { card: { limit: 1 } } })).toBe(
    true,
  );
});

it.each([
  ['/v1/orgs/1', { twoFactorRequired: false }, true],
  ['/v1/orgs/1', { required_approving_review_count: 0 }, true],
  ['/v1/pods/1', { securityContext: { runAsUser: 0 } }, true],
  ['/v1/firewall', { 'source-ranges': ['0.0.0.0/0'] }, true],
  ['/v1/settings/sessions', { maxAgeSeconds: 1 }, true],
  ['/v1/clients/1', { sessionTimeout: 0 }, true],
  ['/v1/conferences/1/sessions/5', { title: 'x', sessions: [1] }, false],
  ['/v1/products/1', { reviewCount: 12, statusCheckInterval: 30 }, false],
])('a security setting is also known by a phrase: %s %j', (path, body, held) => {
  expect(isHeld('http_security_setting', { contentType: MERGE, url: HOST + path, body })).toBe(held);
});

it('a member of the body that replaces the method is held', () => {
  const held = (body: object): boolean => isHeld('http_override_header', { contentType: JSON_TYPE, body });
  expect(held({ _method: 'DELETE' })).toBe(true);
  expect(held({ 'X-HTTP-Method-Override': 'DELETE' })).toBe(true);
  expect(held({ httpMethod: 'GET', method: 'card', monitor: { _method: 'GET' } })).toBe(false);
});

it('a link to a file of the server, or one whose host parsers read differently, is held', () => {
  const held = (name: string, value: string): boolean =>
    isHeld('http_private_link', { contentType: MERGE, body: { [name]: value } });
  expect(held('avatar', 'file:///etc/passwd')).toBe(true);
  expect(held('import_url', 'http://www.example.com\\@10.0.0.1/')).toBe(true);
  expect(held('import_url', 'https://www.example.com@10.example.net/')).toBe(true);
  expect(held('import_url', 'https://www.example.com/ü#top')).toBe(false);
});

it.each(['/credentials/pwd', '/session/cookie', '/config/databaseUrl', '/sshKeys/0', '/kubeconfig'])(
  'a copy of the secret %s is held',
  (from) => {
    expect(isHeld('http_private_copy', { body: [{ op: 'copy', from, path: '/note' }] })).toBe(true);
  },
);

it('the deny list ignores dots and spaces at the end of a segment, unless its path has them', () => {
  const deny = [{ hosts: ['api.example.com'], paths: ['/v1/admin/**'] }];
  for (const path of ['/v1/admin./users', '/v1/admin%20/users'])
    expect(isHeld('http_method_path_scope', { url: HOST + path }, { deny })).toBe(true);
  const dotted = [{ hosts: ['api.example.com'], paths: ['/v1/admin./**'] }];
  expect(isHeld('http_method_path_scope', { url: `${HOST}/v1/admin./users` }, { deny: dotted })).toBe(true);
});

it('the deny list ignores a slash at the end of the path, which most servers drop', () => {
  const held = (path: string, paths: readonly string[]): boolean =>
    isHeld('http_method_path_scope', { url: HOST + path }, { deny: [{ hosts: ['api.example.com'], paths }] });
  expect(held('/v1/settings/', ['/v1/settings'])).toBe(true);
  expect(held('/v1/admin/users/', ['/v1/admin/*'])).toBe(true);
  expect(held('/v1/admin./', ['/v1/admin'])).toBe(true);
  expect(held('/v1/settings/', ['/v1/settings/'])).toBe(true);
  expect(held('/v1/settings/', ['/v1/set'])).toBe(false);
});

it.each(['%EF%BC%8E%EF%BC%8E/admin', 'x%EF%BC%8F..%EF%BC%8Fadmin', '%E2%80%A5/admin'])(
  'a path with compatible forms of dots or slashes is ambiguous: %s',
  (path) => {
    expect(isHeld('http_url_ambiguous', { url: `${HOST}/v1/${path}` })).toBe(true);
    expect(isHeld('http_url_ambiguous', { url: `${HOST}/v1/%C2%BD-%E2%84%A2-%C3%BC` })).toBe(false);
  },
);

it.each([
  ['utf-16', true],
  ['utf-7', true],
  ['"UTF-8"', false],
])('a body is sent in UTF-8, so the charset %s is refused: %s', (charset, refused) => {
  expect(isHeld('http_parse_failure', { contentType: `${MERGE}; charset=${charset}`, body: { a: 1 } })).toBe(refused);
});

it('a PUT to a host where it changes only the given members does not replace the document', () => {
  const put = (host: string, body: unknown, config = {}): boolean =>
    isHeld('http_root_replaced', { method: 'PUT', url: `https://${host}/v1/a`, contentType: JSON_TYPE, body }, config);
  const config = { partialPut: ['*.example.com'] };
  expect(put('api.example.com', { title: 'x' })).toBe(true);
  expect(put('api.example.com', { title: 'x' }, config)).toBe(false);
  expect(put('api.example.com', [{ title: 'x' }], config)).toBe(true);
  expect(put('api.example.com', {}, config)).toBe(true);
});

it.each(['OData-Version', 'Intercom-Version', 'X-Contentful-Version'])('the header %s is ordinary', (name) => {
  expect(isHeld('http_tenant_header', { headers: { [name]: '4' } })).toBe(false);
});

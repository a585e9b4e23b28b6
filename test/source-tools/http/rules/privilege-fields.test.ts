import { packDefinitions } from '../../../../source-tools';
import { request } from '../../../../source-tools/http/rules/define-http-rule';
import { runRule } from '../../../policy/rules/support/run-pack-rule';

const isFound = (path: string): boolean =>
  runRule(packDefinitions, 'http_privilege_fields', request({ body: [{ op: 'add', path, value: true }] })).status !==
  'ALLOW';

it.each([
  '/spec/template/spec/containers/0/securityContext/privileged',
  '/spec/template/spec/containers/0/securityContext/allowPrivilegeEscalation',
  '/spec/template/spec/hostNetwork',
  '/spec/template/spec/serviceAccountName',
])('finds a container privilege such as %s', (path) => {
  expect(isFound(path)).toBe(true);
});

it.each(['/spec/replicas', '/spec/template/spec/containers/0/image', '/notes/privilegedInformation'])(
  'does not find an ordinary member such as %s',
  (path) => {
    expect(isFound(path)).toBe(false);
  },
);

import { httpPatchPack } from '../../../../source-tools/http/rules';
import { request } from '../../../../source-tools/http/rules/define-http-rule';
import { runRule } from '../../../policy/rules/support/run-pack-rule';

const isHeld = (path: string): boolean =>
  runRule(httpPatchPack, 'http_privilege_fields', request({ body: [{ op: 'add', path, value: true }] })).status !==
  'ALLOW';

it.each([
  '/spec/template/spec/containers/0/securityContext/privileged',
  '/spec/template/spec/containers/0/securityContext/allowPrivilegeEscalation',
  '/spec/template/spec/hostNetwork',
  '/spec/template/spec/serviceAccountName',
])('what a container may do to its machine is a privilege as a role is: %s', (path) => {
  expect(isHeld(path)).toBe(true);
});

it.each(['/spec/replicas', '/spec/template/spec/containers/0/image', '/notes/privilegedInformation'])(
  'an ordinary member is none: %s',
  (path) => {
    expect(isHeld(path)).toBe(false);
  },
);

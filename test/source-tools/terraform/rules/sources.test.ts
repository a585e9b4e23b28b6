import { planOf } from '../../../../source-tools/terraform/rules/define-terraform-rule';
import { fires, runRule } from '../../../policy/rules/support/run-pack-rule';

const planWith = (root: object): string =>
  planOf([{ address: 'aws_sqs_queue.q', actions: ['create'], after: {} }], { configuration: { root_module: root } });
const COMMIT = '0123456789abcdef0123456789abcdef01234567';

describe('a module source', () => {
  const isHeld = (source: string, version_constraint?: string): boolean =>
    fires('terraform_source_pin', planWith({ module_calls: { m: { source, version_constraint, module: {} } } }));

  it.each([
    [`git::https://example.com/ref=${COMMIT}/x.git`, undefined],
    [`git::https://example.com/x.git?my_ref=${COMMIT}`, undefined],
    [`git::https://example.com/x.git?r%65f=main&ref=${COMMIT}`, undefined],
    [`https://example.com/x.zip?ref=${COMMIT}`, undefined],
    ['deploy@example.com:x.git', '1.0.0'],
    ['github.com/a/b/c', '1.0.0'],
    ['~/modules/x', '1.0.0'],
  ])('is not pinned by what only looks like a version: %s', (source, version) => {
    expect(isHeld(source, version)).toBe(true);
  });

  it.each([
    [`git::https://example.com/x.git//sub?depth=1&ref=${COMMIT}`, undefined],
    [`github.com/a/b?ref=${COMMIT}`, undefined],
    ['terraform-aws-modules/vpc/aws//modules/endpoints', '5.1.2'],
    ['modules.example.com:8443/a/b/c', '~> 2.0'],
    ['gitlab.com/a/b/c', '1.0.0'],
  ])('is pinned by a commit or the version of a registry: %s', (source, version) => {
    expect(isHeld(source, version)).toBe(false);
  });
});

it('a source that is not allowed is named without its user, and with its host', () => {
  const reasonOf = (source: string): string | null =>
    runRule('terraform_source_pin', planWith({ module_calls: { m: { source, module: {} } } }), {
      config: { sources: ['git::https://example.com/*'] },
    }).reason;
  expect(reasonOf('git::https://user:secret@evil.example/x.git')).toContain('"git::https://…@evil.example/x.git"');
  expect(reasonOf('https://evil.example/mod.zip?x=a@b')).toContain('"https://evil.example/mod.zip?x=a@b"');
});

it('an ephemeral resource that runs a program is found as a data source is', () => {
  const resource = { address: 'ephemeral.aws_lambda_invocation.x', mode: 'ephemeral', type: 'aws_lambda_invocation' };
  const plan = planWith({ resources: [{ ...resource, name: 'x' }] });
  expect(runRule('terraform_external_data', plan).status).toBe('BLOCK');
});

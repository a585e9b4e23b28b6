import { planOf } from '../../../../source-tools/terraform/rules/define-terraform-rule';
import { runRule } from '../../../policy/rules/support/run-pack-rule';

const RULE = 'terraform_unlisted_change';
const constant = (constant_value: unknown) => ({ constant_value });
const reference = (...references: readonly string[]) => ({ references });

function run(provider: string, expressions: unknown, config: object = {}) {
  const full_name = `registry.terraform.io/hashicorp/${provider}`;
  const provider_config = { p: { name: provider, full_name, expressions } };
  const plan = planOf([], { configuration: { provider_config, root_module: {} } });
  return runRule(RULE, plan, { config });
}

const isAsked = (provider: string, expressions: unknown, config: object = {}): boolean =>
  run(provider, expressions, config).status !== 'ALLOW';

describe('the configuration of a provider', () => {
  it.each([
    ['aws', { region: reference('var.region'), default_tags: [{ tags: constant({ Team: 'shop' }) }] }],
    ['aws', { ignore_tags: [{ keys: constant(['a']) }], allowed_account_ids: constant(['111122223333']) }],
    ['aws', { insecure: constant(false) }],
    ['google', { project: constant('shop'), region: constant('europe-west1'), zone: constant('a') }],
    ['google-beta', { project: reference('var.project'), default_labels: constant({}) }],
    ['azurerm', { features: [{}], subscription_id: reference('var.subscription') }],
    ['azurerm', { features: [{ key_vault: [{ purge_soft_delete_on_destroy: constant(false) }] }] }],
    ['kubernetes', { ignore_annotations: constant(['a']) }],
    ['random', {}],
  ])('of %s passes if all arguments are listed: %j', (provider, expressions) => {
    expect(isAsked(provider, expressions)).toBe(false);
  });

  it.each([
    ['aws', 'assume_role.role_arn', { assume_role: [{ role_arn: constant('arn:aws:iam::999900001111:role/a') }] }],
    ['aws', 'assume_role', { assume_role: [{}] }],
    ['aws', 'endpoints.sqs', { endpoints: [{ sqs: constant('https://sqs.example.com') }] }],
    ['aws', 'http_proxy', { http_proxy: reference('var.proxy') }],
    ['aws', 'insecure', { insecure: constant(true) }],
    ['aws', 'insecure', { insecure: reference('var.insecure') }],
    ['aws', 'profile', { region: constant('eu-west-1'), profile: constant('admin') }],
    ['aws', 'shared_config_files', { shared_config_files: constant(['/tmp/a']) }],
    ['google', 'impersonate_service_account', { impersonate_service_account: constant('a@b') }],
    ['google', 'pubsub_custom_endpoint', { pubsub_custom_endpoint: constant('https://example.com/') }],
    ['azurerm', 'metadata_host', { metadata_host: constant('example.com') }],
    [
      'azurerm',
      'features.key_vault.purge_soft_delete_on_destroy',
      { features: [{ key_vault: [{ purge_soft_delete_on_destroy: constant(true) }] }] },
    ],
    ['kubernetes', 'exec.command', { exec: [{ command: constant('sh') }] }],
    ['kubernetes', 'host', { host: reference('data.aws_eks_cluster.c.endpoint') }],
    ['kubernetes', 'config_path', { config_path: constant('./kubeconfig') }],
    ['tls', 'proxy.url', { proxy: [{ url: constant('https://example.com') }] }],
  ])('of %s asks about %s and names it', (provider, argument, expressions) => {
    const found = run(provider, expressions);
    expect(found.status).toBe('BLOCK');
    expect(found.reason).toContain(`hashicorp/${provider}`);
    expect(found.reason).toContain(`sets "${argument}"`);
    expect(isAsked(provider, expressions, { arguments: [`${provider}.${argument}`] })).toBe(false);
  });

  it('passes with arguments that the rule lists, and with what they contain', () => {
    const expressions = { assume_role: [{ role_arn: constant('a'), external_id: constant('b') }] };
    expect(isAsked('aws', expressions, { arguments: ['aws.assume_role'] })).toBe(false);
    expect(isAsked('aws', expressions, { arguments: ['aws.assume', 'google.assume_role'] })).toBe(true);
    expect(isAsked('aws', expressions, { arguments: ['aws.assume_role.role_arn'] })).toBe(true);
  });

  it('asks also in a module, and if a block occurs twice', () => {
    const expressions = { endpoints: [{}, { sqs: constant('https://sqs.example.com') }] };
    expect(isAsked('aws', expressions)).toBe(true);
  });

  it('cannot be read if it is not an object, or has too many arguments', () => {
    expect(isAsked('aws', [])).toBe(true);
    const many = Object.fromEntries(Array.from({ length: 201 }, (_, i) => [`a${i}`, constant(1)]));
    expect(run('aws', many).reason).toMatch(/invalid_document/);
  });
});

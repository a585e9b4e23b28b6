import { planOf, type ExampleResource } from '../../../../source-tools/terraform/rules/define-terraform-rule';
import { runRule } from '../../../policy/rules/support/run-pack-rule';

/** The result of the rule for a plan with this resource. */
export function run(resource: ExampleResource, config: object = {}, more: Readonly<Record<string, unknown>> = {}) {
  return runRule('terraform_unlisted_change', planOf([resource], more), { config });
}

export const isAsked = (resource: ExampleResource, config: object = {}): boolean =>
  run(resource, config).status !== 'ALLOW';

export const create = (address: string, after: object, more: object = {}): ExampleResource => ({
  address,
  actions: ['create'],
  after,
  ...more,
});

export const update = (address: string, before: object, after: object, more: object = {}): ExampleResource => ({
  address,
  actions: ['update'],
  before,
  after,
  ...more,
});

export const PORT = { protocol: 'tcp', from_port: 80, to_port: 80 };
export const QUEUE = { name: 'mail', visibility_timeout_seconds: 60 };

export const podsOf = (image: string, more: object = {}, container: object = {}) => ({
  spec: [{ replicas: '3', template: [{ spec: [{ container: [{ name: 'web', image, ...container }], ...more }] }] }],
});

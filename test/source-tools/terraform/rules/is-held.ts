import { planOf } from '../../../../source-tools/terraform/rules/define-terraform-rule';
import { fires } from '../../../policy/rules/support/run-pack-rule';

/** Whether the rule holds a plan for this resource. It is created if `before` is null, deleted if `after` is null, and updated otherwise. */
export function isHeld(
  rule: string,
  address: string,
  before: object | null,
  after: object | null,
  more: object = {},
): boolean {
  const actions = [before === null ? 'create' : after === null ? 'delete' : 'update'];
  return fires(rule, planOf([{ address, actions, before, after, ...more }]));
}

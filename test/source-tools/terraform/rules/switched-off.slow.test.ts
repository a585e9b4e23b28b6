import { planOf } from '../../../../source-tools/terraform/rules/define-terraform-rule';
import { leastCpuMs } from '../../../support/least-cpu';
import { runRule } from '../../../policy/rules/support/run-pack-rule';

/** A list of settings below 110 lists. */
const nested = (enabled: boolean): unknown => {
  let value: unknown = Array.from({ length: 9000 }, () => ({ enabled }));
  for (let i = 0; i < 110; i++) value = [value];
  return value;
};

it.each([
  ['terraform_logging_off', 'aws_cloudtrail.t'],
  ['terraform_protection_off', 'aws_wafv2_web_acl.w'],
])('%s reads deeply nested lists in linear time', (rule, address) => {
  const change = { actions: ['update'], before: { a: nested(true) }, after: { a: nested(false) } };
  const plan = planOf([{ address, ...change }], { configuration: { root_module: {} } });
  const raw = JSON.stringify(JSON.parse(plan));
  const evaluate = (): void => expect(runRule(rule, raw).status).toBe('BLOCK');
  expect(leastCpuMs(evaluate, 1)).toBeLessThan(4000);
});

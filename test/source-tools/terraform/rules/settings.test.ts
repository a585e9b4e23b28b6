import { planOf } from '../../../../source-tools/terraform/rules/define-terraform-rule';
import { fires } from '../../../policy/rules/support/run-pack-rule';

const isHeld = (rule: object, after: object, unknown: object = {}): boolean =>
  fires(
    'terraform_allowed_values',
    planOf([{ address: 'aws_instance.i', actions: ['create'], after, after_unknown: unknown }]),
    { config: { rules: [{ type: 'aws_instance', ...rule }] } },
  );

describe('a value that a team forbids', () => {
  it('is undecided if the plan hides an item of its list', () => {
    const rule = { attribute: 'security_groups', deny: ['sg-open'] };
    expect(isHeld(rule, { security_groups: ['sg-1', null] }, { security_groups: [false, true] })).toBe(true);
    expect(isHeld(rule, { security_groups: ['sg-1'] }, { security_groups: [false] })).toBe(false);
  });

  it('is found as text, too', () => {
    expect(isHeld({ attribute: 'monitoring', deny: [false] }, { monitoring: 'false' })).toBe(true);
  });
});

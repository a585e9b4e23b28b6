import { planOf, type ExampleResource } from '../../../../source-tools/terraform/rules/define-terraform-rule';
import { fires, runRule } from '../../../policy/rules/support/run-pack-rule';

const isHeld = (rule: string, resource: ExampleResource, config = {}): boolean =>
  fires(rule, planOf([resource]), { config });

describe('a protected address', () => {
  const isForbidden = (address: string, addresses: readonly string[], more: object): boolean =>
    isHeld('terraform_protected_resource', { address, actions: ['update'], ...more }, { addresses });

  it('is matched though a key of it contains a slash', () => {
    expect(isForbidden('aws_s3_object.o["a/b"]', ['aws_s3_object.*'], { before: {}, after: {} })).toBe(true);
  });

  it('must not be renamed to one that is not protected', () => {
    const moved = { actions: ['no-op'], previous_address: 'module.prod.aws_sqs_queue.q', before: {}, after: {} };
    expect(isForbidden('aws_sqs_queue.q', ['module.prod.*'], moved)).toBe(true);
    expect(isForbidden('module.prod.module.b.aws_sqs_queue.q', ['module.prod.*'], moved)).toBe(false);
  });
});

describe('a protecting tag', () => {
  const isForbidden = (resource: Omit<ExampleResource, 'address'>): boolean =>
    isHeld('terraform_protected_resource', { address: 'aws_instance.i', ...resource } as ExampleResource, {
      tags: { keep: 'yes' },
    });
  const before = { tags: { keep: 'yes', a: 'b' } };

  it('must not be removed or hidden by an update', () => {
    expect(isForbidden({ actions: ['update'], before, after: { tags: { a: 'b' } } })).toBe(true);
    expect(isForbidden({ actions: ['update'], before, after: {}, after_unknown: { tags: true } })).toBe(true);
    expect(isForbidden({ actions: ['update'], before, after: { tags: { keep: 'yes' } } })).toBe(false);
  });

  it('counts as set if the plan hides the tags', () => {
    expect(isForbidden({ actions: ['delete'], before, before_sensitive: { tags: true } })).toBe(true);
    expect(isForbidden({ actions: ['delete'], before: { tags: {} } })).toBe(false);
  });
});

describe('a protection against deletion', () => {
  const isForbidden = (before: object, after: object, more: object = {}): boolean =>
    isHeld('terraform_deletion_protection', { address: 'a_b.c', actions: ['update'], before, after, ...more });

  it.each([
    [{ deletion_protection: 'ACTIVE' }, { deletion_protection: 'INACTIVE' }],
    [{ delete_protection: true }, { delete_protection: false }],
    [{ enable_drop_protection: true }, {}],
    [{ deletion_policy: 'PREVENT' }, { deletion_policy: 'DELETE' }],
    [{ settings: [{ deletion_protection_enabled: true }] }, { settings: [{ deletion_protection_enabled: false }] }],
    [{ force_destroy: null }, { force_destroy: true }],
    [{ force_delete: false }, { force_delete: 'true' }],
  ])('is found however a provider writes it: from %j to %j', (before, after) => {
    expect(isForbidden(before, after)).toBe(true);
  });

  it.each([
    [{ deletion_protection: 'INACTIVE' }, { deletion_protection: 'ACTIVE' }],
    [{ force_destroy: true }, { force_destroy: true }],
    [{ deletion_protection: true }, { deletion_protection: true, name: 'b' }],
  ])('passes if it is not weaker than before: from %j to %j', (before, after) => {
    expect(isForbidden(before, after)).toBe(false);
  });

  it('counts as on if the plan hides its old value', () => {
    const more = { before_sensitive: { deletion_protection: true } };
    expect(isForbidden({ deletion_protection: true }, { deletion_protection: false }, more)).toBe(true);
    expect(isForbidden({ deletion_protection: true }, { deletion_protection: true }, more)).toBe(false);
  });
});

describe('a sensitive value', () => {
  const isForbidden = (resource: Omit<ExampleResource, 'address'>): boolean =>
    isHeld('terraform_sensitive', { address: 'aws_db_instance.d', ...resource } as ExampleResource);
  const value = { password: 'x', user: 'y' };
  const both = { before: value, after: value, before_sensitive: { password: true, user: true } };

  it('must not be shown, though another value stays hidden or the resource is replaced', () => {
    expect(isForbidden({ actions: ['update'], ...both, after_sensitive: { user: true } })).toBe(true);
    const unknown = { after_unknown: { endpoint: true } };
    expect(isForbidden({ actions: ['update'], ...both, ...unknown })).toBe(true);
    expect(isForbidden({ actions: ['delete', 'create'], ...both })).toBe(true);
    const whole = { before: { tags: { a: 'x', b: 'y' } }, after: { tags: { a: 'x', b: 'y' } } };
    const masks = { before_sensitive: { tags: true }, after_sensitive: { tags: { a: true } } };
    expect(isForbidden({ actions: ['update'], ...whole, ...masks })).toBe(true);
  });

  it('passes if it is removed, unknown or still hidden', () => {
    expect(isForbidden({ actions: ['update'], ...both, after: { password: null } })).toBe(false);
    const unknown = { after: {}, after_unknown: { password: true, user: true } };
    expect(isForbidden({ actions: ['update'], ...both, ...unknown })).toBe(false);
    expect(isForbidden({ actions: ['update'], ...both, after_sensitive: true })).toBe(false);
    const list = { before: { a: ['x', 'y'] }, after: { a: ['y'] }, before_sensitive: { a: [true, false] } };
    expect(isForbidden({ actions: ['update'], ...list })).toBe(false);
  });
});

it('a resource that OpenTofu forgets and creates again is a replacement', () => {
  const plan = planOf([{ address: 'aws_instance.i', actions: ['forget', 'create'], before: {}, after: {} }]);
  expect(runRule('terraform_replace', plan).status).toBe('BLOCK');
});

it('a resource that is destroyed because its configuration is gone is named with the commands that a plan does not show', () => {
  const reasonOf = (action_reason: string): string => {
    const resource = { address: 'terraform_data.d', actions: ['delete'], before: { input: 'x' }, action_reason };
    return runRule('terraform_destroy', planOf([resource])).reason ?? '';
  };
  expect(reasonOf('delete_because_no_resource_config')).toMatch(/removed block .* does not show the commands/);
  expect(reasonOf('delete_because_count_index')).not.toMatch(/removed block/);
});

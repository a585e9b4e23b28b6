import { planOf, type ExampleResource } from '../../../../source-tools/terraform/rules/define-terraform-rule';
import { fires } from '../../../policy/rules/support/run-pack-rule';

const isHeld = (...resources: ExampleResource[]): boolean => fires('terraform_expiry', planOf(resources));
const updated = (address: string, before: object, after: object) => ({ address, actions: ['update'], before, after });
const S3 = 'aws_s3_bucket_lifecycle_configuration.l';
const rule = (more: object) => ({ bucket: 'logs', rule: [{ id: 'a', status: 'Enabled', ...more }] });
const YEAR = rule({ expiration: [{ days: 365 }] });

describe('a change of when a service deletes data', () => {
  it.each([
    [S3, YEAR, rule({ expiration: [{ days: 1 }] })],
    [S3, { bucket: 'logs', rule: [] }, YEAR],
    [S3, { bucket: 'logs' }, rule({ noncurrent_version_expiration: [{ noncurrent_days: 1 }] })],
    ['google_storage_bucket.b', {}, { lifecycle_rule: [{ action: [{ type: 'Delete' }], condition: [{ age: 0 }] }] }],
    [
      'azurerm_storage_management_policy.p',
      {},
      { rule: [{ enabled: true, actions: [{ base_blob: [{ delete_after_days_since_creation_greater_than: 1 }] }] }] },
    ],
    ['aws_dynamodb_table.t', { ttl: [{ enabled: false }] }, { ttl: [{ enabled: true, attribute_name: 'at' }] }],
    ['google_bigquery_dataset.d', {}, { default_table_expiration_ms: 3600000 }],
  ])('is held: %s from %j to %j', (address, before, after) => {
    expect(isHeld(updated(address, before, after))).toBe(true);
  });

  it.each([
    [S3, YEAR, { ...YEAR, expected_bucket_owner: '1' }],
    [S3, YEAR, { bucket: 'logs', rule: [] }],
    [S3, YEAR, rule({ transition: [{ days: 30, storage_class: 'GLACIER' }], expiration: [] })],
    [S3, YEAR, { bucket: 'logs', rule: [{ id: 'a', status: 'Disabled', expiration: [{ days: 1 }] }] }],
    ['google_storage_bucket.b', {}, { lifecycle_rule: [{ action: [{ type: 'SetStorageClass' }] }] }],
    ['aws_dynamodb_table.t', { ttl: [] }, { ttl: [{ enabled: false, attribute_name: '' }] }],
  ])('passes if it deletes nothing more: %s from %j to %j', (address, before, after) => {
    expect(isHeld(updated(address, before, after))).toBe(false);
  });

  it('is held for a new rule unless the plan creates the store that it names', () => {
    const created = { address: S3, actions: ['create'], after: YEAR };
    expect(isHeld(created)).toBe(true);
    expect(isHeld(created, { address: 'aws_s3_bucket.b', actions: ['create'], after: { bucket: 'logs' } })).toBe(false);
    const unknown = { ...created, after: { rule: YEAR.rule }, after_unknown: { bucket: true } };
    expect(isHeld(unknown, { address: 'aws_s3_bucket.b', actions: ['create'], after: {} })).toBe(true);
    expect(isHeld(unknown)).toBe(true);
    expect(isHeld({ ...created, actions: ['delete', 'create'], before: YEAR })).toBe(true);
  });

  it('is held if the plan hides it', () => {
    expect(isHeld({ ...updated(S3, YEAR, { bucket: 'logs' }), after_unknown: { rule: true } })).toBe(true);
  });
});

describe('a lifecycle policy of a registry', () => {
  const UNTAGGED = { tagStatus: 'untagged', countType: 'sinceImagePushed', countUnit: 'days', countNumber: 30 };
  const policy = (...selections: object[]) => ({
    policy: JSON.stringify({ rules: selections.map((selection) => ({ selection, action: { type: 'expire' } })) }),
  });
  const created = (after: object, more: object = {}) => ({
    address: 'aws_ecr_lifecycle_policy.p',
    actions: ['create'],
    after,
    ...more,
  });

  it('passes if it deletes only images without a tag, not soon after they were pushed', () => {
    expect(isHeld(created(policy(UNTAGGED)))).toBe(false);
    expect(isHeld(updated('aws_ecr_lifecycle_policy.p', { policy: '{', name: 'a' }, { policy: '{', name: 'b' }))).toBe(
      false,
    );
  });

  it.each([
    [policy(UNTAGGED, { ...UNTAGGED, tagStatus: 'any' })],
    [policy({ ...UNTAGGED, countNumber: 1 })],
    [policy({ ...UNTAGGED, countType: 'imageCountMoreThan' })],
    [policy({ ...UNTAGGED, countUnit: 'hours' })],
    [{ policy: '{' }],
    [{ policy: '{"rules":{}}' }],
    [{}],
  ])('is held if it deletes others, or cannot be read: %j', (after) => {
    expect(isHeld(created(after))).toBe(true);
  });

  it('is held if the plan hides it', () => {
    expect(isHeld(created({}, { after_unknown: { policy: true } }))).toBe(true);
  });
});

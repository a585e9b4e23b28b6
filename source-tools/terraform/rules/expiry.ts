import type { JsonValue } from '../../../policy/contracts/canonical-json';
import { readJson } from '../../../policy/text/json-text';
import type { Hit } from '../../../policy/rules/hit';
import { atResource, planOf, terraformRule, undecided } from './define-terraform-rule';
import type { TerraformResource } from '../facts/terraform-facts';
import { createdOrChanged, hiddenBelow, isUnchanged, itemsNotIn, itemsOf, member, memberAt, stepsOf } from './values';

/** Members that say when a service deletes data by itself. */
const EXPIRES: Readonly<Record<string, readonly string[]>> = {
  aws_s3_bucket: ['lifecycle_rule'],
  aws_s3_bucket_lifecycle_configuration: ['rule'],
  google_storage_bucket: ['lifecycle_rule'],
  azurerm_storage_management_policy: ['rule'],
  aws_dynamodb_table: ['ttl'],
  google_bigquery_dataset: ['default_table_expiration_ms', 'default_partition_expiration_ms'],
  google_bigquery_table: ['expiration_time', 'time_partitioning'],
};
/** Of these types, a separate resource can set a rule for a store that already exists; its store is in this member. */
const STORE: Readonly<Record<string, string>> = {
  aws_s3_bucket_lifecycle_configuration: 'bucket',
  azurerm_storage_management_policy: 'storage_account_id',
};

const NEW_STORES: ReadonlySet<string> = new Set(['aws_s3_bucket', 'azurerm_storage_account']);

const S3_RULE = { id: 'all', status: 'Enabled' };

export const expiry = terraformRule({
  name: 'terraform_expiry',
  logicRevision: 3,
  defaultLevel: 'confirm',
  why: 'A service deletes what expires, though the plan destroys no resource.',
  examples: {
    bad: planOf([
      {
        address: 'aws_s3_bucket_lifecycle_configuration.logs',
        actions: ['update'],
        before: { bucket: 'logs', rule: [{ ...S3_RULE, expiration: [{ days: 365 }] }] },
        after: { bucket: 'logs', rule: [{ ...S3_RULE, expiration: [{ days: 1 }] }] },
      },
    ]),
    good: planOf([
      {
        address: 'aws_s3_bucket_lifecycle_configuration.logs',
        actions: ['update'],
        before: { bucket: 'logs', rule: [] },
        after: {
          bucket: 'logs',
          rule: [{ ...S3_RULE, abort_incomplete_multipart_upload: [{ days_after_initiation: 7 }] }],
        },
      },
    ]),
  },
  find: ({ resources }) => {
    const stores = resources.filter(({ type, action }) => action === 'create' && NEW_STORES.has(type));
    return createdOrChanged(resources).flatMap((r) =>
      Object.hasOwn(EXPIRES, r.type) && !isOfNewStore(r, stores)
        ? (EXPIRES[r.type] ?? []).flatMap((name) => expiryHits(r, name))
        : imageHits(r),
    );
  },
});

/** Whether the resource is, or belongs to, a store that the plan creates, so that it has no data yet. */
function isOfNewStore(r: TerraformResource, stores: readonly TerraformResource[]): boolean {
  if (r.action !== 'create') return false;
  const store = Object.hasOwn(STORE, r.type) ? STORE[r.type] : undefined;
  if (store === undefined) return true;
  // A store that is not known before apply may be an old one, whatever else the plan creates: then this is null.
  const id = memberAt(r.after, [store]);
  return id !== null && stores.some(({ after }) => memberAt(after, [store]) === id);
}

function expiryHits(r: TerraformResource, name: string): readonly Hit[] {
  if (isUnchanged(r, [name])) return [];
  const why = hiddenBelow(r, [name]);
  if (why !== null) return r.leftToProvider.includes(name) ? [] : [atResource(r, undecided(`its ${name}`, why))];
  const before = r.action === 'update' ? itemsOf(memberAt(r.before, [name])) : [];
  return itemsNotIn(itemsOf(memberAt(r.after, [name])), before).some((item) => expires(name, item))
    ? [atResource(r, `its ${name} says when data is deleted`, [name])]
    : [];
}

/** Hits for a lifecycle policy of a registry, unless it deletes only images without a tag, and not soon after they were pushed. */
function imageHits(r: TerraformResource): readonly Hit[] {
  const path = ['policy'];
  if (r.type !== 'aws_ecr_lifecycle_policy' || isUnchanged(r, path)) return [];
  const why = hiddenBelow(r, path);
  if (why !== null) return [atResource(r, undecided('its policy', why))];
  const text = memberAt(r.after, path);
  const read = typeof text === 'string' ? readJson(text, 32) : null;
  const rules = read?.ok === true ? member(read.value as JsonValue, 'rules') : null;
  return Array.isArray(rules) && rules.every(keepsImages)
    ? []
    : [atResource(r, 'its policy says which images are deleted', path)];
}

const LEAST_DAYS = 7;

function keepsImages(rule: JsonValue): boolean {
  const selection = member(rule, 'selection');
  return (
    member(selection, 'tagStatus') === 'untagged' &&
    member(selection, 'countType') === 'sinceImagePushed' &&
    member(selection, 'countUnit') === 'days' &&
    Number(member(selection, 'countNumber')) >= LEAST_DAYS
  );
}

/** Whether a value says that something is deleted after a time. `name`: the path of its names. */
function expires(name: string, value: JsonValue): boolean {
  if (typeof value === 'object' && value !== null) {
    const isOff = member(value, 'enabled') === false || member(value, 'status') === 'Disabled';
    if (isOff) return false;
    return stepsOf(value).some((step) => expires(`${name}.${String(step)}`, member(value, step)));
  }
  if (value === null || value === false || value === '' || value === 0 || value === -1) return false;
  return /expir|delete|^ttl\./i.test(name) || (name.endsWith('.type') && value === 'Delete');
}

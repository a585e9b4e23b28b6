import type { JsonValue } from '../../../policy/contracts/canonical-json';
import type { Hit } from '../../../policy/rules/hit';
import { parseRule } from '../../../policy/rules/rule-maker';
import { shown } from '../../../policy/text/shown-name';
import { atResource, planOf, terraformRule } from './define-terraform-rule';
import { TERRAFORM_PACK } from '../facts/terraform-parser';
import { containsTrue } from '../facts/masks';
import { isChanged } from '../facts/terraform-facts';
import { member, stepsOf } from './values';

const CREATE = { address: 'aws_sqs_queue.q', actions: ['create'], after: { name: 'q' } };

export const terraformParse = parseRule(TERRAFORM_PACK, {
  name: 'terraform_parse_failure',
  logicRevision: 3,
  defaultLevel: 'forbid',
  why: 'A plan in an unknown format, as text or as UTF-16 cannot be checked.',
  examples: { bad: planOf([CREATE]).replace('"1.2"', '"9.0"'), good: planOf([CREATE]) },
});

export const format = terraformRule({
  name: 'terraform_format',
  logicRevision: 5,
  defaultLevel: 'forbid',
  why: 'A failed or incomplete plan does not show what apply would do.',
  examples: {
    bad: planOf([CREATE], { errored: true }),
    good: planOf([CREATE], { errored: false, complete: true, applyable: true }),
  },
  find: ({ errored, complete, applyable, inexactNumber, failedChecks }) => {
    const hits: Hit[] = [];
    if (errored === true) hits.push({ at: '/errored', what: 'planning failed' });
    if (complete === false) hits.push({ at: '/complete', what: 'the plan is not complete' });
    if (applyable === false) hits.push({ at: '/applyable', what: 'the plan cannot be applied' });
    if (inexactNumber) hits.push({ at: '', what: 'a number that loses digits when it is parsed' });
    return [
      ...hits,
      ...failedChecks.map(({ at, address }) => ({ at, what: `${shown(address.slice(0, 200))} failed` })),
    ];
  },
});

export const unreadMember = terraformRule({
  name: 'terraform_unread_member',
  logicRevision: 2,
  defaultLevel: 'confirm',
  why: 'Apply may do more than the resource changes show, such as actions of providers.',
  examples: {
    bad: planOf([CREATE], { action_invocations: [{ address: 'action.aws_lambda_invoke.a' }] }),
    good: planOf([CREATE]),
  },
  find: ({ unread }) =>
    unread.map((name) => ({ at: '', what: `the plan has ${shown(name.slice(0, 200))}, which is not checked` })),
});

export const drift = terraformRule({
  name: 'terraform_drift',
  logicRevision: 3,
  defaultLevel: 'advise',
  status: 'WARN',
  why: 'Resources were changed outside Terraform, and the plan may revert those changes.',
  examples: {
    bad: planOf(
      [CREATE],
      JSON.parse(
        planOf([{ address: 'aws_sqs_queue.q', actions: ['update'], before: { a: 1 }, after: { a: 2 } }]).replace(
          'resource_changes',
          'resource_drift',
        ),
      ) as Record<string, unknown>,
    ),
    good: planOf([CREATE]),
  },
  find: ({ drift: changed }) =>
    changed
      .filter((r) => r.action !== 'no-op')
      .map((r) => atResource(r, `was changed outside Terraform (${r.action})`)),
});

export const noOp = terraformRule({
  name: 'terraform_no_op',
  logicRevision: 3,
  defaultLevel: 'advise',
  status: 'WARN',
  why: 'A plan without changes was probably made from the wrong configuration.',
  examples: { bad: planOf([{ ...CREATE, actions: ['no-op'], before: CREATE.after }]), good: planOf([CREATE]) },
  find: ({ resources, outputs }) =>
    resources.every((r) => !isChanged(r) && !r.importing && r.previousAddress === null) &&
    !outputs.some(({ changes }) => changes)
      ? [{ at: '', what: 'the plan changes nothing' }]
      : [],
});

export const imports = terraformRule({
  name: 'terraform_import',
  logicRevision: 3,
  defaultLevel: 'confirm',
  why: 'An imported resource may belong to another team, and the next plan may destroy it.',
  examples: {
    bad: JSON.stringify(
      {
        ...(JSON.parse(planOf([CREATE])) as object),
        resource_changes: [
          {
            address: 'aws_sqs_queue.q',
            mode: 'managed',
            type: 'aws_sqs_queue',
            name: 'q',
            provider_name: 'aws',
            change: { actions: ['no-op'], before: {}, after: {}, importing: { id: 'q' } },
          },
        ],
      },
      null,
      2,
    ),
    good: planOf([CREATE]),
  },
  find: ({ resources }) => resources.filter((r) => r.importing).map((r) => atResource(r, 'is imported into the state')),
});

export const forget = terraformRule({
  name: 'terraform_forget',
  logicRevision: 3,
  defaultLevel: 'confirm',
  why: 'A resource that is removed from the state keeps running and costing money, but is no longer managed.',
  examples: { bad: planOf([{ ...CREATE, actions: ['forget'] }]), good: planOf([CREATE]) },
  find: ({ resources }) =>
    resources.filter((r) => r.action === 'forget').map((r) => atResource(r, 'is removed from the state')),
});

export const sensitive = terraformRule({
  name: 'terraform_sensitive',
  logicRevision: 4,
  defaultLevel: 'forbid',
  why: 'A value that is no longer marked as sensitive is printed and logged in plain text.',
  examples: {
    bad: planOf([CREATE], {
      output_changes: {
        password: { actions: ['update'], before: 'x', after: 'x', before_sensitive: true, after_sensitive: false },
      },
    }),
    good: planOf([CREATE], {
      output_changes: {
        password: { actions: ['update'], before: 'x', after: 'y', before_sensitive: true, after_sensitive: true },
      },
    }),
  },
  find: ({ resources, outputs }) => [
    ...outputs
      .filter(({ wasSensitive, isSensitive, changes }) => changes && wasSensitive && !isSensitive)
      .map(({ at, name }) => ({
        at,
        what: `the output ${shown(name.slice(0, 100))} is no longer marked as sensitive`,
      })),
    ...resources
      .filter(
        ({ action, beforeSensitive, afterSensitive, unknown, after }) =>
          (action === 'update' || action === 'replace') && shows(after, beforeSensitive, [afterSensitive, unknown]),
      )
      .map((resource) => atResource(resource, 'its values are no longer marked as sensitive')),
  ],
});

/** Whether the value contains something that the mask `was` marks and none of `masks` marks. */
function shows(value: JsonValue, was: JsonValue, masks: readonly JsonValue[]): boolean {
  if (value === null || masks.includes(true)) return false;
  if (typeof value !== 'object') return was === true;
  if (Array.isArray(value) && was !== true) {
    // The items of a set have no fixed positions.
    const isShorter = Array.isArray(was) && value.length < was.length;
    return containsTrue(was) && !isShorter && !masks.some(containsTrue);
  }
  return stepsOf(value).some((step) =>
    shows(
      member(value, step),
      was === true || member(was, step),
      masks.map((mask) => member(mask, step)),
    ),
  );
}

import { z } from 'zod';
import { SubjectId } from '../contracts/subject-id';
import { Name } from '../contracts/diff';
import { Cardinality, Level } from '../contracts/plan';
import { AlwaysApproveConfig, CompositeConfig, RuleValidatorConfig } from '../validators/definitions';
import { AggregateConfig } from '../rules/aggregate/config';
import { ConditionConfig } from '../rules/condition/condition';
import { Duration } from '../contracts/duration';

/** The schema of `countersign.policy.yaml`, version 1. Editors show the texts of `describe` as hints. */

const Person = SubjectId.describe('Id of a person in the key registry.');
const SourceTool = Name.describe('Key of a registered source tool.');
const SourceTools = z
  .array(SourceTool)
  .min(1)
  .max(50)
  .optional()
  .describe('Limits the entry to diffs of these source tools. Absent: every tool that the validator reads.');
/** Not `JsonRecord`, which has no JSON Schema for editors. YAML bounds the levels. */
const Settings = z.record(z.string(), z.json());
const RuleLevel = Level.optional().describe(
  'forbid: roll back without asking. confirm: a person must answer. advise: show without waiting. shadow: report for tuning only.',
);
const Version = z
  .string()
  .min(1)
  .max(50)
  .optional()
  .describe('Required version of the validator. Absent: any version.');

export const Target = z.strictObject({
  development: z
    .boolean()
    .default(false)
    .describe('Accepts demo keys, and may accept unsigned answers. Never for production.'),
  inlineBytes: z
    .boolean()
    .default(false)
    .describe('Accepts diffs inside the start message; they stay in the history until retention.'),
  answers: z
    .enum(['signed', 'unsigned'])
    .default('signed')
    .describe('unsigned: anyone with write access to the namespace can answer. Only allowed if development is true.'),
  sourceTools: z
    .array(SourceTool)
    .min(1)
    .max(50)
    .describe('Source tools whose diffs may be submitted for this target.'),
  cooperative: z
    .array(SourceTool)
    .max(50)
    .default([])
    .describe('The source tools whose effect the requester performs after it receives a signed receipt.'),
  staging: Settings.default({}).describe(
    'Settings of the dry run, such as maxRehearsedRows, volatileColumns and statementTimeoutMs.',
  ),
});

const RuleSettings = z.strictObject({
  level: RuleLevel,
  version: Version,
  config: Settings.optional().describe('Settings of the rule.'),
});
const RuleSetting = z.union([z.literal('off').describe('The rule does not run.'), Level, RuleSettings]);

/** Members of every entry: what it is limited to. */
const limits = {
  sourceTools: SourceTools,
  targets: z.array(Name).min(1).max(500).optional().describe('Only for changes of these targets. Absent: all.'),
};

const PackEntry = z.strictObject({
  pack: z.string().min(1).max(63).describe('A rule pack: one validator for each of its rules.'),
  level: RuleLevel,
  rules: z
    .record(z.string().min(1), RuleSetting)
    .default({})
    .describe(
      'Settings by rule name. A rule that is not listed has the level of the entry, or else its default level.',
    ),
  ...limits,
});
const JudgeEntry = z.strictObject({
  judge: Settings.describe('The LLM judge and its settings. It can only make a decision stricter.'),
  version: Version,
  ...limits,
});
const ValidatorEntry = z.strictObject({
  validator: RuleValidatorConfig.extend({ level: RuleLevel }).describe('Several rules combined into one validator.'),
  ...limits,
});
const CompositeEntry = z.strictObject({
  composite: CompositeConfig.extend({ level: RuleLevel }).describe('Several validators combined into one.'),
  ...limits,
});
const ConditionEntry = z.strictObject({
  condition: ConditionConfig.extend({
    level: RuleLevel,
    staged: z.boolean().default(false).describe('true: runs after the dry run, and may read "staging".'),
  }).describe('Fires if a CEL expression is true.'),
  ...limits,
});
const AggregateEntry = z.strictObject({
  aggregate: AggregateConfig.extend({
    level: Level.exclude(['shadow'])
      .optional()
      .describe('forbid: roll back without asking. confirm: a person must answer. advise: show without waiting.'),
  }).describe('Limits on the sum of many changes, so that a large change cannot pass in small parts.'),
  ...limits,
});
const AlwaysApproveEntry = z.strictObject({
  'always-approve': AlwaysApproveConfig.describe(
    'The explicit opt-out: nothing is validated, and every review shows that.',
  ),
  ...limits,
});
const RuleEntry = z.strictObject({
  rule: z.string().min(1).max(63).describe('Name of a registered rule, usually a custom one.'),
  level: RuleLevel,
  version: Version,
  phase: z.enum(['preflight', 'post']).optional().describe('When the rule runs. Absent: as the rule declares.'),
  config: Settings.optional().describe('Settings of the rule.'),
  ...limits,
});

const ValidatorEntries = z.union([
  PackEntry,
  JudgeEntry,
  ValidatorEntry,
  CompositeEntry,
  ConditionEntry,
  AggregateEntry,
  AlwaysApproveEntry,
  RuleEntry,
]);
export type BundleEntry = z.infer<typeof ValidatorEntries>;

const need = {
  group: Name.optional().describe('Who may answer. Absent: defaultGroup.'),
  quorum: z.int().min(1).max(10).default(1).describe('How many different people must confirm.'),
  fourEyes: z
    .boolean()
    .default(true)
    .describe('The requester does not count. If the requester is unknown, two people are needed.'),
  deadline: Duration.optional().describe(
    'Time to wait for an answer before the change is rolled back. Absent: deadline of the bundle.',
  ),
  confirmationMessage: z
    .string()
    .min(1)
    .max(2000)
    .default('A person must confirm this change.')
    .describe('Shown verbatim to the approver.'),
};

export const BundlePolicy = z.strictObject({
  key: Name.describe('Stable key of the policy. "implicit" is reserved.'),
  name: z.string().min(1).max(200).describe('Display name.'),
  match: z
    .strictObject({
      validatorIds: z
        .array(z.string().min(1).max(200))
        .min(1)
        .max(500)
        .optional()
        .describe(
          'Validator ids such as guardian.sql_truncate. Absent: all. A policy whose callback answers alone must name them.',
        ),
      sourceTools: z.array(SourceTool).min(1).max(50).optional().describe('Source tools. Absent: all.'),
      targets: z.array(Name).min(1).max(500).optional().describe('Targets. Absent: all.'),
    })
    .default({})
    .describe('The findings that trigger the policy.'),
  requiresConfirmation: z
    .boolean()
    .default(true)
    .describe('false: the callback alone decides, and without a callback the change is rolled back.'),
  triggerCardinality: Cardinality.nullable()
    .default(null)
    .describe('Only for changes of one row or of several rows. null: always.'),
  callback: z
    .strictObject({ key: Name, version: z.string().min(1).max(50) })
    .nullable()
    .default(null)
    .describe('A registered callback, by key and version.'),
  metadata: Settings.default({}).describe('Handed to the callback.'),
  ...need,
});
export type BundlePolicy = z.infer<typeof BundlePolicy>;

const WaiverScope = z
  .strictObject({
    tenants: z.array(Name).min(1).optional().describe('Only for these tenants.'),
    targets: z.array(Name).min(1).optional().describe('Only for these targets.'),
    sourceTools: z.array(SourceTool).min(1).optional().describe('Only for diffs of these source tools.'),
    requesters: z.array(Person).min(1).optional().describe('Only for changes of these requesters.'),
    inputs: z
      .array(z.string().regex(/^[0-9a-f]{64}$/))
      .min(1)
      .optional()
      .describe('Only for these inputs, by inputSha.'),
  })
  .refine(
    (scope) => Object.keys(scope).length > 0,
    'expected at least one limit: a waiver must not match every change',
  );

export const BundleWaiver = z.strictObject({
  id: Name.describe('Name of the waiver, for audits.'),
  validatorId: z.string().min(1).max(200).describe('Id of the waived validator.'),
  reason: z.string().min(1).max(1000).describe('Why it is waived, with a ticket.'),
  expires: z.iso
    .datetime({ error: 'expected a time in UTC such as 2027-01-31T00:00:00Z' })
    .describe('When the waiver expires.'),
  scope: WaiverScope.describe('The changes that the waiver applies to. At least one limit.'),
});

export const BundleSchema = z.strictObject({
  version: z.literal(1).describe('Version of this format.'),
  name: z.string().min(1).max(200).describe('Display name of the bundle.'),
  domain: z.string().min(1).max(200).describe('The domain that the bundle governs; "global" if there is none.'),
  provider: z.string().min(1).max(200).describe('Provider of the judge\'s model; "none" without a judge.'),
  model: z.string().min(1).max(200).describe('The judge\'s model; "none" without a judge.'),
  targets: z
    .record(Name, Target)
    .refine((targets) => Object.keys(targets).length > 0, 'expected at least one target')
    .describe('Targets of changes, by name.'),
  groups: z
    .record(
      Name,
      z.strictObject({
        members: z.array(Person).max(1000).describe('Ids of the members. Agents and services never count.'),
      }),
    )
    .describe('Groups of approvers, by name.'),
  defaultGroup: Name.describe('Group that answers unless a policy names another.'),
  validators: z.array(ValidatorEntries).max(500).describe('The validators of a change, in this order.'),
  judgeWhen: z
    .enum(['unlessHardBlock', 'onlyIfClean'])
    .default('unlessHardBlock')
    .describe(
      'When the judge is called. unlessHardBlock: unless a rule forbids the change. onlyIfClean: only if no finding needs an answer; not together with a callback that answers alone.',
    ),
  onJudgeFailure: z
    .enum(['ask', 'forbid'])
    .default('ask')
    .describe('What happens if the judge cannot answer: ask a person, or forbid the change.'),
  autoResolve: z
    .enum(['any', 'warnOnly'])
    .default('any')
    .describe('What a passed callback may resolve without a person. warnOnly: a BLOCK always asks a person.'),
  commitWindow: Duration.default('15m').describe(
    'Time after the last required answer in which the change must be committed.',
  ),
  deadline: Duration.default('24h').describe('Time that a violation waits for its answer.'),
  implicit: z
    .strictObject(need)
    .prefault({})
    .describe('Settings if a finding fires and no policy matches: a person must confirm.'),
  policies: z.array(BundlePolicy).max(500).default([]).describe('Who answers which findings, and how.'),
  waivers: z.array(BundleWaiver).max(500).default([]).describe('Known findings that are allowed until a date.'),
});
export type BundleWaiver = z.infer<typeof BundleWaiver>;
export type Bundle = z.infer<typeof BundleSchema>;

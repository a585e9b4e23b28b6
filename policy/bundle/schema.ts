import { z } from 'zod';
import { Name } from '../contracts/diff';
import { Cardinality, JsonRecord, Level } from '../contracts/plan';
import { AlwaysApproveConfig, CompositeConfig, RuleValidatorConfig } from '../validators/definitions';
import { AggregateConfig } from '../rules/aggregate/config';
import { ConditionConfig } from '../rules/condition/condition';
import { Duration } from '../contracts/duration';

/** The shape of `countersign.policy.yaml`, version 1. What a reader of the editor's hints sees is `describe`d here. */

const Person = z.string().min(1).max(200).describe('A person, as the key registry names them.');
const SourceTool = Name.describe(
  'Key of a source tool: SQLDryRun, SQLCAS, HTTPPatch, GitPatch, TerraformPlan, or one of your own.',
);
const SourceTools = z
  .array(SourceTool)
  .min(1)
  .max(50)
  .optional()
  .describe('Only for diffs of these source tools. Absent: for all that it reads.');
const RuleLevel = Level.optional().describe(
  'forbid: rolled back, nobody asked. confirm: a person must answer. advise: shown, nobody waits. shadow: reported for tuning only.',
);
const Version = z
  .string()
  .min(1)
  .max(50)
  .optional()
  .describe('The version that must be installed. Absent: whichever is.');

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
    .describe('unsigned: any writer to the namespace can answer. Only where development is true.'),
  sourceTools: z.array(SourceTool).min(1).max(50).describe('Whose diffs may be submitted for this target.'),
  cooperative: z
    .array(SourceTool)
    .max(50)
    .default([])
    .describe('Those of them whose effect the requester performs itself, on a signed receipt.'),
  staging: JsonRecord.default({}).describe('Settings of the dry run, such as statementTimeoutMs and lockTimeoutMs.'),
});

const RuleSettings = z.strictObject({
  level: RuleLevel,
  version: Version,
  config: JsonRecord.optional().describe("The rule's own settings."),
});
const RuleSetting = z.union([z.literal('off').describe('Not run at all.'), Level, RuleSettings]);

export const PackEntry = z.strictObject({
  pack: z.string().min(1).max(63).describe('A rule pack: one validator for each of its rules.'),
  level: RuleLevel,
  rules: z
    .record(z.string().min(1), RuleSetting)
    .default({})
    .describe('Settings by rule. A rule that is not named here has its default level.'),
  sourceTools: SourceTools,
});
export const JudgeEntry = z.strictObject({
  judge: JsonRecord.describe('The LLM judge and its settings. It can only tighten.'),
  version: Version,
  sourceTools: SourceTools,
});
export const ValidatorEntry = z.strictObject({
  validator: RuleValidatorConfig.extend({ level: RuleLevel }).describe('Several rules that answer as one validator.'),
  sourceTools: SourceTools,
});
export const CompositeEntry = z.strictObject({
  composite: CompositeConfig.extend({ level: RuleLevel }).describe('Several validators that answer as one.'),
  sourceTools: SourceTools,
});
export const ConditionEntry = z.strictObject({
  condition: ConditionConfig.extend({
    level: RuleLevel,
    staged: z.boolean().default(false).describe('true: runs after the dry run, and may read "staging".'),
  }).describe('Fires where a CEL expression is true.'),
  sourceTools: SourceTools,
});
export const AggregateEntry = z.strictObject({
  aggregate: AggregateConfig.extend({
    level: Level.exclude(['shadow'])
      .optional()
      .describe('forbid: rolled back, nobody asked. confirm: a person must answer. advise: shown, nobody waits.'),
  }).describe('Limits on what many changes come to, so that a large one cannot pass in small parts.'),
  sourceTools: SourceTools,
});
export const AlwaysApproveEntry = z.strictObject({
  'always-approve': AlwaysApproveConfig.describe(
    'The explicit opt-out: nothing is validated, and every review shows so.',
  ),
  sourceTools: SourceTools,
});
export const RuleEntry = z.strictObject({
  rule: z.string().min(1).max(63).describe("One registered rule by its name; usually a team's own."),
  level: RuleLevel,
  version: Version,
  phase: z.enum(['preflight', 'post']).optional().describe('Absent: as the rule declares.'),
  config: JsonRecord.optional().describe("The rule's own settings."),
  sourceTools: SourceTools,
});

export const ValidatorEntries = z.union([
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
    .describe('The requester never counts; when the requester is unknown, two people are needed.'),
  deadline: Duration.optional().describe(
    'How long to wait for an answer; then the change is rolled back. Absent: deadline of the bundle.',
  ),
  confirmationMessage: z
    .string()
    .min(1)
    .max(2000)
    .default('A person must confirm this change.')
    .describe('Shown to the approver, word for word.'),
};

export const BundlePolicy = z.strictObject({
  key: Name.describe('Stable key of the policy. "implicit" is taken.'),
  name: z.string().min(1).max(200).describe('What people call it.'),
  match: z
    .strictObject({
      validatorIds: z
        .array(z.string().min(1).max(200))
        .min(1)
        .max(500)
        .optional()
        .describe('Ids such as guardian.sql_truncate. Absent: every one.'),
      sourceTools: z.array(SourceTool).min(1).max(50).optional().describe('Absent: every one.'),
    })
    .default({})
    .describe('Which findings trigger it.'),
  requiresConfirmation: z
    .boolean()
    .default(true)
    .describe('false: the callback alone decides, and without a callback the change is rolled back.'),
  triggerCardinality: Cardinality.nullable()
    .default(null)
    .describe('Only for changes of a single row, or of several. null: always.'),
  callback: z
    .strictObject({ key: Name, version: z.string().min(1).max(50) })
    .nullable()
    .default(null)
    .describe('A registered callback, by key and version.'),
  metadata: JsonRecord.default({}).describe('Handed to the callback.'),
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
  .refine((scope) => Object.keys(scope).length > 0, 'expected at least one limit: a waiver of everything is no waiver');

export const BundleWaiver = z.strictObject({
  id: Name.describe('Name of the waiver, for audits.'),
  validatorId: z.string().min(1).max(200).describe('Which validator it waives.'),
  reason: z.string().min(1).max(1000).describe('Why; a ticket belongs here.'),
  expires: z.iso.datetime({ error: 'expected a time in UTC such as 2027-01-31T00:00:00Z' }).describe('When it ends.'),
  scope: WaiverScope.describe('For which changes. At least one limit.'),
});

export const BundleSchema = z.strictObject({
  version: z.literal(1).describe('Version of this format.'),
  name: z.string().min(1).max(200).describe('What people call this bundle.'),
  domain: z.string().min(1).max(200).describe('The domain that it governs; "global" where there is none.'),
  provider: z.string().min(1).max(200).describe('Provider of the judge\'s model; "none" without a judge.'),
  model: z.string().min(1).max(200).describe('The judge\'s model; "none" without a judge.'),
  targets: z
    .record(Name, Target)
    .refine((targets) => Object.keys(targets).length > 0, 'expected at least one target')
    .describe('What may be changed, by name.'),
  groups: z
    .record(
      Name,
      z.strictObject({
        members: z.array(Person).max(1000).describe('Who belongs to it. Agents and services never count.'),
      }),
    )
    .describe('Groups of approvers, by name.'),
  defaultGroup: Name.describe('Who answers where no policy says otherwise.'),
  validators: z.array(ValidatorEntries).max(500).describe('What looks at a change, in this order.'),
  judgeWhen: z
    .enum(['always', 'unlessHardBlock', 'onlyIfClean'])
    .default('unlessHardBlock')
    .describe('When the judge is asked.'),
  onJudgeFailure: z
    .enum(['ask', 'forbid'])
    .default('ask')
    .describe('A judge that cannot answer: ask a person, or forbid the change.'),
  autoResolve: z
    .enum(['any', 'warnOnly'])
    .default('any')
    .describe('What a passed callback may resolve alone. warnOnly: a BLOCK always asks a person.'),
  commitWindow: Duration.default('15m').describe(
    'How long an admitted answer stays good after the last one that was needed.',
  ),
  deadline: Duration.default('24h').describe('How long a violation waits for its answer.'),
  remindEvery: Duration.nullable().default(null).describe('Remind the approvers this often. null: never.'),
  implicit: z
    .strictObject({
      group: need.group,
      quorum: need.quorum,
      fourEyes: need.fourEyes,
      deadline: need.deadline,
      confirmationMessage: need.confirmationMessage,
    })
    .prefault({})
    .describe('What holds where a finding fires and no policy matches: a person must confirm.'),
  policies: z.array(BundlePolicy).max(500).default([]).describe('Who answers which findings, and how.'),
  waivers: z.array(BundleWaiver).max(500).default([]).describe('Known findings that are let through for a while.'),
});
export type Bundle = z.infer<typeof BundleSchema>;

import { exportEvidence, type EvidenceSources } from '../../../../activities/review/export-evidence';
import type { JsonObject } from '../../../../policy/contracts/canonical-json';
import type { Plan } from '../../../../policy/contracts/plan';
import type { SourceTool } from '../../../../policy/contracts/source-tool';
import { stagingSha, type StagingRecord } from '../../../../policy/contracts/staging-record';
import type { EvidenceBundle } from '../../../../policy/evidence/bundle';
import type { EvidenceTrust } from '../../../../signing/verify-evidence';
import { SOURCE_TOOLS } from '../../../../source-tools';
import { sourceToolRegistry } from '../../../../source-tools/define';
import { createPlanSource } from '../../../../storage/plans/plan-source';
import { extensionsOf } from '../../../../workers/extensions';
import { memoryByteStore } from '../../../support/memory-byte-store';
import { memoryLedger } from '../../../support/memory-ledger';
import { reviewDeps, type ReviewDeps } from '../../../support/review/review-deps';
import { ReviewSteps } from '../../../support/review/review-steps';
import { SeededKeys } from '../../../support/review/seeded-keys';
import { signedPolicy } from '../../../support/review/signed-policy';
import { SAMPLE_CHANGES, sampleRecord, type SampleChange, type SampleName } from './sample-changes';

const BUNDLE = `
version: 1
name: samples
domain: shop
provider: none
model: none
targets:
  shop: { development: false, sourceTools: [SQLDryRun, GitPatch, HTTPPatch, TerraformPlan], cooperative: [TerraformPlan] }
groups:
  owners: { members: [alice, bob, dana] }
defaultGroup: owners
validators:
  - pack: sql-postgres
    sourceTools: [SQLDryRun]
    rules: { sql_affected_rows: { level: confirm, config: { maxRows: 10 } } }
  - pack: git-diff
    sourceTools: [GitPatch]
  - pack: http-patch
    sourceTools: [HTTPPatch]
  - pack: terraform-plan
    sourceTools: [TerraformPlan]
deadline: 24h
policies:
  - { key: two, name: Two people, match: { validatorIds: [guardian.sql_affected_rows] }, quorum: 2, requiresConfirmation: true, confirmationMessage: 'Ask finance before you confirm this.' }
`;

export interface Sample {
  readonly changeId: string;
  readonly bundle: EvidenceBundle;
}

export interface SampleWorld {
  readonly trust: EvidenceTrust;
  readonly keys: SeededKeys;
  /** Opens a change, runs its rules and its dry run, and discloses what fired. `bobConfirms`: bob confirms the first violation. */
  open(change: SampleName | SampleChange, options?: { readonly bobConfirms?: boolean }): Promise<Sample>;
}

/** Reviews of changes to all kinds of targets, with the real rules, in memory. Dry runs are given. */
export function sampleWorld(now: () => Date): SampleWorld {
  const keys = new SeededKeys();
  const ledger = memoryLedger();
  const store = memoryByteStore();
  const stagingRecords = new Map<string, StagingRecord>();
  const previews = new Map<string, JsonObject>();
  let current: SampleChange = SAMPLE_CHANGES.update;
  const tools = sourceToolRegistry(SOURCE_TOOLS.map((tool) => stagedAs(tool, () => current)));
  const { validators, callbacks } = extensionsOf();
  const policy = signedPolicy({ validators, callbacks, sourceTools: tools }, keys.operator);
  policy.publish(BUNDLE);
  const plans = createPlanSource({ ...policy, now: () => now().getTime() });
  const sources: EvidenceSources = {
    ledger,
    store,
    previews: { preview: async (changeId, record) => previews.get(`${changeId}/${stagingSha(record)}`) ?? null },
    policy,
    keys,
    inclusion: { covering: async () => null },
    history: async () => null,
  };
  return {
    keys,
    trust: { operators: [keys.operator.publicKey], committers: [keys.committer.publicKey] },
    async open(change, { bobConfirms = false } = {}) {
      current = typeof change === 'string' ? SAMPLE_CHANGES[change] : change;
      const compiled = policy.compile(BUNDLE, 'shop', current.sourceTool);
      const review = new SampleReview(current, compiled, keys, now, (sends) => {
        const stores = { store, ledger, plans, stagingRecords, previews, keys: keys.registry() };
        return reviewDeps({ sends, ...stores, tools, validators, callbacks, signers: keys, now });
      });
      await review.run(bobConfirms);
      return { changeId: review.changeId, bundle: await exportEvidence(sources, review.changeId, { bytes: true }) };
    },
  };
}

function stagedAs(tool: SourceTool, current: () => SampleChange): SourceTool {
  if (tool.staging === null) return tool;
  return {
    ...tool,
    staging: async () => ({
      stage: async () => ({ kind: 'staged', record: sampleRecord(current()), preview: current().preview }),
      commit: async () => ({ kind: 'applied', effect: {}, replayed: false }),
      seal: async () => ({ found: false }),
    }),
  };
}

class SampleReview extends ReviewSteps {
  readonly plan: Plan;
  readonly planHash: string;

  constructor(
    change: SampleChange,
    compiled: { readonly plan: Plan; readonly planHash: string },
    readonly keys: SeededKeys,
    readonly now: () => Date,
    readonly depsWith: (sends: ReviewDeps['sends']) => ReviewDeps,
  ) {
    super({ text: change.text, sourceTool: change.sourceTool, metadata: change.metadata as never });
    ({ plan: this.plan, planHash: this.planHash } = compiled);
    this.submission = { ...this.submission, envelope: this.signSubmission(keys.agent) };
  }

  clock(): Date {
    return this.now();
  }

  get deps(): ReviewDeps {
    return this.depsWith(() => this.sends);
  }

  async run(bobConfirms: boolean): Promise<void> {
    await this.open();
    await this.guard();
    const staged = await this.stage();
    if (staged.kind === 'refused') {
      await this.rollback({ reason: 'forbidden', explanation: staged.explanation });
      return;
    }
    await this.disclose();
    const [, bob] = this.keys.approvers;
    if (bobConfirms && bob !== undefined)
      await this.answer(bob, { reason: 'Agreed with finance on Monday; 40 is what the report lists.' });
  }
}

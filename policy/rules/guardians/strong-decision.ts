import { z } from 'zod';
import { Name } from '../../contracts/diff';
import type { RuleOutcome, ValidatorInput } from '../define';
import { metadataEvidence } from '../../contracts/facts';
import { defineGuardian, wholeDiff } from './define-guardian';
import { coveredBy, Resources } from './resources';
import { unreadable } from './unreadable';

/** Weakest first. */
const STRENGTHS = ['weak', 'normal', 'strong'] as const;
const Strength = z.enum(STRENGTHS);
type Strength = z.infer<typeof Strength>;

const Config = z.strictObject({
  threshold: Strength.default('strong').describe('Decisions of at least this strength are guarded.'),
  decisions: z
    .array(
      z.strictObject({
        id: Name.describe('Id of the decision root.'),
        strength: Strength,
        governs: Resources.describe('What was decided about.'),
      }),
    )
    .min(1)
    .max(500)
    .describe('Decisions that stand.'),
});
type Config = z.infer<typeof Config>;

/** What a submission may claim, in `metadata.decision`: the decision that it was made under. Nothing else is read (G27). */
const Claim = z.strictObject({ id: z.string().max(200), strength: Strength });

/**
 * A change of something that a strong decision governs. Compares structured fields only: ids, strengths and names; no
 * free text, no model's output (G27). A claim can only make it worse: a change that names the decision and its strength
 * still needs a person (WARN); one that names none, another or a weaker one contradicts it (BLOCK).
 */
export const strongDecision = defineGuardian({
  name: 'strong_decision',
  logicRevision: 1,
  config: Config,
  phase: 'preflight',
  reads: ['facts', 'touched', 'metadata'],
  why: 'What was decided with weight is not undone in passing.',
  apply,
});

function apply(input: ValidatorInput<Config>): RuleOutcome {
  const { config, diff, inputSha } = input;
  const touched = input.tool.touched;
  if (touched === null) {
    return {
      fires: true,
      reason: unreadable(input.facts),
      reasonCode: 'facts_missing',
      evidence: [wholeDiff(diff.diffSha)],
    };
  }
  const guarded = config.decisions.filter((decision) => rank(decision.strength) >= rank(config.threshold));
  const hit = guarded.flatMap((decision) => {
    const evidence = touched.filter((t) => coveredBy(decision.governs, t) !== null).map((t) => t.evidence);
    return evidence.length === 0 ? [] : [{ decision, evidence }];
  });
  if (hit.length === 0) return { fires: false };
  const claim = Claim.safeParse(diff.metadata['decision']);
  const under = hit.every(
    ({ decision }) =>
      claim.success && claim.data.id === decision.id && rank(claim.data.strength) >= rank(decision.strength),
  );
  const ids = hit.map(({ decision }) => decision.id);
  return {
    fires: true,
    status: under ? 'WARN' : 'BLOCK',
    reason: under
      ? `The change is made under decision ${ids.join(', ')}`
      : `The change goes against decision ${ids.join(', ')}`,
    reasonCode: under ? 'under_decision' : 'against_decision',
    evidence: [
      ...new Set([
        ...hit.flatMap(({ evidence }) => evidence),
        ...(claim.success ? [metadataEvidence(inputSha, '/decision')] : []),
      ]),
    ],
    details: { affectedDecisionRootIds: ids },
  };
}

function rank(strength: Strength): number {
  return STRENGTHS.indexOf(strength);
}

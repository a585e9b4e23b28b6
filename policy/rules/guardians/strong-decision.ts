import { z } from 'zod';
import { Name } from '../../contracts/diff';
import type { RuleOutcome, ValidatorInput } from '../define';
import { metadataEvidence } from '../../contracts/facts';
import { defineGuardian } from './define-guardian';
import { coveredBy, Resources, touchedUnknown } from './resources';

/** Weakest first. */
const STRENGTHS = ['weak', 'normal', 'strong'] as const;
const Strength = z.enum(STRENGTHS);
type Strength = z.infer<typeof Strength>;

const Config = z.strictObject({
  threshold: Strength.default('strong').describe('Minimum strength of the decisions that are enforced.'),
  decisions: z
    .array(
      z.strictObject({
        id: Name.describe('Id of the decision.'),
        strength: Strength,
        governs: Resources.describe('The resources that the decision is about.'),
      }),
    )
    .min(1)
    .max(500)
    .describe('Decisions that are in force.'),
});
type Config = z.infer<typeof Config>;

/** The claim in `metadata.decision`: the decision under which the change is made. No other metadata is read. */
const Claim = z.strictObject({ id: z.string().max(200), strength: Strength });

/**
 * Fires if a change touches a resource that a strong decision governs. Compares only structured fields (ids, strengths, names),
 * never free text or the output of a model. A claim cannot make the change pass: with the id and strength of the decision the
 * result is WARN, without a claim or with another or weaker decision it is BLOCK.
 */
export const strongDecision = defineGuardian({
  name: 'strong_decision',
  logicRevision: 3,
  config: Config,
  phase: 'preflight',
  reads: ['facts', 'touched', 'metadata'],
  why: 'A change must not undo a strong decision unnoticed.',
  apply,
});

function apply(input: ValidatorInput<Config>): RuleOutcome {
  const { config, diff, inputSha } = input;
  const touched = input.tool.touched;
  if (touched === null) return touchedUnknown(input);
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

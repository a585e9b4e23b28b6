import { z } from 'zod';
import { Sha256Hex, Submission } from '../policy/contracts/diff';
import { invalid } from '../policy/contracts/failure';
import type { CommitActivities, JudgeActivities, ReviewActivities } from './review-types';

type Activities = ReviewActivities & JudgeActivities & CommitActivities;

/** Longer than any id of a validator or a unit. */
const Id = z.string().max(300);
const stagingSha = Sha256Hex.nullable();

/** Inputs that only name a change and a step of its review. Other activities parse their message or submission themselves. */
const INPUTS = {
  stage: z.object({ changeId: Sha256Hex }),
  runGuardians: z.object({ changeId: Sha256Hex, unit: Id }),
  // `disclose` compares each outcome with those that are possible for its validator.
  disclose: z.object({ changeId: Sha256Hex, stagingSha, unrecorded: z.unknown() }),
  askJudge: z.object({ changeId: Sha256Hex, stagingSha, validatorId: Id }),
  attestJudgeFailure: z.object({
    changeId: Sha256Hex,
    stagingSha,
    validatorId: Id,
    failureType: z.string(),
    message: z.string(),
  }),
} satisfies { readonly [N in keyof Activities]?: z.ZodType };

/**
 * The input of an activity, which anyone with write access to the namespace can schedule. Further members are dropped. Fails, without
 * retry, with VALIDATION_ERROR. The failure does not repeat the value: one of two megabytes would be too large to report, and the
 * activity would then be retried.
 */
export function readInput<N extends keyof typeof INPUTS>(activity: N, input: unknown): z.infer<(typeof INPUTS)[N]> {
  const parsed = INPUTS[activity].safeParse(input);
  if (parsed.success) return parsed.data as z.infer<(typeof INPUTS)[N]>;
  const [issue] = parsed.error.issues;
  throw invalid(
    [activity, ...(issue?.path ?? [])].map(String).join('.'),
    `what the workflow of a change passes (${issue?.message ?? 'another form'})`,
    'something else',
    'Let the workflow of the change schedule this activity',
  );
}

/** The submission in an input of `openReview` or `rollback`. Fails, without retry, with VALIDATION_ERROR. */
export function readSubmission(sent: unknown): Submission {
  const parsed = Submission.safeParse(sent);
  if (parsed.success) return parsed.data;
  throw invalid(
    'submission',
    'the submission of a change',
    parsed.error.issues.map((i) => `${i.path.join('.')}: ${i.message}`).join('; '),
    'Pass the submission that the review was started with',
  );
}

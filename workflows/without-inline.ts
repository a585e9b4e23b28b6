import type { Submission } from '../policy/contracts/diff';

/** The submission without its inline bytes, which are in the byte store once the review is open. */
export function withoutInline(submission: Submission): Submission {
  const { inline: _inline, ...rest } = submission;
  return rest;
}

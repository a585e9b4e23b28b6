import type { AdmittedAnswer } from '../policy/contracts/answer';
import { lastWords } from '../policy/decide/last-words';

/** By violation id the digest of the person's confirmation that counts: what a retraction must name. `answers`: of a verified review. */
export function confirmationsOf(answers: readonly AdmittedAnswer[], person: string): ReadonlyMap<string, string> {
  const own = lastWords(answers).filter((answer) => answer.person === person && answer.decision === 'confirm');
  return new Map(own.map(({ violationId, digest }) => [violationId, digest]));
}

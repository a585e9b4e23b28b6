import type { Submission } from './diff';
import { typedHash, type Sha256 } from './hash';

/** Hash of what is reviewed: tenant, target, source tool, bytes and metadata. */
export function inputSha(s: Pick<Submission, 'tenant' | 'target' | 'sourceTool' | 'diffSha' | 'metadata'>): Sha256 {
  const { tenant, target, sourceTool, diffSha, metadata } = s;
  return typedHash('input', { tenant, target, sourceTool, diffSha, metadata });
}

/** The id of the review and of its workflow. Submitting the same change again joins the same review, unless `requestKey` differs. */
export function changeId(s: Submission): Sha256 {
  return typedHash('change', { tenant: s.tenant, target: s.target, inputSha: inputSha(s), requestKey: s.requestKey });
}

import { CountersignError } from '../client/errors';
import { canonicalJson } from '../policy/contracts/canonical-json';
import { evidenceChecksum, MAX_EVIDENCE_BYTES, type EvidenceBundle } from '../policy/evidence/bundle';

/** The evidence of a review as it is sent. `preview`: whether the caller may see rows of the target. Throws `too_large`. */
export function bundleText(bundle: EvidenceBundle, preview: boolean): string {
  const text = `${canonicalJson(preview ? bundle : withoutPreview(bundle))}\n`;
  if (Buffer.byteLength(text) <= MAX_EVIDENCE_BYTES) return text;
  throw new CountersignError(
    'too_large',
    `The review has more than ${MAX_EVIDENCE_BYTES} bytes: read it with "countersign export"`,
  );
}

/** Otherwise an agent that may submit and read could read rows of the target in the dry run of a change that it submits. */
function withoutPreview(bundle: EvidenceBundle): EvidenceBundle {
  const rest = { ...bundle, preview: null };
  return { ...rest, sha256: evidenceChecksum(rest) };
}

import type { Context } from 'hono';
import { CountersignError } from '../client/errors';
import { canonicalJson } from '../policy/contracts/canonical-json';
import { evidenceChecksum, MAX_EVIDENCE_BYTES, type EvidenceBundle } from '../policy/evidence/bundle';
import type { RegisteredKey } from '../policy/evidence/key-registry';
import type { GatewayDeps } from './deps';

/**
 * The response with the evidence of a review. Rows of the target are only for a key that may answer: otherwise an agent that may submit
 * and read could read them in the dry run of a change that it submits. Throws `too_large`.
 */
export async function evidenceResponse(
  c: Context,
  reviews: Pick<GatewayDeps['reviews'], 'bundle'>,
  of: { readonly changeId: string; readonly inclusion: boolean; readonly key: RegisteredKey },
): Promise<Response> {
  const preview = of.key.rights.includes('answer');
  const bundle = await reviews.bundle(of.changeId, { inclusion: of.inclusion, preview });
  const text = `${canonicalJson(preview ? bundle : withoutPreview(bundle))}\n`;
  if (Buffer.byteLength(text) <= MAX_EVIDENCE_BYTES) return c.body(text, 200, { 'Content-Type': 'application/json' });
  throw new CountersignError(
    'too_large',
    `The review has more than ${MAX_EVIDENCE_BYTES} bytes: read it with "countersign export"`,
  );
}

function withoutPreview(bundle: EvidenceBundle): EvidenceBundle {
  const rest = { ...bundle, preview: null };
  return { ...rest, sha256: evidenceChecksum(rest) };
}

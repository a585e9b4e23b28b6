import { metadataProblem } from './metadata-problem';
import type { Envelope, Metadata, Submission } from './diff';
import { BASE64, MAX_INLINE_BYTES, NAME, SHA256_HEX } from './limits';
import { json, listOf, optional, recordOf, strict, text, withDefault, type Reader } from './plain';
import type { SupersedeMessage, WithdrawMessage } from './withdrawal';

/** What a review's workflow is sent, as the sandbox reads it. The schemas of the same names are the doors' (`diff.ts`, `withdrawal.ts`). */

export const readName = text(NAME);
export const readSha256 = text(SHA256_HEX);

const anyMetadata = recordOf(json, text({ min: 1, max: 128 }));
const readMetadata: Reader<Metadata> = (value, place, issues) => {
  const before = issues.length;
  const metadata = anyMetadata(value, place, issues) as Metadata;
  const problem = issues.length === before ? metadataProblem(metadata) : null;
  if (problem !== null) issues.push({ field: place, message: problem });
  return metadata;
};

function base64(min: number, max: number): Reader<string> {
  const read = text({ min, max, ...BASE64, expected: `${BASE64.expected}, ${min} to ${max} characters` });
  return (value, place, issues) => {
    const made = read(value, place, issues);
    if (typeof made === 'string' && made.length % 4 !== 0)
      issues.push({ field: place, message: `expected ${BASE64.expected}` });
    return made;
  };
}

const readEnvelope = strict<Envelope>({
  payloadType: text({ min: 1, max: 200 }),
  payload: base64(0, 256 * 1024),
  signatures: listOf(strict({ keyid: text({ min: 1, max: 200 }), sig: base64(1, 4096) }), 1, 4),
});

export const readSubmission = strict<Submission>({
  tenant: readName,
  target: readName,
  sourceTool: readName,
  diffSha: readSha256,
  metadata: withDefault(readMetadata, () => ({})),
  requestKey: withDefault(text({ max: 200 }), () => ''),
  inline: optional(base64(0, Math.ceil(MAX_INLINE_BYTES / 3) * 4)),
  envelope: optional(readEnvelope),
  replyTo: optional(
    strict<NonNullable<Submission['replyTo']>>({
      workflowId: text({ min: 1, max: 1000 }),
      runId: optional(text({ max: 200 })),
    }),
  ),
  supersedes: optional(readSha256),
});

const readActor = text({ min: 1, max: 200 });
const readReason = withDefault(text({ max: 2000 }), () => '');

export const readWithdraw = strict<WithdrawMessage>({ actor: readActor, reason: readReason });
export const readSupersede = strict<SupersedeMessage>({ by: readSha256, actor: readActor, reason: readReason });

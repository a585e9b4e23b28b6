/** Shared by the attacks of the second reader, who wrote them from the documentation and the schema only. */
import { sign } from 'node:crypto';
import type { ReviewStatus } from '../../../../policy/contracts/status';
import { canonicalJson } from '../../../../policy/contracts/canonical-json';
import type { SigningKey } from '../../../../signing/keys';
import type { Attack } from '../../attack';
import { ENDED, ifRefused } from '../../if-refused';
import type { Testbed } from '../../testbed';

export const ACCEPTED = 'accepted';

export const named = (name: string, run: Attack['run']): Attack => ({ name: `second reader: ${name}`, run });

/** Sends answers; the code of each, or `closed` if the review ended first. */
export const send = (testbed: Testbed, { changeId }: ReviewStatus, answers: readonly unknown[]): Promise<string[]> =>
  ifRefused(testbed.update(changeId, answers), ENDED, ['closed']);

export async function paidOut(testbed: Testbed, changeId: string, withinMs = 6_000): Promise<boolean> {
  await testbed.waitForRow(changeId, ({ kind }) => kind === 'closed', withinMs);
  return (await testbed.rows(changeId)).some(({ kind, body }) => kind === 'effect' && body['state'] === 'COMMITTED');
}

export const at = (ms: number): string => new Date(Date.now() + ms).toISOString();

/** An envelope around any statement, made without our code: our own would refuse to sign most of these. */
export function envelope(kind: string, subject: object[], predicate: object, { keyId, privateKey }: SigningKey) {
  const payloadType = 'application/vnd.in-toto+json';
  const predicateType = `https://countersign.dev/${kind}/v1`;
  const text = canonicalJson({ _type: 'https://in-toto.io/Statement/v1', subject, predicateType, predicate } as never);
  const signed = `DSSEv1 ${payloadType.length} ${payloadType} ${Buffer.byteLength(text)} ${text}`;
  const sig = sign(null, Buffer.from(signed), privateKey).toString('base64');
  return { payloadType, payload: Buffer.from(text).toString('base64'), signatures: [{ keyid: keyId, sig }] };
}

/** After the attack alice confirms a refund as usual. Returns the first problem that an honest user sees, or null. */
export async function honestEnd(testbed: Testbed, status: ReviewStatus): Promise<string | null> {
  const { changeId } = status;
  const shown = await testbed.cli('show', changeId);
  if (!shown.out.includes('guardian.orders')) return `show fails: ${shown.err.slice(0, 300)}`;
  const codes = await send(testbed, status, testbed.sign(status, testbed.keyOf('alice')));
  if (codes.some((code) => code !== ACCEPTED)) return `alice's answer gives ${codes.join(', ')}`;
  return verifiedEnd(testbed, changeId);
}

export async function verifiedEnd(testbed: Testbed, changeId: string): Promise<string | null> {
  const result = await testbed.ended(changeId).catch((error: unknown) => ({ state: String(error), verified: false }));
  await testbed.baseline();
  if (result.state !== 'COMMITTED' || result.verified !== true)
    return `an approved change is ${result.state}, verified: ${String(result.verified)}`;
  const file = await testbed.exported(changeId).catch((error: unknown) => error as Error);
  if (file instanceof Error) return file.message;
  const { code, out } = await testbed.verify(file);
  return code === 0 ? null : `verify exits with ${code}: ${out.slice(0, 600)}`;
}

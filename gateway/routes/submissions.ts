import { Hono } from 'hono';
import { z } from 'zod';
import { CountersignError } from '../../client/errors';
import { parseJsonBody } from '../../client/http-body';
import { parseInput } from '../../client/parse';
import { changeId, inputSha } from '../../policy/contracts/change-id';
import { Submission, MAX_DIFF_BYTES, Sha256Hex } from '../../policy/contracts/diff';
import type { RegisteredKey } from '../../policy/evidence/key-registry';
import { openEnvelope } from '../../policy/evidence/dsse';
import { verifyOpened } from '../../signing/verify-envelope';
import { MAX_JSON_BYTES, NOTHING_DONE, type Callers } from '../callers';
import type { GatewayDeps } from '../deps';
import { storeCall } from '../http-errors';
import { tenantOfReview } from '../review-tenant';
import { sha256Hex } from '../../policy/contracts/hash';

/** POST /v1/reviews */
export function submissionRoutes({ reviews, store, titleOf }: GatewayDeps, callers: Callers): Hono {
  const routes = new Hono();
  routes.post('/', async (c) => {
    const caller = await callers.authenticate(c, MAX_JSON_BYTES, 'submit');
    const submission = parseInput(Submission, parseJsonBody(caller.body), NOTHING_DONE);
    const { tenant, diffSha, inline, supersedes } = submission;
    callers.assertTenant(caller, tenant);
    assertSignedBy(submission, caller.key);
    assertNoReply(submission);
    if (supersedes !== undefined && (await tenantOfReview(reviews, supersedes)) !== tenant)
      throw new CountersignError('not_found', `supersedes: no review ${supersedes}`, { field: 'supersedes' });
    if (inline === undefined && !(await storeCall(() => store.has(tenant, diffSha))))
      throw new CountersignError('diff_missing', `diffSha: not in the store; PUT /v1/diffs/${diffSha} first`, {
        field: 'diffSha',
      });
    const submitted = await reviews.start(submission, { title: (await titleOf?.(submission)) ?? null });
    return c.json(submitted, submitted.preflight === 'pending' ? 202 : 200);
  });
  return routes;
}

/** Binds the submission to the key that sent it: no one can submit unsigned or in the name of another key. */
function assertSignedBy(submission: Submission, key: RegisteredKey): void {
  const refuse = (message: string): CountersignError =>
    new CountersignError('not_verified', `envelope: ${message}`, { field: 'envelope' });
  if (submission.envelope === undefined)
    throw refuse('expected the submission statement, signed by the key that sends it; got none');
  const verified = verifyOpened(openEnvelope('submission', submission.envelope), key, 'submission');
  if (!verified.ok) throw refuse(verified.message);
  const { predicate } = verified;
  if (predicate.changeId !== changeId(submission) || predicate.inputSha !== inputSha(submission))
    throw refuse('was signed for another change');
}

/** `replyTo` signals a workflow that the sender chooses. It is only for senders who may signal workflows themselves. */
function assertNoReply(submission: Submission): void {
  if (submission.replyTo === undefined) return;
  throw new CountersignError(
    'invalid_input',
    'replyTo: only for requesters that are workflows and start reviews through Temporal. Ask for the result instead',
    { field: 'replyTo' },
  );
}

const DiffPath = z.object({ sha256: Sha256Hex });

/** PUT /v1/diffs/:sha256 */
export function diffRoutes({ store }: GatewayDeps, callers: Callers): Hono {
  const routes = new Hono();
  routes.put('/:sha256', async (c) => {
    const caller = await callers.authenticate(c, MAX_DIFF_BYTES, 'submit');
    const { sha256: digest } = parseInput(DiffPath, c.req.param(), NOTHING_DONE);
    const tenant = callers.tenantOf(c, caller);
    const { body } = caller;
    if (body.length === 0)
      throw new CountersignError('invalid_input', 'body: expected at least one byte, got 0', { field: 'body' });
    const actual = sha256Hex(body);
    if (actual !== digest)
      throw new CountersignError('invalid_input', `sha256: the path says ${digest}, the body hashes to ${actual}`, {
        field: 'sha256',
      });
    await storeCall(() => store.put(tenant, body));
    return c.json({ diffSha: digest, bytes: body.length }, 201);
  });
  return routes;
}

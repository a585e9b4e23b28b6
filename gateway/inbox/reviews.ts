import { Hono, type Context } from 'hono';
import { z } from 'zod';
import { CountersignError } from '../../client/errors';
import { parseInput } from '../../client/parse';
import { Name, Sha256Hex } from '../../policy/contracts/diff';
import { SubjectId } from '../../policy/contracts/subject-id';
import type { InboxPage } from '../../storage/inbox/review-list';
import type { AnswerRelay } from '../answer-relay';
import { MAX_JSON_BYTES, NOTHING_DONE } from '../callers';
import type { GatewayDeps } from '../deps';
import { evidenceResponse } from '../evidence-response';
import type { GatewayMetrics } from '../metrics';
import { noReview, tenantOfReview } from '../review-tenant';
import { RELAYED_ONLY, SignedAnswers } from '../routes/answers';
import type { Precedent, ReviewList, ReviewListItem } from './api';
import type { InboxDeps } from './deps';
import { requestBody } from './request-body';
import { maySee, type Session, type Sessions } from './session';
import type { Viewers } from './viewer';

/** Text of a filter. PostgreSQL has no text with NUL. */
const Text = z
  .string()
  .min(1)
  .max(200)
  .refine((text) => !text.includes('\0'), 'expected a text without NUL');
const ListQuery = z.strictObject({
  tab: z.enum(['turn', 'waiting', 'all']),
  tool: Text.optional(),
  rule: Text.optional(),
  agent: SubjectId.optional(),
  tenant: Name.optional(),
  minAge: z
    .string()
    .regex(/^[0-9]{1,9}$/, 'expected seconds')
    .transform(Number)
    .optional(),
  outcome: Text.optional(),
  search: Text.min(2).optional(),
  cursor: Text.optional(),
});
const RuleQuery = z.strictObject({ rule: Text });
const Differences = z.strictObject({
  differences: z
    .array(z.strictObject({ name: z.string().min(1).max(200), detail: z.string().max(500) }))
    .min(1)
    .max(20),
});

export interface ReviewRouteDeps extends Pick<InboxDeps, 'lists' | 'keys' | 'precedents' | 'recordDifferences'> {
  readonly reviews: Pick<GatewayDeps['reviews'], 'bundle' | 'tenantOf'>;
  readonly sessions: Sessions;
  readonly viewers: Viewers;
  readonly relay: Pick<AnswerRelay, 'send' | 'take' | 'refused'>;
  readonly metrics: GatewayMetrics;
}

/** W2 for sessions: lists and reviews of the tenants of the session's key, as the ledger has them. */
export function inboxReviewRoutes(deps: ReviewRouteDeps): Hono {
  const { sessions, relay, reviews } = deps;
  const routes = new Hono();
  routes.get('/', async (c) => {
    const session = await sessions.of(c);
    return c.json(await listOf(deps, session, parseInput(ListQuery, c.req.query(), NOTHING_DONE)));
  });
  routes.get('/:id/bundle', async (c) => {
    const { session, changeId } = await reviewOf(deps, c);
    return await evidenceResponse(c, reviews, { changeId, inclusion: false, key: session.key });
  });
  routes.get('/:id/precedents', async (c) => {
    const { changeId, tenant } = await reviewOf(deps, c);
    const { rule } = parseInput(RuleQuery, c.req.query(), NOTHING_DONE);
    const found: readonly Precedent[] = await deps.precedents({ tenant, rule, except: changeId });
    return c.json(found);
  });
  routes.post('/:id/answers', async (c) => {
    const { session, changeId, tenant } = await reviewOf(deps, c);
    if (!maySee(session, tenant, 'answer'))
      throw new CountersignError('not_eligible', `Key ${session.key.keyId} lacks the right "answer"`);
    const { answers } = await requestBody(c, SignedAnswers, { max: MAX_JSON_BYTES, whatToDo: RELAYED_ONLY });
    return c.json(await relay.send(changeId, session.key.keyId, answers));
  });
  routes.post('/:id/differences', async (c) => {
    const { session, changeId } = await reviewOf(deps, c);
    const { differences } = await requestBody(c, Differences);
    relay.take(session.key.keyId, 1);
    relay.refused(session.key.keyId, 1);
    await deps.recordDifferences(changeId, { person: session.person, keyId: session.key.keyId, differences });
    return c.body(null, 204);
  });
  return routes;
}

/** Throws `not_found` for a review of another tenant, as for one that does not exist. */
async function reviewOf(
  { sessions, reviews, metrics }: ReviewRouteDeps,
  c: Context,
): Promise<{ readonly session: Session; readonly changeId: string; readonly tenant: string }> {
  const session = await sessions.of(c);
  const changeId = parseInput(Sha256Hex, c.req.param('id'), NOTHING_DONE);
  const tenant = await tenantOfReview(reviews, changeId);
  if (tenant === null) throw new CountersignError('not_found', noReview(changeId));
  if (maySee(session, tenant)) return { session, changeId, tenant };
  throw metrics.refusal('other_tenant', 'not_found', noReview(changeId));
}

async function listOf(
  deps: ReviewRouteDeps,
  session: Session,
  { minAge, agent, ...query }: z.infer<typeof ListQuery>,
): Promise<ReviewList> {
  const viewer = await deps.viewers.of(session);
  const keysOf = async (person: string): Promise<string[]> =>
    (await deps.keys()).keys.filter(({ subject }) => subject.id === person).map(({ keyId }) => keyId);
  const filter = {
    ...query,
    minAgeSeconds: minAge,
    agent: agent === undefined ? undefined : { person: agent, keyIds: await keysOf(agent) },
  };
  const [page, turnCount] = await Promise.all([
    pageOf(() => deps.lists.page(viewer, filter)),
    deps.lists.turnCount(viewer),
  ]);
  return { items: page.items.map(toItem), next: page.next, turnCount };
}

async function pageOf(read: () => Promise<InboxPage>): Promise<InboxPage> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof RangeError)
      throw new CountersignError('invalid_input', `${error.message}. ${NOTHING_DONE}`, { field: 'cursor' });
    throw error;
  }
}

/** Without what the page does not show. */
function toItem(review: InboxPage['items'][number]): ReviewListItem {
  const { changeId, summary, tenant, target, sourceTool, requester, state, reason } = review;
  const { openedAt, deadlineAt, highestSeverity, pending, waitingFor } = review;
  const of = { changeId, title: summary, tenant, target, sourceTool, requester, state, reason };
  return { ...of, openedAt, deadlineAt, highestSeverity, pending, waitingForYou: waitingFor };
}

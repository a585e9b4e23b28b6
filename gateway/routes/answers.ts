import { Hono } from 'hono';
import { z } from 'zod';
import { parseJsonBody } from '../../client/http-body';
import { parseInput } from '../../client/parse';
import { AnswerMessage, MAX_ANSWERS_PER_MESSAGE } from '../../policy/contracts/answer';
import { Envelope } from '../../policy/contracts/diff';
import { SpendMessage } from '../../policy/contracts/spent';
import { WithdrawMessage } from '../../policy/contracts/withdrawal';
import { assessWithdrawal, type RefusedWithdrawal } from '../../signing/assess-withdrawal';
import { MAX_JSON_BYTES, NOTHING_DONE, type Callers } from '../callers';
import type { GatewayDeps } from '../deps';
import type { AnswerRelay } from '../answer-relay';

/** What a request with signed answers contains. */
export const SignedAnswers = AnswerMessage.extend({ answers: z.array(Envelope).min(1).max(MAX_ANSWERS_PER_MESSAGE) });
export const RELAYED_ONLY = 'The gateway relays signed envelopes only';

/** POST /v1/reviews/:id/answers and /v1/reviews/:id/withdraw, which relay signed statements; and /v1/reviews/:id/spent */
export function answerRoutes(deps: GatewayDeps, callers: Callers, relay: AnswerRelay): Hono {
  const { reviews } = deps;
  const routes = new Hono();
  routes.post('/:id/answers', async (c) => {
    const caller = await callers.authenticate(c, MAX_JSON_BYTES, 'answer');
    const { answers } = parseInput(SignedAnswers, parseJsonBody(caller.body), RELAYED_ONLY);
    const changeId = await callers.reviewOf(c, caller);
    return c.json(await relay.send(changeId, caller.key.keyId, answers));
  });
  routes.post('/:id/withdraw', async (c) => {
    const caller = await callers.authenticate(c, MAX_JSON_BYTES, 'submit', 'answer');
    const message = parseInput(WithdrawMessage, parseJsonBody(caller.body), NOTHING_DONE);
    const changeId = await callers.reviewOf(c, caller);
    const { keyId } = caller.key;
    relay.take(keyId, 1);
    const refused = await refusedWithdrawal(deps, changeId, message);
    if (refused === null) return c.json(await reviews.sendWithdrawal(changeId, message));
    relay.refused(keyId, 1);
    return c.json(await deps.answers.recordRefusedWithdrawal(changeId, message, refused));
  });
  routes.post('/:id/spent', async (c) => {
    const caller = await callers.authenticate(c, MAX_JSON_BYTES, 'submit');
    const { nonce } = parseInput(SpendMessage, parseJsonBody(caller.body), NOTHING_DONE);
    const changeId = await callers.reviewOf(c, caller);
    return c.json(await reviews.spend(changeId, nonce, caller.key.keyId));
  });
  return routes;
}

/** Why a withdrawal is refused before it becomes a message of the workflow; null to relay it. */
async function refusedWithdrawal(
  deps: GatewayDeps,
  changeId: string,
  message: WithdrawMessage,
): Promise<RefusedWithdrawal | null> {
  const scope = await deps.answers.withdrawalScopeOf(changeId, message);
  if (scope === null) return null;
  const { find } = await deps.keys();
  const assessed = assessWithdrawal('withdraw', message, scope, find, new Date(deps.now()).toISOString());
  return assessed.code === 'accepted' ? null : assessed;
}

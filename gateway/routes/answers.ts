import { Hono } from 'hono';
import { z } from 'zod';
import { CountersignError } from '../../client/errors';
import { parseJsonBody } from '../../client/http-body';
import { parseInput } from '../../client/parse';
import { AnswerMessage, type AnswerResults } from '../../policy/contracts/answer';
import { Envelope } from '../../policy/contracts/diff';
import { SpendMessage } from '../../policy/contracts/spent';
import { WithdrawMessage } from '../../policy/contracts/withdrawal';
import { judgeAnswer } from '../../signing/judge-answer';
import { judgeWithdrawal, type RefusedWithdrawal } from '../../signing/judge-withdrawal';
import { AnswerLimits } from '../answer-limits';
import { NOTHING_DONE, type Callers } from '../callers';
import type { GatewayDeps, RefusedBeforeRelay } from '../deps';
import { MAX_JSON_BYTES } from '../limits';
import type { GatewayMetrics } from '../metrics';

const SignedAnswers = AnswerMessage.extend({ answers: z.array(Envelope).min(1).max(50) });

/** POST /v1/reviews/:id/answers and /v1/reviews/:id/withdraw, which relay signed statements; and /v1/reviews/:id/spent */
export function answerRoutes(deps: GatewayDeps, callers: Callers, metrics: GatewayMetrics): Hono {
  const { reviews } = deps;
  const limits = deps.answerLimits ?? new AnswerLimits();
  const routes = new Hono();
  const take = (keyId: string, messages: number): void => {
    if (limits.take(keyId, messages, deps.now())) return;
    metrics.refused('answer_limit');
    throw new CountersignError('too_many_requests', 'Too many answers, or too many invalid ones, in five minutes');
  };
  routes.post('/:id/answers', async (c) => {
    const caller = await callers.authenticate(c, MAX_JSON_BYTES, 'answer');
    const todo = 'The gateway relays signed envelopes only';
    const { answers } = parseInput(SignedAnswers, parseJsonBody(caller.body), todo);
    const changeId = await callers.reviewOf(c, caller);
    const { keyId } = caller.key;
    take(keyId, answers.length);
    const { valid, refused } = await checkAnswers(deps, changeId, answers);
    limits.refused(keyId, refused.length, deps.now());
    refused.forEach(() => metrics.refused('answer'));
    const results: AnswerResults = refused.length === 0 ? {} : await deps.answers.recordRefused(changeId, refused);
    // Relayed last: the results of valid answers replace those of refused ones that name the same violation.
    return c.json(valid.length === 0 ? results : { ...results, ...(await reviews.answer(changeId, valid)) });
  });
  routes.post('/:id/withdraw', async (c) => {
    const caller = await callers.authenticate(c, MAX_JSON_BYTES, 'submit', 'answer');
    const message = parseInput(WithdrawMessage, parseJsonBody(caller.body), NOTHING_DONE);
    const changeId = await callers.reviewOf(c, caller);
    const { keyId } = caller.key;
    take(keyId, 1);
    const refused = await refusedWithdrawal(deps, changeId, message);
    if (refused === null) return c.json(await reviews.sendWithdrawal(changeId, message));
    limits.refused(keyId, 1, deps.now());
    metrics.refused('answer');
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

/**
 * Verifies signature, key, group, fingerprint and time as the review does when it admits an answer, so that only answers that
 * would count become messages of the workflow. Admission and the committer check them again.
 */
async function checkAnswers(
  deps: GatewayDeps,
  changeId: string,
  answers: Envelope[],
): Promise<{ readonly valid: Envelope[]; readonly refused: readonly RefusedBeforeRelay[] }> {
  const scope = await deps.answers.scopeOf(changeId);
  if (scope === null) return { valid: answers, refused: [] };
  const { find } = await deps.keys();
  const at = new Date(deps.now()).toISOString();
  const valid: Envelope[] = [];
  const refused: RefusedBeforeRelay[] = [];
  for (const sent of answers) {
    const judged = judgeAnswer(sent, scope, find, at);
    if (judged.code === 'accepted') valid.push(sent);
    else refused.push({ sent, code: judged.code, message: judged.message, violationId: judged.violationId });
  }
  return { valid, refused };
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
  const judged = judgeWithdrawal('withdraw', message, scope, find, new Date(deps.now()).toISOString());
  return judged.code === 'accepted' ? null : judged;
}

import { Hono } from 'hono';
import { z } from 'zod';
import { parseJsonBody } from '../../client/http-body';
import { parseInput } from '../../client/parse';
import { AnswerMessage } from '../../policy/contracts/answer';
import { Envelope } from '../../policy/contracts/diff';
import { WithdrawMessage } from '../../policy/contracts/withdrawal';
import type { RegisteredKey } from '../../policy/evidence/key-registry';
import { NOTHING_DONE, type Callers } from '../callers';
import type { GatewayDeps } from '../deps';
import { MAX_JSON_BYTES } from '../limits';

const SignedAnswers = AnswerMessage.extend({ answers: z.array(Envelope).min(1).max(50) });
const Withdrawal = WithdrawMessage.omit({ actor: true });

/** POST /v1/reviews/:id/answers and /v1/reviews/:id/withdraw */
export function answerRoutes({ reviews }: GatewayDeps, callers: Callers): Hono {
  const routes = new Hono();
  routes.post('/:id/answers', async (c) => {
    const caller = await callers.authenticate(c, MAX_JSON_BYTES);
    const todo = 'The gateway relays signed envelopes only';
    const { answers } = parseInput(SignedAnswers, parseJsonBody(caller.body), todo);
    const { changeId } = await callers.reviewOf(c, caller);
    return c.json(await reviews.answer(changeId, answers));
  });
  routes.post('/:id/withdraw', async (c) => {
    const caller = await callers.authenticate(c, MAX_JSON_BYTES);
    const { reason } = parseInput(Withdrawal, parseJsonBody(caller.body), NOTHING_DONE);
    const { changeId } = await callers.reviewOf(c, caller);
    return c.json(await reviews.withdraw(changeId, { actor: actorOf(caller.key), reason }));
  });
  return routes;
}

function actorOf({ subject }: RegisteredKey): string {
  return `${subject.type}:${subject.id}`.slice(0, 200);
}

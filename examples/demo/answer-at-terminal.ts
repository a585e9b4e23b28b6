import { createInterface } from 'node:readline/promises';
import { CountersignError } from '../../client/errors';
import type { GatewayClient } from '../../client/gateway-client';
import { createPrinter, wantsColor } from '../../cli/printer';
import type { ReviewStatus } from '../../policy/contracts/status';
import { askPerson, type GivenAnswer } from './ask-person';

const LOOK_MS = 1_000;

/**
 * Asks at the terminal, and passes each answer on. Stops asking when the review no longer waits, because it was answered in the
 * inbox.
 */
export async function answerAtTerminal(
  reviews: GatewayClient,
  { changeId }: ReviewStatus,
  send: (status: ReviewStatus, answer: GivenAnswer) => Promise<void>,
): Promise<void> {
  const review = await reviews.review(changeId);
  if (review.status.state !== 'INTERVENTION_REQUIRED') return;
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const ended = new Promise<null>((resolve) => terminal.once('close', () => resolve(null)));
  const ask = (question: string): Promise<string | null> => Promise.race([terminal.question(question), ended]);
  const looking = setInterval(() => void closeIfAnswered(reviews, changeId, () => terminal.close()), LOOK_MS);
  try {
    const out = createPrinter(process.stderr, wantsColor(process.stderr, process.env, true));
    for await (const answer of askPerson(ask, out, review)) await send(review.status, answer);
  } finally {
    clearInterval(looking);
    terminal.close();
  }
}

async function closeIfAnswered(reviews: GatewayClient, changeId: string, close: () => void): Promise<void> {
  try {
    const { state } = await reviews.status(changeId);
    if (state !== 'INTERVENTION_REQUIRED') close();
  } catch (error) {
    if (!(error instanceof CountersignError)) throw error; // Not available now: it is looked at again.
  }
}

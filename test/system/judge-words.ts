import {
  answering,
  answerTo,
  completion,
  sendJson,
  startJudgeServer,
  type ChatRequest,
  type Handler,
  type JudgeServer,
} from '../support/judge-server';
import { judgeEntry, SHOP, shopBundle } from '../support/shop-bundle';
import { startSystem, type System } from '../support/system';

/** The judge's behavior for a diff that contains the word. It allows every other diff. */
const WORDS: Readonly<Record<string, Handler>> = {
  judge_concern: (response, request) => sendJson(response, 200, completion(request.model, concern(request))),
  judge_hangs: () => {},
  judge_401: (response) => sendJson(response, 401, { error: { message: 'who are you' } }),
};

export const JUDGE_WHY = 'The name of the item contradicts the change';

function concern(request: ChatRequest): object {
  const rows = request.policyIds.map((policyId, i) =>
    i === 0
      ? { policyId, result: 'violated', severity: 'WARN', lines: [1], quote: 'set name', why: JUDGE_WHY }
      : { policyId, result: 'clear', severity: 'WARN', lines: [], quote: '', why: '' },
  );
  return answerTo(request, { policyResults: rows });
}

/** A loopback judge whose behavior is selected by a word in the diff. */
export async function startWordJudge(): Promise<JudgeServer> {
  return await startJudgeServer((response, request, seen) => {
    const word = Object.keys(WORDS).find((w) => request.message.includes(w));
    return (WORDS[word ?? ''] ?? answering())(response, request, seen);
  });
}

/** The shop with that judge. `bundle` adds to the policy. */
export async function startJudgedShop(
  name: string,
  { validators = '', ...bundle }: Parameters<typeof shopBundle>[0] = {},
): Promise<{ readonly judge: JudgeServer; readonly system: System; readonly stop: () => Promise<void> }> {
  const judge = await startWordJudge();
  const bundleText = shopBundle({ ...bundle, validators: `${judgeEntry()}${validators}` });
  const system = await startSystem({ ...SHOP, name, bundleText, judge });
  return {
    judge,
    system,
    async stop() {
      await system.close();
      await judge.stop();
    },
  };
}

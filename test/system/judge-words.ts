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
import { live } from '../support/live';
import { useSystem, type System } from '../support/system';

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

/** A loopback judge for the tests of a file, whose behavior is selected by a word in the diff. */
export function useWordJudge(): JudgeServer {
  let started: JudgeServer | undefined;
  beforeAll(async () => {
    started = await startJudgeServer((response, request, seen) => {
      const word = Object.keys(WORDS).find((w) => request.message.includes(w));
      return (WORDS[word ?? ''] ?? answering())(response, request, seen);
    });
  });
  afterAll(() => started?.stop());
  return live(() => started);
}

/** The shop with that judge. `bundle` adds to the policy. */
export function useJudgedShop(
  name: string,
  { validators = '', ...bundle }: Parameters<typeof shopBundle>[0] = {},
): { readonly judge: JudgeServer; readonly system: System } {
  const judge = useWordJudge();
  const bundleText = shopBundle({ ...bundle, validators: `${judgeEntry()}${validators}` });
  return { judge, system: useSystem({ ...SHOP, name, bundleText, judge }) };
}

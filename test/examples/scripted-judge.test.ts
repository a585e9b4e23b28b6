import { SCRIPTED_JUDGE, startScriptedJudge, type JudgeScript } from '../../examples/demo/scripted-judge';
import type { Judged } from '../../activities/review-types';
import { judgeWorld } from '../activities/judge/judge-world';

async function ask(script: JudgeScript, diff: string): Promise<{ judged: Judged; record: unknown }> {
  const judge = await startScriptedJudge({ script });
  try {
    const world = judgeWorld(judge);
    const judged = await world.ask(world.change(diff, { settings: { model: SCRIPTED_JUDGE } }));
    expect(judge.asked()).toBe(1);
    return { judged, record: world.predicates[0]?.record };
  } finally {
    await judge.stop();
  }
}

describe('startScriptedJudge', () => {
  it('answers in the strict response format under its own model name', async () => {
    const { judged, record } = await ask(() => ({}), 'UPDATE orders SET note = 1 WHERE id = 7;');
    expect(judged.result).toMatchObject({ status: 'ALLOW', details: { model: 'scripted-judge' } });
    expect(record).toMatchObject({ calls: [{ returnedModel: 'scripted-judge' }] });
  });

  it('reports the concern that its script finds', async () => {
    const quote = '   SET credit_limit = 50000';
    const concern = { policyId: 'money_or_balance', lines: [2], quote, why: 'Raises a credit limit tenfold.' };
    const script: JudgeScript = (message) => (message.includes(quote) ? { concerns: [concern] } : {});
    const { judged } = await ask(script, `UPDATE customers\n${quote}\n WHERE email = 'a@example.com';`);
    expect(judged.result).toMatchObject({
      status: 'WARN',
      reasonCode: 'judge_warn',
      details: { policies: { money_or_balance: { quoteVerified: true } } },
    });
    expect(judged.result.evidenceRefs).toEqual([expect.stringMatching(/#L2:C1-L2:C28$/)]);
    expect(judged.result.reason).toBe(
      'Judge scripted-judge: has a concern\nmoney_or_balance (violated): Raises a credit limit tenfold.',
    );
  });

  it('fails the request if the script names an unknown policy', async () => {
    await expect(ask(() => ({ concerns: [{ policyId: 'no_such', why: 'x' }] }), 'SELECT 1;')).rejects.toMatchObject({
      type: 'ErrValidatorBackend',
      message: expect.stringContaining('bad_request'),
    });
  });
});

import { fromHistoryPlan, toHistoryPlan } from '../../../policy/contracts/history-plan';
import { fromReported, toReported } from '../../../policy/decide/reported';
import { buildViolations, matchPolicies } from '../../../policy/decide/violations';
import { assembleFindings } from '../../../policy/decide/findings';
import { CHANGE_ID, JUDGE, planOf, planValidator } from '../../support/plan';

const SECRET = 'a setting that the history must not contain';
const plan = planOf([
  planValidator('guardian.rows', { needsStaging: true, config: { maxRows: SECRET } }),
  planValidator('guardian.split', { kind: 'attested', unit: 'builtin', implementation: 'aggregate' }),
  planValidator('safety.parse', { config: { list: [SECRET] } }),
  { ...JUDGE, config: { model: 'small', prompt: SECRET } },
]);
const allow = (id: string, more: object = {}) => ({
  validator_id: id,
  status: 'ALLOW',
  reason: '',
  evidenceRefs: [],
  ...more,
});
const block = { validator_id: 'guardian.rows', status: 'BLOCK', reason: 'too many', evidenceRefs: ['diff:1'] };

describe('the plan in a history', () => {
  it('has each validator without its hash, and of the settings only the model of the judge', () => {
    const text = JSON.stringify(toHistoryPlan(plan));
    expect(text).not.toContain(SECRET);
    for (const { logic_hash } of plan.validators) expect(text).not.toContain(logic_hash);
    const read = fromHistoryPlan(JSON.parse(text) as ReturnType<typeof toHistoryPlan>);
    expect(read.validators.map(({ id, config }) => [id, config])).toEqual([
      ['guardian.rows', {}],
      ['guardian.split', {}],
      ['safety.parse', {}],
      [JUDGE.id, { model: 'small' }],
    ]);
  });

  it('gives the same findings, except for the hashes of validators, and the same violations as the whole plan', () => {
    const read = fromHistoryPlan(toHistoryPlan(plan));
    const results = Object.fromEntries(
      plan.validators.map(({ id }) => [id, id === 'guardian.rows' ? block : allow(id)]),
    );
    const outcomes = new Map(Object.entries(results).map(([id, result]) => [id, { kind: 'result', result } as const]));
    const short = assembleFindings({ plan: read, changeId: CHANGE_ID, outcomes });
    const whole = assembleFindings({ plan, changeId: CHANGE_ID, outcomes });
    expect(short).toEqual(whole.map(({ logic_hash: _hash, ...finding }) => finding));
    const triggered = matchPolicies(read, short, null);
    expect(triggered).toEqual(matchPolicies(plan, whole, null));
    const context = { planHash: CHANGE_ID, inputSha: CHANGE_ID, triggered, callbackResults: {}, requester: 'dana' };
    const violations = buildViolations({ ...context, plan: read, findings: short });
    expect(violations.map(({ validatorId }) => validatorId)).toEqual(['guardian.rows']);
    expect(violations).toEqual(buildViolations({ ...context, plan, findings: whole }));
  });

  it('is refused if a validator refers to traits that it does not have', () => {
    const forged = { ...toHistoryPlan(plan), traits: [] };
    expect(() => fromHistoryPlan(forged)).toThrow('The plan has no traits 0 for guardian.rows');
  });
});

describe('reported results', () => {
  const results = {
    'safety.parse': allow('safety.parse', { details: { statements: 1 } }),
    'guardian.rows': block,
    'guardian.split': allow('guardian.split', { reasonCode: 1 }),
  };

  it('are positions for ALLOW, and whole for all others, also for an ALLOW that breaks the contract', () => {
    expect(toReported(plan, CHANGE_ID, results)).toEqual({
      allowed: [2],
      results: { 'guardian.rows': block, 'guardian.split': results['guardian.split'] },
    });
  });

  it('have the status of the results that they were made from', () => {
    const read = fromReported(plan, toReported(plan, CHANGE_ID, results));
    const statuses = (of: Readonly<Record<string, unknown>>) => {
      const outcomes = new Map(Object.entries(of).map(([id, result]) => [id, { kind: 'result', result } as const]));
      return assembleFindings({ plan, changeId: CHANGE_ID, outcomes }).map((f) => [f.validator_id, f.status]);
    };
    expect(statuses(read)).toEqual(statuses(results));
  });

  it('allow no validator at a position that the plan does not have', () => {
    expect(fromReported(plan, { allowed: [-1, 4, 0.5], results: {} })).toEqual({});
  });
});

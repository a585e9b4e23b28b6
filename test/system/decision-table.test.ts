/**
 * The table of the checklist against the workflow, on real servers: one validator says the status, one policy is for it, and
 * a person answers or does not. Combinations that no bundle can tell apart share a review: a policy for a SAFETY validator is
 * refused when the bundle is compiled, none is looked at for a finding that is ALLOW, and what a person would say where nobody
 * is to be asked reaches nobody.
 */
import { z } from 'zod';
import type { ReviewOutcome } from '../../policy/contracts/outcome';
import { defineCallback } from '../../policy/rules/callback';
import { defineRule, type RuleOutcome } from '../../policy/rules/define';
import { metadataEvidence } from '../../policy/contracts/facts';
import { COMBINATIONS, expected, nameOf, type Combination } from '../support/decision-table';
import { heard, pause, startSystem, statusWhenHeard, type System } from '../support/system';
import { update } from './scenarios';

/** Reviews that are open at once. */
const OPEN = 12;

/** Everything but the status: what a plan says beforehand. */
const lane = ({ human }: Combination): string => (human === 'confirm' || human === 'reject' ? 'answered' : human);
const ruleOf = (c: Combination): string =>
  c.class === 'SAFETY'
    ? 'table_safety'
    : `table_${c.requiresConfirmation ? 'asks' : 'alone'}_${c.callback}_${lane(c)}`.toLowerCase();
const RULES = new Map(COMBINATIONS.map((c) => [ruleOf(c), c]));
const reviewOf = (c: Combination): string => {
  if (c.status === 'ALLOW') return `${c.class} ALLOW`;
  return expected(c).asked ? nameOf(c) : `${ruleOf(c)} ${c.status}`;
};
const REVIEWS = [...new Map(COMBINATIONS.map((c) => [reviewOf(c), c])).entries()];

function said(status: unknown, inputSha: string): RuleOutcome {
  const fires = { fires: true, reason: 'As the case says', evidence: [metadataEvidence(inputSha, '/status')] } as const;
  switch (status) {
    case 'WARN':
    case 'BLOCK':
      return { ...fires, status };
    case 'ERROR':
      return { ...fires, errorClass: 'ErrValidatorBackend' };
    default:
      return { fires: false };
  }
}

const extension = {
  validators: [...RULES.keys()].map(
    (name) =>
      defineRule({
        name,
        pack: 'table-cases',
        logicRevision: 1,
        config: z.strictObject({}),
        sourceTools: ['SQLDryRun'],
        reads: ['metadata'],
        defaultLevel: 'confirm',
        why: 'It says what the case says.',
        docs: 'docs/rules.md',
        apply: ({ diff, inputSha }) => said(diff.metadata['rule'] === name ? diff.metadata['status'] : null, inputSha),
      }) as never,
  ),
  callbacks: [
    defineCallback({ key: 'passed', version: '1', evaluate: () => ({ passed: true, message: null }) }),
    defineCallback({ key: 'failed', version: '1', evaluate: () => ({ passed: false, message: 'no' }) }),
    defineCallback({
      key: 'threw',
      version: '1',
      evaluate: () => {
        throw new Error('The callback broke');
      },
    }),
  ],
};

const BUNDLE = `
version: 1
name: decision table
domain: tests
provider: none
model: none
targets: { shop: { development: true, sourceTools: [SQLDryRun] } }
groups: { dba: { members: [alice] }, nobody: { members: [carol] } }
defaultGroup: dba
validators:
${[...RULES].map(([rule, c]) => `  - { rule: ${rule}, level: ${c.class === 'SAFETY' ? 'forbid' : 'confirm'} }`).join('\n')}
policies:
${[...RULES]
  .filter(([, c]) => c.class === 'POLICY')
  .map(([rule, c]) =>
    [
      `  - { key: ${rule}, name: One case, match: { validatorIds: [guardian.${rule}] }`,
      `requiresConfirmation: ${c.requiresConfirmation}`,
      ...(c.callback === 'none' ? [] : [`callback: { key: ${c.callback}, version: '1' }`]),
      ...(c.human === 'noHandler' ? ['group: nobody'] : []),
      `deadline: ${c.human === 'timeout' ? '1s' : '1h'} }`,
    ].join(', '),
  )
  .join('\n')}
`;

interface Did {
  readonly asked: boolean;
  readonly outcome: 'COMMIT' | 'ROLLBACK';
  readonly reason: string;
  readonly applied: number;
}
const did = new Map<string, Did | Error>();
let system: System;

beforeAll(async () => {
  system = await startSystem({
    name: 'table',
    bundleText: BUNDLE,
    extension,
    shopSql: `create table cases (id int primary key, hits int not null default 0);
              insert into cases select i from generate_series(0, ${REVIEWS.length - 1}) i;`,
    workers: ['review', 'commit'],
  });
  let next = 0;
  await Promise.all(
    Array.from({ length: OPEN }, async () => {
      for (let i = next++; i < REVIEWS.length; i = next++) {
        const [name, c] = REVIEWS[i]!;
        did.set(name, await review(c, i).catch((error: unknown) => error as Error));
      }
    }),
  );
}, 600_000);
afterAll(() => system?.close());

async function review(c: Combination, id: number): Promise<Did> {
  const change = update(`update cases set hits = hits + 1 where id = ${id}`, 'cases', 1);
  const { changeId } = await heard(() =>
    system.submit({
      ...change,
      metadata: { ...change.metadata, rule: ruleOf(c), status: c.status },
      requestKey: `${system.suffix}-${id}`,
    }),
  );
  const asked = await answered(changeId, c);
  const result = await heard(() => system.countersign.result(changeId, { timeoutMs: 60_000 }));
  if (result.state === 'PENDING' || result.state === 'ABORTED') throw new Error(`It is ${result.state}`);
  const [row] = await system.shop<{ hits: number }>('select hits from cases where id = $1', [id]);
  const { outcome }: { outcome: ReviewOutcome } = result;
  return {
    // Where nobody can answer the violation is shown, and nobody is waited for.
    asked: asked && outcome.reason !== 'no_handler',
    outcome: outcome.state === 'COMMITTED' ? 'COMMIT' : 'ROLLBACK',
    reason: outcome.reason ?? '',
    applied: row?.hits ?? -1,
  };
}

/** Answers once a person is waited for, as the case says. False where the review ends without asking anybody. */
async function answered(changeId: string, c: Combination): Promise<boolean> {
  for (const until = Date.now() + 120_000; Date.now() < until; await pause(100)) {
    const status = (await system.isTold(changeId)) ? await statusWhenHeard(system.countersign, changeId) : null;
    if (status === null || status.state === 'RUNNING') continue;
    const human = status.violations.some(({ need }) => need === 'human');
    if (status.state !== 'INTERVENTION_REQUIRED') return human;
    if (!human) continue;
    if (c.human === 'noHandler') return true;
    if (c.human === 'confirm' || c.human === 'reject') {
      const answers = system.sign(status, 'alice', c.human);
      await heard(() => system.countersign.answer(changeId, answers));
    }
    return true;
  }
  throw new Error('Neither asked nor ended in 120 s');
}

test.each(COMBINATIONS.map((c) => [nameOf(c), c] as const))(
  '%s comes to what the table says, and the row is written once or not at all [V14, V15, V16, V17, V23, V25]',
  (_name, c) => {
    const should = expected(c);
    expect(did.get(reviewOf(c))).toEqual({ ...should, applied: should.outcome === 'COMMIT' ? 1 : 0 });
  },
);

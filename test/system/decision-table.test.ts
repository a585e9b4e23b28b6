/**
 * The sample of the decision table on real servers: one rule reports the status, one policy matches it, and a person answers
 * or does not. `test/policy/decide/decision-table.test.ts` runs all 256 combinations without servers.
 */
import { z } from 'zod';
import type { ReviewOutcome } from '../../policy/contracts/outcome';
import { defineCallback } from '../../policy/rules/callback';
import { defineRule, type RuleOutcome } from '../../policy/rules/define';
import { metadataEvidence } from '../../policy/contracts/facts';
import { COMBINATIONS, expected, nameOf, policyOf, SAMPLE, type Combination } from '../support/decision-table';
import { statusIfAnswered } from '../../dev/client';
import { eventually } from '../support/eventually';
import { retryUnavailable, useSystem } from '../support/system';
import { update } from './scenarios';

/** Number of reviews that are open concurrently. */
const OPEN = 4;

/** The part of a combination that the plan fixes: everything except the status. */
const lane = ({ human }: Combination): string => (human === 'confirm' || human === 'reject' ? 'answered' : human);
const ruleOf = (c: Combination): string =>
  c.class === 'SAFETY'
    ? 'table_safety'
    : `table_${c.requiresConfirmation ? 'asks' : 'alone'}_${c.callback}_${lane(c)}`.toLowerCase();
const RULES = new Map(SAMPLE.map((c) => [ruleOf(c), c]));

function ruleOutcome(status: unknown, inputSha: string): RuleOutcome {
  const fires = {
    fires: true,
    reason: 'As the case requires',
    evidence: [metadataEvidence(inputSha, '/status')],
  } as const;
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
        why: 'It reports what the case asks for.',
        docs: 'docs/rules.md',
        apply: ({ diff, inputSha }) =>
          ruleOutcome(diff.metadata['rule'] === name ? diff.metadata['status'] : null, inputSha),
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
groups: { dba: { members: [alice] }, keyless: { members: [carol] } }
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
      ...(c.human === 'noHandler' ? ['group: keyless'] : []),
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

const system = useSystem({
  name: 'table',
  bundleText: BUNDLE,
  extension,
  shopSql: `create table cases (id int primary key, hits int not null default 0);
            insert into cases select i from generate_series(0, ${SAMPLE.length - 1}) i;`,
  workers: ['review', 'commit'],
});
beforeAll(async () => {
  let next = 0;
  await Promise.all(
    Array.from({ length: OPEN }, async () => {
      for (let i = next++; i < SAMPLE.length; i = next++) {
        const c = SAMPLE[i]!;
        did.set(nameOf(c), await review(c, i).catch((error: unknown) => error as Error));
      }
    }),
  );
}, 240_000);

async function review(c: Combination, id: number): Promise<Did> {
  const change = update(`update cases set hits = hits + 1 where id = ${id}`, 'cases', 1);
  const { changeId } = await retryUnavailable(() =>
    system.submit({
      ...change,
      metadata: { ...change.metadata, rule: ruleOf(c), status: c.status },
      requestKey: `${system.suffix}-${id}`,
    }),
  );
  const asked = await answered(changeId, c);
  const result = await retryUnavailable(() => system.countersign.result(changeId, { timeoutMs: 180_000 }));
  if (result.state === 'PENDING' || result.state === 'ABORTED') throw new Error(`It is ${result.state}`);
  const [row] = await system.shop<{ hits: number }>('select hits from cases where id = $1', [id]);
  const { outcome }: { outcome: ReviewOutcome } = result;
  return {
    // Without a reachable approver the violation is disclosed, and the review does not wait.
    asked: asked && outcome.reason !== 'no_handler',
    outcome: outcome.state === 'COMMITTED' ? 'COMMIT' : 'ROLLBACK',
    reason: outcome.reason ?? '',
    applied: row?.hits ?? -1,
  };
}

/** Answers as the case requires once the review waits for a person. False if the review ends without asking. */
async function answered(changeId: string, c: Combination): Promise<boolean> {
  const look = async () => {
    const status = (await system.isDisclosed(changeId)) ? await statusIfAnswered(system.countersign, changeId) : null;
    if (status === null || status.state === 'RUNNING') return null;
    const human = status.violations.some(({ need }) => need === 'human');
    return status.state === 'INTERVENTION_REQUIRED' && !human ? null : { status, human };
  };
  const { status, human } = await eventually('it is asked, or ends', look, { everyMs: 100, withinMs: 120_000 });
  if (status.state !== 'INTERVENTION_REQUIRED') return human;
  if (c.human === 'confirm' || c.human === 'reject') {
    const answers = system.sign(status, 'alice', c.human);
    await retryUnavailable(() => system.countersign.answer(changeId, answers));
  }
  return true;
}

test('the sample has each distinct result of the table, with each confirmation setting and each callback', () => {
  const results = (all: readonly Combination[]) =>
    new Set(all.map((c) => JSON.stringify([c.status, c.class, expected(c)])));
  expect(results(SAMPLE)).toEqual(results(COMBINATIONS));
  expect(new Set(SAMPLE.map(policyOf))).toEqual(new Set(COMBINATIONS.map(policyOf)));
  expect(SAMPLE).toHaveLength(22);
});

test.each(SAMPLE.map((c) => [nameOf(c), c] as const))(
  '%s gives the result of the table, and the row is written once or not at all [V14, V15, V16, V17, V23, V25]',
  (_name, c) => {
    const should = expected(c);
    expect(did.get(nameOf(c))).toEqual({ ...should, applied: should.outcome === 'COMMIT' ? 1 : 0 });
  },
);

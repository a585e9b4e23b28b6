import { judgeDefinition } from '../../../policy/judge/config';
import { aggregateDefinition } from '../../../policy/rules/aggregate/aggregate';
import { stagedConditionDefinition } from '../../../policy/rules/condition/condition';
import { BUILTIN_VALIDATORS } from '../../../policy/rules/builtin';
import { validatorRegistry } from '../../../policy/rules/registry';
import { demoRule } from '../demo-rule';

export const HOLD_ID = 'guardian.demo_hold';

/** A rule that fires if the diff contains `word`. The word MANY also matches a dry run that updates more than five rows. */
function rule(name: string, word: string, more: Parameters<typeof demoRule>[1] = {}): ReturnType<typeof demoRule> {
  return demoRule(name, {
    apply: (input) => {
      const { diff } = input;
      const text = new TextDecoder().decode(diff.raw);
      const rows = more.reads?.includes('staging') === true ? (input.staging?.record.tables[0]?.updated ?? 0) : 0;
      return text.includes(word) || (word === 'MANY' && rows > 5)
        ? {
            fires: true,
            reason: `says ${word}${rows > 5 ? ` over ${rows} rows` : ''}`,
            evidence: [`diff:${diff.diffSha}#L1:C1-L1:C2`],
          }
        : { fires: false };
    },
    ...more,
  });
}

export const DEMO_VALIDATORS = validatorRegistry([
  rule('demo_hold', 'HOLD'),
  rule('demo_other', 'OTHER'),
  rule('demo_forbid', 'FORBID', { defaultLevel: 'forbid' }),
  rule('demo_advice', 'ADVICE', { defaultLevel: 'advise' }),
  rule('demo_post', 'MANY', { phase: 'post', reads: ['bytes', 'staging'] }),
  stagedConditionDefinition,
  judgeDefinition,
  aggregateDefinition,
  ...BUILTIN_VALIDATORS,
] as never);

const BUNDLE: Readonly<Record<string, string>> = {
  version: '1',
  name: 'Shop',
  domain: 'shop',
  provider: 'openai',
  model: 'gpt-x',
  targets: '\n  shop: { sourceTools: [SQLDryRun, Refund], cooperative: [Refund] }',
  groups: '\n  dba: { members: [ada, bob, rita] }',
  defaultGroup: 'dba',
  validators: '\n  - pack: demo-pack\n  - judge: {model: m}',
};

/** The text of the demo bundle, with top-level members replaced or added. */
export function demoBundle(members: Readonly<Record<string, string>> = {}): string {
  return Object.entries({ ...BUNDLE, ...members })
    .map(([key, value]) => `${key}:${value.startsWith('\n') ? value : ` ${value}`}`)
    .join('\n');
}

import { z } from 'zod';
import { judgeDefinition } from '../../../policy/judge/config';
import { aggregateDefinition } from '../../../policy/rules/aggregate/aggregate';
import { stagedConditionDefinition } from '../../../policy/rules/condition/condition';
import { BUILTIN_VALIDATORS } from '../../../policy/rules/builtin';
import { defineRule, type ValidatorDefinition } from '../../../policy/rules/define';
import { validatorRegistry } from '../../../policy/rules/registry';

export const HOLD_ID = 'guardian.demo_hold';

const Settings = z.strictObject({});

/** A rule that fires if the diff contains `word`. The word MANY also matches a dry run that updates more than five rows. */
function rule(
  name: string,
  word: string,
  more: { level?: 'forbid' | 'confirm' | 'advise'; phase?: 'post'; reads?: readonly ('bytes' | 'staging')[] } = {},
): ValidatorDefinition<z.infer<typeof Settings>> {
  return defineRule({
    name,
    pack: 'demo-pack',
    logicRevision: 1,
    config: Settings,
    sourceTools: '*',
    reads: more.reads ?? ['bytes'],
    defaultLevel: more.level ?? 'confirm',
    ...(more.phase === undefined ? {} : { phase: more.phase }),
    why: 'An example.',
    docs: 'docs/rules/demo.md',
    apply: ({ diff, staging }) => {
      const text = new TextDecoder().decode(diff.raw);
      const rows = more.reads?.includes('staging') === true ? (staging?.record.tables[0]?.updated ?? 0) : 0;
      return text.includes(word) || (word === 'MANY' && rows > 5)
        ? {
            fires: true,
            reason: `says ${word}${rows > 5 ? ` over ${rows} rows` : ''}`,
            evidence: [`diff:${diff.diffSha}#L1:C1-L1:C2`],
          }
        : { fires: false };
    },
  });
}

export const DEMO_VALIDATORS = validatorRegistry([
  rule('demo_hold', 'HOLD'),
  rule('demo_other', 'OTHER'),
  rule('demo_forbid', 'FORBID', { level: 'forbid' }),
  rule('demo_advice', 'ADVICE', { level: 'advise' }),
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

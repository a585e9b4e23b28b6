import { z } from 'zod';
import { defineRule, type RuleDefinition, type ValidatorDefinition } from '../../policy/rules/define';

const Settings = z.strictObject({ limit: z.int().min(1).default(10), note: z.string().optional() });
type Settings = z.infer<typeof Settings>;

/** A rule of the pack `demo-pack` that never fires; `more` replaces members of its definition. */
export function demoRule(name: string, more: Partial<RuleDefinition<Settings>> = {}): ValidatorDefinition<Settings> {
  return defineRule({
    name,
    pack: 'demo-pack',
    logicRevision: 1,
    config: Settings,
    sourceTools: '*',
    reads: ['bytes'],
    defaultLevel: 'confirm',
    why: 'An example.',
    docs: 'docs/rules/demo.md',
    apply: () => ({ fires: false }),
    ...more,
  });
}

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { extension as refunds } from '../../../examples/demo/extension';
import { SCRIPTED_JUDGE } from '../../../examples/demo/scripted-judge';
import { defineSourceTool } from '../../../source-tools/define';
import type { Extension } from '../../../workers/extensions';
import { ROOT } from '../../support/root';
import { storable } from '../attacks/script-strings';

export const PLAIN_PARSER = { name: 'plain', version: '1' } as const;

/** The demo's extension, and a tool whose bytes mean nothing to the inbox. */
export const inboxExtension: Extension = {
  ...(refunds as unknown as Extension),
  sourceTools: [
    ...(refunds.sourceTools as unknown as NonNullable<Extension['sourceTools']>),
    defineSourceTool({
      sourceTool: 'PlainText',
      mode: 'cooperative',
      parser: PLAIN_PARSER,
      facts: () => ({ ok: true, kind: 'text', parser: PLAIN_PARSER }),
      staging: null,
    }),
  ],
};

const TARGETS = `
  repo: { development: true, sourceTools: [GitPatch] }
  api: { development: true, sourceTools: [HTTPPatch] }
  infra: { development: true, sourceTools: [TerraformPlan, PlainText], cooperative: [TerraformPlan, PlainText] }
`;

const RULES = `
  - pack: git-diff
    sourceTools: [GitPatch]
    rules: { git_path_scope: { level: confirm, config: { allow: ['nothing/*'] } } }
  - pack: http-patch
    sourceTools: [HTTPPatch]
    rules:
      http_private_target: off
      http_test_required: advise
      http_idempotency_key: advise
  - { pack: terraform-plan, sourceTools: [TerraformPlan] }
`;

/** Ids of people that are also names of members of every object. */
const MEMBERS = ['alice', 'bob', 'constructor', 'tostring', 'hasownproperty', 'valueof', 'x'.repeat(200)];

/**
 * The demo's policy, with a target for each source tool, an expiry within two seconds for changes of drafts, and hostile texts in
 * rules and policies of the tool PlainText.
 */
export function inboxPolicy(): string {
  const demo = readFileSync(join(ROOT, 'examples', 'demo', 'countersign.policy.yaml'), 'utf8');
  const names = hostileTexts().map((text, n) => ({ name: `hostile_${n}`, text }));
  const conditions = names.map(({ name, text }) => ({
    condition: { name, when: 'has(metadata.hostile)', reason: text },
    sourceTools: ['PlainText'],
  }));
  const policies = names.map(({ name, text }) => ({
    key: name,
    name: text.slice(0, 100),
    match: { validatorIds: [`guardian.${name}`] },
    confirmationMessage: text,
    group: 'hostile',
  }));
  const soon = { key: 'soon', name: 'soon', match: { validatorIds: ['guardian.soon'] }, deadline: '20s' };
  const expiring = {
    condition: {
      name: 'soon',
      when: `has(metadata.soon) && metadata.soon == true`,
      reason: 'This change is decided at once.',
    },
  };
  const entries = (list: readonly object[]): string => list.map((each) => `  - ${JSON.stringify(each)}\n`).join('');
  return demo
    .replaceAll('${JUDGE_MODEL}', SCRIPTED_JUDGE)
    .replace('\ngroups:\n', `${TARGETS}\ngroups:\n  hostile: ${JSON.stringify({ members: MEMBERS })}\n`)
    .replace('\ndeadline:', `${RULES}${entries([...conditions, expiring])}\ndeadline:`)
    .concat(entries([...policies, soon]));
}

/** All strings that fit, several in one text of at most 500 characters. */
function hostileTexts(): readonly string[] {
  const texts: string[] = [];
  let text = '';
  // A bundle may not have text that looks like a variable.
  for (const each of storable(490).filter((string) => !string.includes('${'))) {
    if (text !== '' && text.length + each.length + 1 > 500) {
      texts.push(text);
      text = '';
    }
    text = text === '' ? each : `${text} ${each}`;
  }
  return [...texts, text];
}

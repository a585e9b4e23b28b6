import { utf8ToBytes } from '@noble/hashes/utils.js';
import { evaluateEach } from '../../../activities/review/derivation';
import { selectValidators } from '../../../activities/review/derive';
import { canonicalJson } from '../../../policy/contracts/canonical-json';
import { sha256Hex } from '../../../policy/contracts/hash';
import { assembleFindings, COMPUTED_BY_ASSEMBLY, type RawOutcome } from '../../../policy/decide/findings';
import { BUILTIN_VALIDATORS } from '../../../policy/rules/builtin';
import { validatorRegistry } from '../../../policy/rules/registry';
import { compiledPlan } from '../compiled-plan';
import { demoRule } from '../demo-rule';
import { ourTools, plainTool } from '../source-tools';

/** Computes all findings from the bundle's text and the diff's bytes. The result must be the same in every process. */

const rule = (name: string, fires: boolean) =>
  demoRule(name, {
    apply: ({ diff, config }) =>
      fires
        ? {
            fires: true,
            reason: `more than ${config.limit}`,
            evidence: [`diff:${diff.diffSha}#/a`],
            details: { limit: config.limit },
          }
        : { fires: false },
  });

const BUNDLE = `
version: 1
name: Shop
domain: shop
provider: openai
model: gpt-x
targets:
  shop: { sourceTools: [SQLDryRun] }
groups:
  dba: { members: [ada, bob] }
defaultGroup: dba
validators:
  - pack: demo-pack
policies:
  - { key: p, name: P, match: { validatorIds: [guardian.demo_a] }, metadata: { _: 1, a: 2, A: 3, b: 4, B: 5 } }
`;

/** `order` rotates the order in which the validators finish. */
export function rebuild(order = 0): {
  readonly planHash: string;
  readonly logicHashes: readonly string[];
  readonly findings: string;
} {
  const validators = validatorRegistry([
    rule('demo_a', true),
    rule('demo_b', false),
    rule('demo_c', true),
    ...BUILTIN_VALIDATORS,
  ] as never);
  const { plan, planHash } = compiledPlan(BUNDLE, 'SQLDryRun', { target: 'shop', validators });
  const raw = utf8ToBytes('{"a": 1}');
  const diff = { sourceTool: 'SQLDryRun', raw, diffSha: sha256Hex(raw), metadata: {} };
  const facts = { ok: true, kind: 'demo', parser: { name: 'demo', version: '1' } } as const;
  const derived = evaluateEach(
    validators,
    selectValidators({ tools: ourTools, validators }, plan, () => true),
    {
      changeId: '0'.repeat(64),
      inputSha: '1'.repeat(64),
      diff,
      facts,
      tool: plainTool,
      staging: null,
    },
  );
  const finished = plan.validators.flatMap(({ id }): [string, RawOutcome][] =>
    COMPUTED_BY_ASSEMBLY.has(id) || derived[id] === undefined ? [] : [[id, { kind: 'result', result: derived[id] }]],
  );
  const turned = [...finished.slice(order % finished.length), ...finished.slice(0, order % finished.length)];
  const findings = assembleFindings({
    plan,
    changeId: '0'.repeat(64),
    outcomes: new Map(order % 2 === 0 ? turned : turned.reverse()),
  });
  return { planHash, logicHashes: plan.validators.map((v) => v.logic_hash), findings: canonicalJson(findings) };
}

import { z } from 'zod';
import { canonicalJson } from '../contracts/canonical-json';
import type { ValidatorDefinition } from '../rules/define';
import { RENDERER_REVISION } from './document';
import { DEFAULT_POLICIES } from './default-policies';
import { promptSha, PROMPT_REVISION } from './prompt';
import { ANSWER_PARSER_REVISION } from './read-answer';
import { MARKERS_REVISION } from '../text/injection-markers';
import { REDACTOR_REVISION } from './secrets';
import { JudgePolicy, schemaSha } from './wire';

export const JUDGE_IMPLEMENTATION = 'llm_judge';
export const JUDGE_ID = 'guardian.llm_judge';

/** One diff may be at most 1 MiB; a piece larger than this is more than a judge reads with care. */
const MAX_BYTE_BUDGET = 512 * 1024;

const MetadataKey = z.string().min(1).max(128);

/** Written by the normaliser; whatever stands there in a bundle is replaced. In the plan they make `logic_hash` cover how the judge works. */
const Computed = z.strictObject({
  promptSha: z.string(),
  schemaSha: z.string(),
  promptRevision: z.int(),
  rendererRevision: z.string(),
  redactorRevision: z.int(),
  parserRevision: z.int(),
  markersRevision: z.int(),
});

const Settings = z.strictObject({
  model: z.string().min(1).max(200).describe('Model name as the provider knows it.'),
  maxTokens: z.int().min(0).max(200_000).default(4096).describe('Bound on the answer; 0 leaves it to the provider.'),
  temperature: z
    .number()
    .min(0)
    .max(2)
    .optional()
    .describe('Left out of the request where absent: reasoning models refuse it.'),
  policies: z
    .array(JudgePolicy)
    .min(1)
    .max(40)
    .default([...DEFAULT_POLICIES])
    .superRefine((policies, ctx) => {
      const ids = policies.map((policy) => policy.id);
      ids.forEach((id, i) => {
        if (ids.indexOf(id) !== i)
          ctx.addIssue({
            code: 'custom',
            path: [i, 'id'],
            message: `policy "${id}" appears twice; give each its own id`,
          });
      });
    })
    .describe('The rubric: one row each in every answer.'),
  byteBudget: z
    .int()
    .min(256)
    .max(MAX_BYTE_BUDGET)
    .default(98_304)
    .describe('Bytes of the diff in one call, with the marks of its lines; a larger one is split.'),
  maxChunks: z
    .int()
    .min(1)
    .max(16)
    .default(8)
    .describe('Calls for one diff; where more were needed, a person is asked.'),
  metadataKeys: z
    .array(MetadataKey)
    .max(50)
    .default(['affected_rows', 'table_name'])
    .describe('Members of the metadata that the judge sees, as claims.'),
  includeAgentProse: z.boolean().default(false).describe("Shows the agent's own words, apart and as claims."),
  proseKeys: z
    .array(MetadataKey)
    .max(10)
    .default(['rationale'])
    .describe('Members of the metadata that hold such words.'),
  deadlineMs: z.int().min(100).max(70_000).default(60_000).describe('Bound on one attempt, all its calls together.'),
  acceptedModels: z
    .array(z.string().min(1).max(200))
    .max(20)
    .default([])
    .describe('Names under which the provider may answer, beside `model` and dated versions of it.'),
});

export type JudgeConfig = z.infer<typeof Settings> & { readonly computed: z.infer<typeof Computed> };

/** Plain JSON, and the same again when run over its own result. */
export function judgeConfig(settings: z.infer<typeof Settings>): JudgeConfig {
  return {
    ...settings,
    computed: {
      promptSha: promptSha(settings.policies),
      schemaSha: schemaSha(settings.policies.map((policy) => policy.id)),
      promptRevision: PROMPT_REVISION,
      rendererRevision: RENDERER_REVISION,
      redactorRevision: REDACTOR_REVISION,
      parserRevision: ANSWER_PARSER_REVISION,
      markersRevision: MARKERS_REVISION,
    },
  };
}

export const JudgeConfig: z.ZodType<JudgeConfig> = z
  .strictObject({ ...Settings.shape, computed: Computed.optional().describe('Written by Countersign; leave it out.') })
  .transform(({ computed: _written, ...settings }) => judgeConfig(settings));

export const judgeDefinition: ValidatorDefinition<JudgeConfig> = Object.freeze({
  implementation: JUDGE_IMPLEMENTATION,
  pack: null,
  kind: 'attested' as const,
  version: 'v1',
  logicRevision: 1,
  config: JudgeConfig,
  sourceTools: '*' as const,
  phase: 'preflight' as const,
  reads: ['bytes', 'metadata'] as const,
  parser: {
    name: 'countersign-judge',
    version: `answer@${ANSWER_PARSER_REVISION} prompt@${PROMPT_REVISION} redactor@${REDACTOR_REVISION} markers@${MARKERS_REVISION} ${RENDERER_REVISION}`,
  },
  defaultLevel: 'confirm' as const,
  why: 'A change can keep every rule and still do what nobody wants.',
  docs: 'docs/judge.md',
  evaluate: null,
});

/** The config of a plan's judge, or why this process would not judge as the plan says (G33). */
export function configOfPlan(
  config: unknown,
): { readonly ok: true; readonly config: JudgeConfig } | { readonly ok: false; readonly explanation: string } {
  const parsed = JudgeConfig.safeParse(config);
  if (!parsed.success)
    return { ok: false, explanation: parsed.error.issues.map((i) => `${i.path.join('.')}: ${i.message}`).join('; ') };
  if (canonicalJson(dropUndefined(parsed.data)) !== canonicalJson(config)) {
    return {
      ok: false,
      explanation: 'this process has another prompt, schema, renderer, redactor or parser than the plan was made with',
    };
  }
  return { ok: true, config: parsed.data };
}

function dropUndefined(config: JudgeConfig): object {
  return Object.fromEntries(Object.entries(config).filter(([, value]) => value !== undefined));
}

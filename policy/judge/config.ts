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

/** Upper limit of one piece in bytes. A model reviews larger pieces poorly. */
const MAX_BYTE_BUDGET = 512 * 1024;

const MetadataKey = z.string().min(1).max(128);

/** Computed by `judgeConfig`; values in a bundle are replaced. As part of the config they make `logic_hash` cover the judge's code. */
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
  model: z.string().min(1).max(200).describe('Name of the model at the provider.'),
  maxTokens: z
    .int()
    .min(0)
    .max(200_000)
    .default(4096)
    .describe("Token limit of an answer; 0 means the provider's default."),
  temperature: z.number().min(0).max(2).optional().describe('Not sent if absent: reasoning models reject it.'),
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
            message: `duplicate policy id "${id}"; give each policy a unique id`,
          });
      });
    })
    .describe('The rubric: every answer has one row for each policy.'),
  structuredOutput: z
    .enum(['required', 'preferred', 'off'])
    .default('preferred')
    .describe(
      'Whether the request asks for output in the schema of the answer. If the server refuses that, `preferred` asks again without it and `required` fails.',
    ),
  byteBudget: z
    .int()
    .min(256)
    .max(MAX_BYTE_BUDGET)
    .default(98_304)
    .describe('Bytes of the diff in one call, line marks included; a larger diff is split.'),
  maxChunks: z
    .int()
    .min(1)
    .max(16)
    .default(8)
    .describe('Most calls for one diff; if more are needed, a person is asked instead.'),
  metadataKeys: z
    .array(MetadataKey)
    .max(50)
    .default(['affected_rows', 'table_name'])
    .describe('Metadata members that the judge sees, as claims.'),
  includeAgentProse: z.boolean().default(false).describe("Shows the agent's prose to the judge, marked as claims."),
  proseKeys: z
    .array(MetadataKey)
    .max(10)
    .default(['rationale'])
    .describe("Metadata members that contain the agent's prose."),
  deadlineMs: z
    .int()
    .min(100)
    .max(70_000)
    .default(60_000)
    .describe('Time limit of one attempt with all its calls, in milliseconds.'),
  acceptedModels: z
    .array(z.string().min(1).max(200))
    .max(20)
    .default([])
    .describe('Model names that an answer may carry besides `model` and its dated versions.'),
});

export type JudgeConfig = z.infer<typeof Settings> & { readonly computed: z.infer<typeof Computed> };

/** Adds the computed members. The result is plain JSON; the function is idempotent. */
function judgeConfig(settings: z.infer<typeof Settings>): JudgeConfig {
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
  .strictObject({ ...Settings.shape, computed: Computed.optional().describe('Computed by Countersign; leave it out.') })
  .transform(({ computed: _written, ...settings }) => judgeConfig(settings));

export const judgeDefinition: ValidatorDefinition<JudgeConfig> = Object.freeze({
  implementation: JUDGE_IMPLEMENTATION,
  pack: null,
  kind: 'attested' as const,
  version: 'v1',
  logicRevision: 7,
  config: JudgeConfig,
  sourceTools: '*' as const,
  phase: 'preflight' as const,
  reads: ['bytes', 'rendering', 'metadata'] as const,
  parser: {
    name: 'countersign-judge',
    version: `answer@${ANSWER_PARSER_REVISION} prompt@${PROMPT_REVISION} redactor@${REDACTOR_REVISION} markers@${MARKERS_REVISION} ${RENDERER_REVISION}`,
  },
  defaultLevel: 'confirm' as const,
  why: 'A change can pass every rule and still do harm.',
  docs: 'docs/judge.md',
  evaluate: null,
});

/** Reads the config of a plan's judge. Fails if this process has other judge code than the plan was compiled with. */
export function configOfPlan(
  config: unknown,
): { readonly ok: true; readonly config: JudgeConfig } | { readonly ok: false; readonly explanation: string } {
  const parsed = JudgeConfig.safeParse(config);
  if (!parsed.success)
    return { ok: false, explanation: parsed.error.issues.map((i) => `${i.path.join('.')}: ${i.message}`).join('; ') };
  if (canonicalJson(parsed.data) !== canonicalJson(config)) {
    return {
      ok: false,
      explanation:
        'this process has another prompt, schema, renderer, redactor or parser than the plan was compiled with',
    };
  }
  return { ok: true, config: parsed.data };
}

import { randomBytes } from 'node:crypto';
import { messageOf } from '../../client/errors';
import { noCache } from '../../activities/judge/cache';
import { evaluateJudge, LabelledCase } from '../../activities/judge/evaluate-judge';
import { createJudgeTransport, type JudgeTransport, type TransportConfig } from '../../activities/judge/transport';
import { JudgeConfig, JUDGE_IMPLEMENTATION } from '../../policy/judge/config';
import { evaluationText } from '../../policy/judge/evaluation';
import { compileAll } from '../../workers/compile';
import { ConfigError, readPrices, type Env } from '../../workers/config';
import type { Extensions } from '../../workers/extensions';
import type { InputLine } from '../input-lines';
import { extensionsOfEnv } from '../policy/bundles';
import { BUILT_IN_CASES } from './cases/built-in-cases';

export interface EvaluationSettings {
  /** Null: the model of the bundle. */
  readonly model: string | null;
  /** Null: OPENAI_BASE_URL, or OpenAI. */
  readonly baseUrl: string | null;
  readonly concurrency: number;
  /** Text of the bundle whose judge is measured; null for a judge with default settings. */
  readonly bundle: string | null;
  readonly target: string | null;
}

export interface Evaluation {
  readonly report: object;
  readonly text: string;
  /** Cases that the model answered. */
  readonly answered: number;
}

/**
 * Asks a model about labelled cases as a review would; `rows` null: about the built-in cases of the source tools that have a
 * judge. OPENAI_API_KEY has the key; nothing is signed or stored.
 */
export async function evaluateModelOn(
  env: Env,
  rows: readonly InputLine[] | null,
  { model, baseUrl, concurrency, bundle, target }: EvaluationSettings,
  progress: (done: number, total: number) => void,
): Promise<Evaluation> {
  if (rows?.length === 0) throw new ConfigError('The labelled set is empty: expected one case per line');
  const given = rows?.map(toCase) ?? null;
  const extensions = await extensionsOfEnv(env);
  const judges = bundle === null ? defaultJudge(model) : bundleJudge(extensions, bundle, target, model);
  const { configOf } = judges;
  const cases = given ?? BUILT_IN_CASES.filter(({ sourceTool }) => judges.has(sourceTool));
  if (cases.length === 0) throw new ConfigError('The bundle has no judge for a source tool of the built-in cases');
  for (const { sourceTool } of cases) configOf(sourceTool);
  const transport = createTransport({
    baseUrl: baseUrl ?? env['OPENAI_BASE_URL'] ?? 'https://api.openai.com/v1',
    apiKey: env['OPENAI_API_KEY'] ?? 'none',
  });
  let done = 0;
  const { report } = await evaluateJudge({
    transport,
    cache: noCache,
    markingKey: randomBytes(32),
    prices: readPrices(env['COUNTERSIGN_JUDGE_PRICES_FILE']),
    now: Date.now,
    configOf,
    tools: extensions.sourceTools,
    cases,
    atOnce: concurrency,
    signal: new AbortController().signal,
    onCase: () => progress(++done, cases.length),
  });
  return { report, text: evaluationText(report), answered: report.cases - report.failed.hits };
}

interface Judges {
  readonly has: (sourceTool: string) => boolean;
  /** Throws ConfigError if the source tool has no judge. */
  readonly configOf: (sourceTool: string) => JudgeConfig;
}

function defaultJudge(model: string | null): Judges {
  if (model === null) throw new ConfigError('--model: expected a name, or a bundle with --policy');
  const config = JudgeConfig.parse({ model });
  return { has: () => true, configOf: () => config };
}

/** The judge of the bundle for each source tool of the target, as compiled into its plans. */
function bundleJudge(extensions: Extensions, bundle: string, target: string | null, model: string | null): Judges {
  const plans = compileAll(bundle, extensions);
  const targets = [...new Set(plans.map((plan) => plan.target))];
  const wanted = target ?? (targets.length === 1 ? targets[0] : undefined);
  if (wanted === undefined || !targets.includes(wanted))
    throw new ConfigError(`--target: expected one of ${targets.join(', ')}, got ${target ?? 'none'}`);
  const configs = new Map<string, JudgeConfig>();
  for (const { sourceTool, plan } of plans.filter((p) => p.target === wanted)) {
    const judge = plan.validators.find((v) => v.implementation === JUDGE_IMPLEMENTATION);
    if (judge !== undefined)
      configs.set(sourceTool, JudgeConfig.parse(model === null ? judge.config : { ...judge.config, model }));
  }
  const configOf = (sourceTool: string): JudgeConfig => {
    const config = configs.get(sourceTool);
    if (config !== undefined) return config;
    throw new ConfigError(
      `The bundle has no judge for ${wanted}/${sourceTool}; it has ${configs.size === 0 ? 'none' : `one for ${[...configs.keys()].join(', ')}`}`,
    );
  };
  return { has: (sourceTool) => configs.has(sourceTool), configOf };
}

/** An invalid base URL is an error of the command line. */
function createTransport(config: TransportConfig): JudgeTransport {
  try {
    return createJudgeTransport(config);
  } catch (error) {
    if (error instanceof TypeError) throw new ConfigError(error.message);
    throw error;
  }
}

function toCase({ text, number }: InputLine): LabelledCase {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw invalidCase(number, messageOf(error));
  }
  const parsed = LabelledCase.safeParse(value);
  if (parsed.success) return parsed.data;
  throw invalidCase(number, parsed.error.issues.map((i) => `${i.path.join('.') || 'case'}: ${i.message}`).join('; '));
}

function invalidCase(number: number, why: string): ConfigError {
  return new ConfigError(
    `Line ${number}: expected {"id", "sourceTool", "raw" or "rawBase64", "metadata"?, "label": ALLOW, WARN or BLOCK}, got ${why.slice(0, 1000)}`,
  );
}

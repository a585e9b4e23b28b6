import { messageOf } from '../../client/errors';
import { explain, type Explanation } from '../../policy/bundle/explain';
import { planEvaluator, readEvalLine } from '../../policy/bundle/evaluate';
import { Metadata } from '../../policy/contracts/diff';
import { StagingRecord } from '../../policy/contracts/staging-record';
import { compileAll } from '../../workers/compile';
import { ConfigError, type Env } from '../../workers/config';
import { parseJson } from '../../workers/json-file';
import { extensionsOfEnv, toEvalInput } from './bundles';

/** Evaluates one line of JSON Lines. An error of the line is a result too. */
export type LineEvaluator = (row: string, number: number) => Promise<object>;

/** An evaluator for one target of a bundle; `target` null: the only one. */
export async function lineEvaluator(env: Env, bundle: string, target: string | null): Promise<LineEvaluator> {
  const extensions = await extensionsOfEnv(env);
  const plans = compileAll(bundle, extensions);
  const targets = [...new Set(plans.map((p) => p.target))];
  if (target === null && targets.length > 1)
    throw new ConfigError(`--target: the bundle has several, name one of ${targets.join(', ')}`);
  if (target !== null && !targets.includes(target))
    throw new ConfigError(`--target: expected one of ${targets.join(', ')}, got "${target}"`);
  const ofTarget = plans.filter((p) => p.target === (target ?? targets[0]));
  const evaluators = new Map(
    ofTarget.map((p) => [p.sourceTool, planEvaluator(p.plan, extensions.validators, extensions.sourceTools)]),
  );
  return async (row, number) => {
    const parsed = readEvalLine(row);
    if (!parsed.ok) return { id: parsed.id, line: number, error: parsed.error };
    const { id, sourceTool, raw, rawBase64, metadata, staging, at = new Date().toISOString() } = parsed.line;
    const failed = (error: string): object => ({ id, line: number, error });
    const began = performance.now();
    try {
      const evaluate = evaluators.get(sourceTool);
      if (evaluate === undefined)
        return failed(`sourceTool: expected one of ${[...evaluators.keys()].join(', ')}, got "${sourceTool}"`);
      const bytes =
        rawBase64 === undefined
          ? new TextEncoder().encode(raw ?? '')
          : new Uint8Array(Buffer.from(rawBase64, 'base64'));
      const { outcome, findings, unread, skipped, waived, shadow, thrown } = evaluate(
        await toEvalInput(extensions, sourceTool, bytes, { metadata, staging: staging ?? null, at }),
      );
      const ms = Math.round((performance.now() - began) * 1000) / 1000;
      const optional = {
        ...(unread.length === 0 ? {} : { unread }),
        ...(waived.length === 0 ? {} : { waived }),
        ...(shadow.length === 0 ? {} : { shadow }),
        ...(Object.keys(thrown).length === 0 ? {} : { thrown }),
      };
      return { id, outcome, findings: findings.filter((f) => f.status !== 'ALLOW'), skipped, ...optional, ms };
    } catch (error) {
      return failed(messageOf(error));
    }
  };
}

export interface ExplainInput {
  /** Null: the only target, or source tool, of the bundle. */
  readonly target: string | null;
  readonly sourceTool: string | null;
  /** JSON objects as text; null for none. */
  readonly metadata: string | null;
  readonly staging: string | null;
  readonly at: string;
}

/** Why one diff gets its findings. */
export async function explainDiff(
  env: Env,
  bundle: string,
  raw: Uint8Array,
  { target, sourceTool, metadata, staging, at }: ExplainInput,
): Promise<Explanation> {
  const extensions = await extensionsOfEnv(env);
  const plans = compileAll(bundle, extensions);
  const matching = plans.filter(
    (p) => (target === null || p.target === target) && (sourceTool === null || p.sourceTool === sourceTool),
  );
  const [only] = matching;
  if (only === undefined || matching.length > 1)
    throw new ConfigError(
      `--target, --tool: expected to name one of ${plans.map((p) => `${p.target}/${p.sourceTool}`).join(', ')}`,
    );
  const input = await toEvalInput(extensions, only.sourceTool, raw, {
    metadata: metadata === null ? {} : parseJson('--metadata', metadata, Metadata),
    staging: staging === null ? null : parseJson('--staging', staging, StagingRecord),
    at,
  });
  const evaluation = planEvaluator(only.plan, extensions.validators, extensions.sourceTools)(input);
  return explain(only.plan, extensions.validators, evaluation, input);
}

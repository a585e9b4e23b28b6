import { openDatabase } from '../../storage/database/database';
import { publishBundle } from '../../storage/plans/publish';
import type { ExplainGiven, PolicyTools } from '../deps';
import { explain, type Explanation } from '../../policy/bundle/explain';
import { Metadata } from '../../policy/contracts/diff';
import { StagingRecord } from '../../policy/contracts/staging-record';
import type { Plan } from '../../policy/contracts/plan';
import { sha256Hex } from '../../policy/contracts/hash';
import { compilePlan, planKeys } from '../../policy/bundle/compile-plan';
import { planEvaluator, readEvalLine, type EvalInput, type Evaluation } from '../../policy/bundle/evaluate';
import type { Issue } from '../../policy/bundle/issue';
import { jsonSchema } from '../../policy/bundle/json-schema';
import { parseBundle } from '../../policy/bundle/parse-bundle';
import { coverageOf, parsePolicyTests, policyTestProblems } from '../../policy/bundle/policy-test';
import { starterBundle } from '../../policy/bundle/starter';
import { readKeyFile } from '../../signing/key-file';
import { compileAll } from '../../workers/compile';
import { ConfigError, type Env } from '../../workers/config';
import { loadExtensions, type Extensions } from '../../workers/extensions';
import { localClient } from '../../workers/local-client';

/** Policy as code, without a server; only `publish` opens the database, as the operator's role. */
export async function policyTools(env: Env): Promise<PolicyTools> {
  const extensions = await loadExtensions(env['COUNTERSIGN_EXTENSIONS'] ?? '');
  return {
    check: async (text) => {
      const { plans, issues } = compileEvery(text, extensions);
      return {
        issues,
        plans: plans.map(({ target, sourceTool, plan, planHash }) => ({
          target,
          sourceTool,
          planHash,
          validators: plan.validators.length,
        })),
      };
    },
    test: (bundle, tests) => runTests(bundle, tests, extensions),
    evaluator: (bundle, target) => evaluator(bundle, target, extensions),
    explain: (bundle, raw, given) => explainDiff(bundle, raw, given, extensions),
    schema: jsonSchema,
    starter: starterBundle,
    publish: async (bundleText, keyFile) => {
      const passphrase = env['COUNTERSIGN_KEY_PASSPHRASE'];
      const operator = readKeyFile(keyFile, passphrase === undefined ? {} : { passphrase });
      if (operator.kind !== 'operator')
        throw new ConfigError(`--key: expected an operator key, got a ${operator.kind} key`);
      const plans = compileAll(bundleText, extensions).map(({ target, sourceTool, planHash }) => ({
        target,
        sourceTool,
        planHash,
      }));
      const db = openDatabase({
        url: localClient(env).operatorDatabaseUrl,
        applicationName: 'countersign-policy',
        max: 1,
      });
      try {
        return await publishBundle(db, { bundleText, plans, operator, now: new Date() });
      } finally {
        await db.close();
      }
    },
  };
}

interface Compiled {
  readonly target: string;
  readonly sourceTool: string;
  readonly plan: Plan;
  readonly planHash: string;
}

function compileEvery(
  text: string,
  extensions: Extensions,
): { readonly plans: readonly Compiled[]; readonly issues: readonly Issue[] } {
  const parsed = parseBundle(text);
  if (!parsed.ok) return { plans: [], issues: parsed.issues };
  const plans: Compiled[] = [];
  const issues = new Map<string, Issue>();
  for (const key of planKeys(parsed.bundle)) {
    const compiled = compilePlan(parsed.bundle, extensions.validators, {
      ...key,
      callbacks: extensions.callbacks,
      locate: parsed.locate,
    });
    if (compiled.ok) plans.push({ ...key, ...compiled });
    else for (const issue of compiled.issues) issues.set(JSON.stringify(issue), issue);
  }
  return { plans, issues: [...issues.values()] };
}

function compiledOrRefused(text: string, extensions: Extensions): readonly Compiled[] {
  const { plans, issues } = compileEvery(text, extensions);
  if (issues.length > 0)
    throw new ConfigError(
      `The bundle does not compile:\n${issues.map((i) => `  ${i.line}:${i.column} ${i.path}: ${i.message}. ${i.fix}`).join('\n')}`,
    );
  return plans;
}

async function inputOf(
  extensions: Extensions,
  sourceTool: string,
  raw: Uint8Array,
  rest: Pick<EvalInput, 'metadata' | 'staging' | 'at'>,
): Promise<EvalInput> {
  const tool = extensions.sourceTools.get(sourceTool);
  if (tool === undefined)
    throw new TypeError(`sourceTool: expected one of ${extensions.sourceTools.keys().join(', ')}, got "${sourceTool}"`);
  const facts = await tool.extractFacts({ sourceTool, raw, diffSha: sha256Hex(raw), metadata: rest.metadata });
  return { raw, facts, ...rest };
}

async function evaluator(
  bundle: string,
  target: string | null,
  extensions: Extensions,
): ReturnType<PolicyTools['evaluator']> {
  const plans = compiledOrRefused(bundle, extensions);
  const targets = [...new Set(plans.map((p) => p.target))];
  if (target === null && targets.length > 1)
    throw new ConfigError(`--target: the bundle has several, name one of ${targets.join(', ')}`);
  const wanted = plans.filter((p) => p.target === (target ?? targets[0]));
  const evaluators = new Map(wanted.map((p) => [p.sourceTool, planEvaluator(p.plan, extensions.validators)]));
  return async (row, number) => {
    const read = readEvalLine(row);
    if (!read.ok) return { id: read.id, line: number, error: read.error };
    const { id, sourceTool, raw, rawBase64, metadata, staging, at = new Date().toISOString() } = read.line;
    const began = performance.now();
    try {
      const evaluate = evaluators.get(sourceTool);
      if (evaluate === undefined)
        return {
          id,
          line: number,
          error: `sourceTool: expected one of ${[...evaluators.keys()].join(', ')}, got "${sourceTool}"`,
        };
      const bytes =
        rawBase64 === undefined
          ? new TextEncoder().encode(raw ?? '')
          : new Uint8Array(Buffer.from(rawBase64, 'base64'));
      const { outcome, findings, skipped, waived, shadow } = evaluate(
        await inputOf(extensions, sourceTool, bytes, { metadata: metadata ?? {}, staging: staging ?? null, at }),
      );
      const ms = Math.round((performance.now() - began) * 1000) / 1000;
      const apart = { ...(waived.length === 0 ? {} : { waived }), ...(shadow.length === 0 ? {} : { shadow }) };
      return { id, outcome, findings: findings.filter((f) => f.status !== 'ALLOW'), skipped, ...apart, ms };
    } catch (error) {
      return { id, line: number, error: error instanceof Error ? error.message : String(error) };
    }
  };
}

async function explainDiff(
  bundle: string,
  raw: Uint8Array,
  { target, sourceTool, metadata, staging, at }: ExplainGiven,
  extensions: Extensions,
): Promise<Explanation> {
  const plans = compiledOrRefused(bundle, extensions);
  const fitting = plans.filter(
    (p) => (target === null || p.target === target) && (sourceTool === null || p.sourceTool === sourceTool),
  );
  const [only] = fitting;
  if (only === undefined || fitting.length > 1)
    throw new ConfigError(
      `--target, --tool: expected to name one of ${plans.map((p) => `${p.target}/${p.sourceTool}`).join(', ')}`,
    );
  const input = await inputOf(extensions, only.sourceTool, raw, {
    metadata: metadata === null ? {} : Metadata.parse(JSON.parse(metadata)),
    staging: staging === null ? null : StagingRecord.parse(JSON.parse(staging)),
    at,
  });
  const evaluation = planEvaluator(only.plan, extensions.validators)(input);
  return explain(only.plan, extensions.validators, evaluation, input);
}

async function runTests(bundle: string, testsText: string, extensions: Extensions): ReturnType<PolicyTools['test']> {
  const plans = compiledOrRefused(bundle, extensions);
  const parsed = parsePolicyTests(testsText);
  if (!parsed.ok)
    throw new ConfigError(
      `The tests do not fit:\n${parsed.issues.map((i) => `  ${i.line}:${i.column} ${i.path}: ${i.message}. ${i.fix}`).join('\n')}`,
    );
  const evaluations: Evaluation[] = [];
  const results = [];
  for (const test of parsed.tests) {
    const plan = plans.find((p) => p.target === test.target && p.sourceTool === test.sourceTool);
    if (plan === undefined) {
      results.push({ name: test.name, problems: [`the bundle has no plan for ${test.target}/${test.sourceTool}`] });
      continue;
    }
    const raw = new TextEncoder().encode(test.raw);
    const evaluation = planEvaluator(
      plan.plan,
      extensions.validators,
    )(
      await inputOf(extensions, test.sourceTool, raw, {
        metadata: test.metadata,
        staging: test.staging ?? null,
        at: test.at ?? null,
      }),
    );
    evaluations.push(evaluation);
    results.push({ name: test.name, problems: policyTestProblems(test, evaluation) });
  }
  const coverage = coverageOf(
    plans.map((p) => p.plan),
    evaluations,
  );
  return { results, covered: coverage.covered, neverFired: coverage.uncovered };
}

/**
 * `node dist/bench/judge.js [--json]`: the overhead of the judge on top of the model call. Sends the same request to the
 * same loopback server, once through the bare client and once through the full judge activity (render, redact, mark, hash,
 * ask, parse, evaluate); then hostile diffs of 1 MiB. Progress goes to standard error; with --json the last line of standard
 * output is one object.
 */
import { performance } from 'node:perf_hooks';
import { sha256Hex } from '../policy/contracts/hash';
import { CountersignFailure } from '../policy/contracts/failure';
import OpenAI from 'openai';
import { askAboutDiff, type AskDeps } from '../activities/judge/ask-about-diff';
import { noCache } from '../activities/judge/cache';
import { judgeValidator } from '../activities/judge/judge-validator';
import type { ResolvedJudge } from '../activities/judge/resolve-judge';
import { createJudgeTransport } from '../activities/judge/transport';
import { MAX_DIFF_BYTES } from '../policy/contracts/diff';
import { inputSha } from '../policy/contracts/change-id';
import { JudgeConfig, JUDGE_ID } from '../policy/judge/config';
import { SCRIPTED_JUDGE, startScriptedJudge } from '../examples/demo/scripted-judge';
import { SOURCE_TOOLS } from '../source-tools';
import { readOptions, runProgram, say } from '../dev/run-program';
import { spread, withStall, type Spread } from './measure';
import { ordinaryText } from './ordinary';

const WARM_UP = 200;
const CALLS = 1000;

const config = JudgeConfig.parse({ model: SCRIPTED_JUDGE });

/** The judge as the activity resolves it from a plan. */
function judgeOf(raw: Uint8Array, sourceTool: string): ResolvedJudge {
  const tool = SOURCE_TOOLS.find((one) => one.sourceTool === sourceTool);
  if (tool === undefined) throw new RangeError(sourceTool);
  return { config, renderer: tool.render, raw, effectMembers: [], validator: judgeValidator(config, tool) };
}

async function ask(deps: AskDeps, raw: Uint8Array, sourceTool: string): Promise<string> {
  const submission = {
    tenant: 'bench',
    target: 'bench',
    sourceTool,
    diffSha: sha256Hex(raw),
    metadata: { affected_rows: 1 },
  };
  const input = {
    ...submission,
    inputSha: inputSha(submission),
    changeId: 'c'.repeat(64),
    planHash: 'p'.repeat(64),
    stagingSha: null,
    validatorId: JUDGE_ID,
  };
  try {
    const { result } = await askAboutDiff(deps, judgeOf(raw, sourceTool), input, {
      signal: new AbortController().signal,
      attempt: 1,
    });
    return `${result.status} ${result.reasonCode ?? ''}`;
  } catch (error) {
    if (error instanceof CountersignFailure) return `refused: ${error.message.slice(0, 60)}`;
    throw error;
  }
}

async function timed(calls: number, call: () => Promise<unknown>): Promise<number[]> {
  const times: number[] = [];
  for (let i = 0; i < calls; i++) {
    const began = performance.now();
    await call();
    times.push(performance.now() - began);
  }
  return times;
}

/** Milliseconds of CPU for each call. On a shared machine, CPU time varies less than wall-clock time. */
async function cpuPerCall(call: () => Promise<unknown>): Promise<number> {
  const began = process.cpuUsage();
  await timed(CALLS / 2, call);
  const { user, system } = process.cpuUsage(began);
  return (user + system) / 1000 / (CALLS / 2);
}

const filled = (piece: string): string =>
  piece.repeat(Math.ceil(MAX_DIFF_BYTES / Buffer.byteLength(piece))).slice(0, MAX_DIFF_BYTES);
const HOSTILE: readonly (readonly [string, string, string])[] = [
  ['one letter', 'SQLDryRun', filled('a')],
  ['line feeds', 'SQLDryRun', filled('\n')],
  ['statements', 'SQLDryRun', filled("UPDATE a SET b = 'x' WHERE c = 1;\n")],
  ['quotes', 'SQLDryRun', filled("'")],
  ['dollar quotes', 'SQLDryRun', filled('$a$')],
  ['open comments', 'SQLDryRun', filled('/*')],
  ['nested arrays', 'SQLCAS', filled('[')],
  ['nested members', 'SQLCAS', filled('{"a":')],
  ['escapes', 'SQLCAS', `"${filled('\\u0041').slice(0, MAX_DIFF_BYTES - 3)}"`],
  ['assignments', 'SQLDryRun', filled('password=')],
  ['addresses', 'SQLDryRun', filled('://a:b')],
  ['private keys', 'SQLDryRun', filled('-----BEGIN PRIVATE KEY')],
  ['random tokens', 'SQLDryRun', filled('aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5 ')],
  ['pleas', 'SQLDryRun', filled('ignore ')],
  ['forged verdicts', 'SQLDryRun', filled('"verdict" : "ALLOW" ')],
  ['hunks', 'GitPatch', filled('@@ -1 +1 @@\n-a\n+b\n')],
  ['zero-width', 'SQLDryRun', filled('\u200b').slice(0, MAX_DIFF_BYTES / 3)],
];

async function main(json: boolean): Promise<void> {
  const server = await startScriptedJudge({ script: () => ({}) });
  const client = new OpenAI({ apiKey: 'k', baseURL: server.baseUrl, maxRetries: 0, logLevel: 'off' });
  const deps: AskDeps = {
    transport: createJudgeTransport({ baseUrl: server.baseUrl, apiKey: 'k' }),
    cache: noCache,
    markingKey: new Uint8Array(32).fill(1),
    prices: {},
    now: Date.now,
  };
  const sql = ordinaryText('SQLDryRun', 32 * 1024);
  const raw = new TextEncoder().encode(sql);
  // The server reads the header of a judge's request.
  const content = `${JSON.stringify({ canary: '', policyIds: [] })}\n${sql}`;
  const bareClient = (): Promise<unknown> =>
    client.chat.completions.create({ model: SCRIPTED_JUDGE, messages: [{ role: 'user', content }] });
  const fullJudge = async (): Promise<void> => {
    const ended = await ask(deps, raw, 'SQLDryRun');
    if (!ended.startsWith('ALLOW')) throw new Error(`The judge did not approve an ordinary change: ${ended}`);
  };
  try {
    say(`Warming up: ${WARM_UP} calls each`);
    await timed(WARM_UP, bareClient);
    await timed(WARM_UP, fullJudge);
    say(`Measuring: ${CALLS} calls each, alternating`);
    const [clientMs, judgeMs]: [number[], number[]] = [[], []];
    for (let i = 0; i < CALLS / 100; i++) {
      clientMs.push(...(await timed(100, bareClient)));
      judgeMs.push(...(await timed(100, fullJudge)));
    }
    const client32 = spread(clientMs);
    const judge32 = spread(judgeMs);
    const cpuMs = { client: await cpuPerCall(bareClient), judge: await cpuPerCall(fullJudge) };
    const overhead = { p50: judge32.p50 - client32.p50, p95: judge32.p95 - client32.p95 };
    say(
      `32 KiB of SQL: client ${shown(client32)}; judge ${shown(judge32)}; overhead p50 ${overhead.p50.toFixed(2)} ms, p95 ${overhead.p95.toFixed(2)} ms; CPU per call, server included: client ${cpuMs.client.toFixed(2)} ms, judge ${cpuMs.judge.toFixed(2)} ms`,
    );

    const hostile = [];
    for (const [name, sourceTool, text] of HOSTILE) {
      const bytes = new TextEncoder().encode(text);
      const { result: ended, ms, stallMs } = await withStall(() => ask(deps, bytes, sourceTool));
      hostile.push({ name, ms, stallMs, ended });
      say(`1 MiB of ${name}: ${ms} ms, longest stall ${stallMs} ms, ${ended}`);
    }
    if (json) process.stdout.write(`${JSON.stringify({ client32, judge32, overhead, cpuMs, hostile })}\n`);
  } finally {
    await server.stop();
  }
}

function shown(s: Spread): string {
  return `p50 ${s.p50.toFixed(2)} ms, p95 ${s.p95.toFixed(2)} ms`;
}

runProgram(() => main(readOptions({}).json));

/**
 * `npm run bench -- rules`: the cost of rules, parsers and patterns, and how long a hostile megabyte blocks the event loop.
 * Needs no server. Progress goes to standard error; with --json the last line of standard output is one object.
 */
import { extractGitPatchFacts } from '../source-tools/git/facts/extract-git-facts';
import { extractHttpPatchFacts } from '../source-tools/http/facts/extract-http-facts';
import { extractSqlFacts } from '../source-tools/sql/facts/extract-sql-facts';
import { extractTerraformPlanFacts } from '../source-tools/terraform/facts/extract-terraform-facts';
import { inlineDerivation } from '../activities/review/derivation';
import { say } from '../dev/run-program';
import { PACKS as ALL_PACKS, SOURCE_TOOLS } from '../source-tools';
import { defineSourceTool } from '../source-tools/define';
import { sha256Hex } from '../policy/contracts/hash';
import type { PlanValidator } from '../policy/contracts/plan';
import type { ValidatorDefinition } from '../policy/rules/define';
import { changeEvaluator, type EvaluationInput } from '../policy/rules/evaluate';
import type { Facts } from '../policy/contracts/facts';
import { deepFreeze } from '../policy/rules/deep-freeze';
import { definitionHash } from '../policy/rules/definition-hash';
import { conditionDefinition } from '../policy/rules/condition/condition';
import { ruleValidatorDefinition } from '../policy/validators/definitions';
import { startDerivationThreads } from '../workers/derivation';
import { extensionsOf } from '../workers/extensions';
import { hostileTexts } from './hostile';
import { machine, withStall } from './measure';
import { ordinaryText } from './ordinary';

const A = 'a'.repeat(64);
const SIZES = { '1 KB': 1024, '100 KB': 100 * 1024, '1 MB': 1000 * 1024 } as const;
const COUNTS = [1, 10, 100] as const;

interface Spread {
  readonly p50: number;
  readonly p99: number;
}

interface Pack {
  readonly tool: string;
  readonly extract: (raw: Uint8Array) => Facts | Promise<Facts>;
  /** Rules of the tool's own pack, which read its facts. */
  readonly rules: readonly ValidatorDefinition[];
  readonly scans: readonly ValidatorDefinition[];
}

/** Packs that scan the whole text of every tool's diffs. */
const SCANS = ['secrets', 'text', 'cross-cutting'];

function rulesFor(tool: string, ...packs: readonly string[]): readonly ValidatorDefinition[] {
  return ALL_PACKS.filter(({ name }) => packs.includes(name))
    .flatMap(({ rules }) => rules.map(({ definition }) => definition))
    .filter(({ sourceTools }) => sourceTools === '*' || sourceTools.includes(tool));
}

const packOf = (tool: string, pack: string, extract: Pack['extract']): Pack => ({
  tool,
  extract,
  rules: rulesFor(tool, pack),
  scans: rulesFor(tool, ...SCANS),
});

const PACKS: readonly Pack[] = [
  packOf('SQLDryRun', 'sql-postgres', extractSqlFacts),
  packOf('GitPatch', 'git-diff', extractGitPatchFacts),
  packOf('HTTPPatch', 'http-patch', extractHttpPatchFacts),
  packOf('TerraformPlan', 'terraform-plan', extractTerraformPlanFacts),
];

/** Milliseconds of one call, measured over at least `least` calls and 200 ms. */
async function timed(call: () => unknown, least = 20): Promise<Spread> {
  return await timedWith(() => undefined, call, least);
}

/** Warm-up before measuring: without it, about half of the measured time is JIT compilation. */
const WARM_CALLS = 3000;
const WARM_MS = 1000;

/** `prepare` makes the argument of each call; its time is not measured. */
async function timedWith<T>(prepare: () => T, call: (given: T) => unknown, least: number): Promise<Spread> {
  const warm = performance.now();
  for (let i = 0; i < 3 || (i < WARM_CALLS && performance.now() - warm < WARM_MS); i++) await call(prepare());
  const samples: number[] = [];
  for (const began = performance.now(); samples.length < least || performance.now() - began < 200;) {
    const given = prepare();
    const at = performance.now();
    await call(given);
    samples.push(performance.now() - at);
    if (samples.length >= 5000 || performance.now() - began > 4000) break;
  }
  samples.sort((a, b) => a - b);
  const at = (q: number): number => round(samples[Math.min(samples.length - 1, Math.floor(q * samples.length))] ?? 0);
  return { p50: at(0.5), p99: at(0.99) };
}

function round(ms: number): number {
  return Math.round(ms * 10_000) / 10_000;
}

function validatorOf(definition: ValidatorDefinition, n: number, config: unknown = {}): PlanValidator {
  const { version, logicRevision, implementation, phase } = definition;
  const id = `guardian.${implementation}_${n}`;
  const settings = definition.config.parse(config) as PlanValidator['config'];
  // Frozen, like the validators of a compiled plan.
  return deepFreeze({
    id,
    version,
    class: 'POLICY',
    level: 'confirm',
    phase,
    kind: 'derived',
    unit: 'bench',
    implementation,
    needsStaging: false,
    config: settings,
    logicRevision,
    logic_hash: definitionHash(definition, { id, config: settings }, undefined),
  });
}

function inputOf(tool: string, raw: Uint8Array, facts: Facts): EvaluationInput {
  return {
    changeId: A,
    inputSha: A,
    diff: { sourceTool: tool, raw, diffSha: sha256Hex(raw), metadata: {} },
    facts,
    tool: SOURCE_TOOLS.find(({ sourceTool }) => sourceTool === tool) ?? TEXT_TOOL,
    staging: null,
  };
}

/** Rules that can run without a dry run. */
function usable(rules: readonly ValidatorDefinition[]): ValidatorDefinition[] {
  return rules.filter((rule) => rule.evaluate !== null && !rule.reads.includes('staging'));
}

function rulesOf(
  rules: readonly ValidatorDefinition[],
  count: number,
): (readonly [ValidatorDefinition, PlanValidator])[] {
  const own = usable(rules);
  return Array.from({ length: count }, (_, i) => {
    const rule = own[i % own.length] as ValidatorDefinition;
    return [rule, validatorOf(rule, i)] as const;
  });
}

async function benchPack(pack: Pack): Promise<object> {
  const figures: Record<string, object> = {};
  for (const [size, bytes] of Object.entries(SIZES)) {
    const raw = new TextEncoder().encode(ordinaryText(pack.tool, bytes));
    const facts = await pack.extract(raw);
    // Frozen, as the rules receive them.
    const parser = await timed(async () => deepFreeze(await pack.extract(raw)), 10);
    const rules: Record<string, Spread> = {};
    const run = (chosen: ReturnType<typeof rulesOf>): Promise<Spread> =>
      timedWith(
        // A copy for each call: caches are keyed by the facts object, and each change has its own.
        () => inputOf(pack.tool, raw, deepFreeze(structuredClone(facts))),
        (input) => {
          const evaluate = changeEvaluator(input);
          for (const [definition, validator] of chosen) evaluate(definition, validator);
        },
        10,
      );
    for (const count of COUNTS) rules[count] = await run(rulesOf(pack.rules, count));
    const scans = await run(rulesOf(pack.scans, usable(pack.scans).length));
    figures[size] = { facts: facts.ok ? 'ok' : facts.code, bytes: raw.length, parser, rules, scans };
    say(
      `${pack.tool.padEnd(13)} ${size.padEnd(6)} ${facts.ok ? '' : `(${facts.code}) `}parser p50 ${parser.p50} p99 ${parser.p99} ms · ` +
        COUNTS.map((n) => `${n} rules p50 ${rules[n]?.p50} p99 ${rules[n]?.p99}`).join(' · ') +
        ` · secrets, text, cross-cutting p50 ${scans.p50} p99 ${scans.p99}`,
    );
  }
  return figures;
}

/** Milliseconds for each statement, for texts of 1 to 1000 statements. */
async function benchStatements(): Promise<object> {
  const figures: Record<string, number> = {};
  for (const count of [1, 10, 100, 1000]) {
    const raw = new TextEncoder().encode(
      Array.from({ length: count }, (_, i) => `update items set stock = ${i} where id = ${i};`).join('\n'),
    );
    const { p50 } = await timed(() => extractSqlFacts(raw), 10);
    figures[count] = round(p50 / count);
    say(`SQL, ${count} statements: ${figures[count]} ms each`);
  }
  return figures;
}

async function benchEngines(): Promise<object> {
  const figures: Record<string, object> = {};
  for (const [size, bytes] of Object.entries(SIZES)) {
    const raw = new TextEncoder().encode(ordinaryText('SQLDryRun', bytes));
    const facts: Facts = { ok: true, kind: 'none', parser: { name: 'none', version: '1' } };
    const input = inputOf('SQLDryRun', raw, facts);
    const patterns: Record<string, Spread> = {};
    for (const count of COUNTS) {
      const forbidden = Array.from({ length: count }, (_, i) => `(?i)\\bDROP\\s+TABLE\\s+secret_${i}\\b`);
      const validator = validatorOf(ruleValidatorDefinition as never, 0, {
        name: 'patterns',
        rules: [{ pattern: { name: 'forbidden', forbidden } }],
      });
      patterns[count] = await timed(() => changeEvaluator(input)(ruleValidatorDefinition as never, validator), 5);
    }
    const condition = validatorOf(conditionDefinition as never, 0, {
      name: 'many',
      when: 'has(metadata.affected_rows) && metadata.affected_rows > 100 && diff.sourceTool == "SQLDryRun"',
      reason: 'many rows',
    });
    const cel = await timed(() => changeEvaluator(input)(conditionDefinition as never, condition));
    figures[size] = { patterns, cel };
    say(
      `engines       ${size.padEnd(6)} ${COUNTS.map((n) => `${n} patterns p50 ${patterns[n]?.p50} p99 ${patterns[n]?.p99}`).join(' · ')} · CEL condition p50 ${cel.p50} p99 ${cel.p99} ms`,
    );
  }
  return figures;
}

const NO_PARSER = { name: 'none', version: '1' } as const;

const TEXT_TOOL = defineSourceTool({
  sourceTool: 'text',
  mode: 'cooperative',
  parser: NO_PARSER,
  facts: () => ({ ok: true, kind: 'text', parser: NO_PARSER }),
  staging: null,
});

const PATTERNS = {
  name: 'patterns',
  rules: [
    {
      pattern: {
        name: 'forbidden',
        forbidden: Array.from({ length: 20 }, (_, i) => `(?i)\\bDROP\\s+TABLE\\s+x${i}\\b`),
      },
    },
  ],
};

/**
 * Extracts facts and runs every rule of the tool on each hostile text, in threads as the workers do, and measures the event-loop delay
 * of the main thread.
 */
async function benchHostile(): Promise<object> {
  const { sourceTools: tools, validators } = extensionsOf([{ sourceTools: [TEXT_TOOL] }]);
  const threads = startDerivationThreads('');
  const here = inlineDerivation({ tools, validators });
  const rows: { tool: string; name: string; ms: number; cpuMs: number; stallMs: number | null; outcome: string }[] = [];
  try {
    const warm = new TextEncoder().encode('select 1');
    await threads.facts({ sourceTool: 'SQLDryRun', raw: warm, diffSha: sha256Hex(warm), metadata: {} });
    for (const { tool, name, bytes } of hostileTexts()) {
      const pack = PACKS.find((p) => p.tool === tool);
      const chosen =
        pack === undefined
          ? [validatorOf(ruleValidatorDefinition as never, 0, PATTERNS)]
          : usable([...pack.rules, ...pack.scans]).map((rule, i) => validatorOf(rule, i));
      // The threads do not have TEXT_TOOL.
      const inThread = pack !== undefined;
      const change = {
        changeId: A,
        inputSha: A,
        diff: { sourceTool: tool, raw: bytes, diffSha: sha256Hex(bytes), metadata: {} },
        staging: null,
      };
      const derivation = inThread ? threads : here;
      const cpu = process.cpuUsage();
      const { ms, stallMs } = await withStall(() => derivation.results(chosen, change));
      const spent = process.cpuUsage(cpu);
      const facts = await derivation.facts(change.diff);
      rows.push({
        tool,
        name,
        ms,
        cpuMs: Math.round((spent.user + spent.system) / 1000),
        stallMs: inThread ? stallMs : null,
        outcome: facts.ok ? 'decided' : facts.code,
      });
    }
  } finally {
    await threads.close();
  }
  const worst = [...rows].sort((a, b) => b.cpuMs - a.cpuMs);
  for (const row of worst.slice(0, 12))
    say(
      `hostile       ${row.tool} "${row.name}": ${row.ms} ms, ${row.cpuMs} ms CPU, ${row.outcome}${row.stallMs === null ? ' (in place)' : `, main thread blocked ${row.stallMs} ms`}`,
    );
  const stalls = rows.flatMap(({ stallMs }) => stallMs ?? []);
  const summary = {
    texts: rows.length,
    slowestMs: Math.max(...rows.map(({ ms }) => ms)),
    mostCpuMs: worst[0]?.cpuMs ?? 0,
    longestStallMs: stalls.length === 0 ? null : Math.max(...stalls),
  };
  say(
    `hostile       ${summary.texts} texts: at most ${summary.slowestMs} ms, ${summary.mostCpuMs} ms CPU; longest stall of the main thread ${summary.longestStallMs} ms`,
  );
  return { ...summary, rows };
}

export async function benchRules(json: boolean): Promise<void> {
  say(`Machine: ${machine()}`);
  await extractSqlFacts(new TextEncoder().encode('select 1'));
  const packs: Record<string, object> = {};
  for (const pack of PACKS) packs[pack.tool] = await benchPack(pack);
  const statements = await benchStatements();
  const engines = await benchEngines();
  const hostile = await benchHostile();
  if (json)
    process.stdout.write(
      `${JSON.stringify({ machine: machine(), packs, msPerStatement: statements, engines, hostile })}\n`,
    );
}

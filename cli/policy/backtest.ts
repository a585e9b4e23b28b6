import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { explain } from '../../policy/bundle/explain';
import { planEvaluator } from '../../policy/bundle/evaluate';
import { MAX_DIFF_BYTES } from '../../policy/contracts/diff';
import { runGit } from '../../source-tools/git/staging/git-process';
import { compileAll } from '../../workers/compile';
import { ConfigError, type Env } from '../../workers/config';
import { extensionsOfEnv, toEvalInput } from './bundles';

const SOURCE_TOOL = 'GitPatch';
const TIMEOUT_MS = 60_000;

export interface BacktestOptions {
  /** A work tree or a bare repository. */
  readonly git: string;
  /** Null: the only target of the bundle that accepts patches. */
  readonly target: string | null;
  /** Maximum number of commits, counted back from `revision`. */
  readonly last: number;
  readonly revision: string;
  /** Whether to include commits whose author is a bot. */
  readonly bots: boolean;
}

/** A commit that would not have been committed without an answer. */
export interface HeldCommit {
  readonly commit: string;
  readonly subject: string;
  readonly outcome: 'CONFIRM' | 'FORBID';
  readonly findings: readonly { readonly rule: string; readonly reason: string }[];
}

/** How often one rule holds a commit. `alone`: commits that no other rule holds. */
export interface RuleCost {
  readonly rule: string;
  readonly commits: number;
  readonly alone: number;
}

export interface Backtest {
  /** Commits that were evaluated. */
  readonly commits: number;
  readonly held: number;
  readonly forbidden: number;
  /** Rules that hold at least one commit, the costliest first. */
  readonly rules: readonly RuleCost[];
  readonly heldCommits: readonly HeldCommit[];
  /** Commits that were not evaluated, with the reason. */
  readonly notEvaluated: readonly { readonly commit: string; readonly reason: string }[];
}

/**
 * Evaluates the patch of each of the last commits of a repository as if an agent had submitted it. Merge commits are left out,
 * because their changes are those of other commits. Validators that need a dry run or a judge do not run.
 */
export async function backtest(env: Env, bundle: string, options: BacktestOptions): Promise<Backtest> {
  const evaluate = await commitEvaluator(env, bundle, options.target);
  const cwd = await mkdtemp(join(tmpdir(), 'countersign-backtest-'));
  try {
    const git = await openRepository(options.git, cwd);
    const heldCommits: HeldCommit[] = [];
    const notEvaluated: { commit: string; reason: string }[] = [];
    let commits = 0;
    for (const { commit, subject } of await listCommits(git, options)) {
      const patch = await git(['diff-tree', ...PATCH_OPTIONS, commit]);
      if (!patch.ok || patch.stdout.length === 0 || patch.stdout.length > MAX_DIFF_BYTES) {
        notEvaluated.push({ commit, reason: whyNot(patch) });
        continue;
      }
      commits++;
      const held = await evaluate(patch.stdout);
      if (held !== null) heldCommits.push({ commit, subject, ...held });
    }
    const forbidden = heldCommits.filter(({ outcome }) => outcome === 'FORBID').length;
    return { commits, held: heldCommits.length, forbidden, rules: costsOf(heldCommits), heldCommits, notEvaluated };
  } finally {
    await rm(cwd, { recursive: true, force: true });
  }
}

const PATCH_OPTIONS = [
  ...['-p', '--root', '--no-commit-id', '--binary', '--full-index'],
  ...['--find-renames', '--no-ext-diff', '--no-textconv', '--no-color'],
];

type GitOutput = { readonly ok: true; readonly stdout: Buffer } | { readonly ok: false; readonly explanation: string };
type Git = (args: readonly string[]) => Promise<GitOutput>;

function whyNot(patch: GitOutput): string {
  if (!patch.ok) return patch.explanation;
  return patch.stdout.length === 0 ? 'the commit changes nothing' : `its patch has more than ${MAX_DIFF_BYTES} bytes`;
}

async function openRepository(path: string, cwd: string): Promise<Git> {
  const root = resolve(path);
  const gitDir = existsSync(join(root, '.git')) ? join(root, '.git') : root;
  const git: Git = async (args) => {
    const result = await runGit({ args, gitDir, cwd, timeoutMs: TIMEOUT_MS });
    if (result.kind === 'broken') return { ok: false, explanation: result.explanation };
    if (result.code !== 0) return { ok: false, explanation: result.stderr.trim().split('\n')[0] ?? '' };
    return { ok: true, stdout: result.stdout };
  };
  const found = await git(['rev-parse', '--git-dir']);
  if (!found.ok) throw new ConfigError(`--git: expected a git repository, got "${path}": ${found.explanation}`);
  return git;
}

interface ListedCommit {
  readonly commit: string;
  readonly subject: string;
}

async function listCommits(git: Git, { last, revision, bots }: BacktestOptions): Promise<readonly ListedCommit[]> {
  const authors = bots ? [] : ['--perl-regexp', '--author=^(?!.*\\[bot\\])'];
  const log = await git([
    'log',
    '--no-merges',
    `--max-count=${last}`,
    '--format=%H%x09%s',
    ...authors,
    '--end-of-options',
    revision,
    '--',
  ]);
  if (!log.ok) throw new ConfigError(`--revision: cannot list the commits of "${revision}": ${log.explanation}`);
  return log.stdout
    .toString('utf8')
    .split('\n')
    .filter((row) => row !== '')
    .map((row) => ({ commit: row.slice(0, row.indexOf('\t')), subject: row.slice(row.indexOf('\t') + 1) }));
}

/** Returns the outcome and the findings that hold a patch; null if it would be committed without an answer. */
async function commitEvaluator(env: Env, bundle: string, target: string | null) {
  const extensions = await extensionsOfEnv(env);
  const accepting = compileAll(bundle, extensions).filter((plan) => plan.sourceTool === SOURCE_TOOL);
  const plans = accepting.filter((plan) => target === null || plan.target === target);
  const [only] = plans;
  if (only === undefined || plans.length > 1)
    throw new ConfigError(
      accepting.length === 0
        ? `--policy: no target of the bundle accepts ${SOURCE_TOOL}`
        : `--target: expected one of ${accepting.map((plan) => plan.target).join(', ')}, ${target === null ? 'and it is missing' : `got "${target}"`}`,
    );
  const { plan } = only;
  const evaluate = planEvaluator(plan, extensions.validators, extensions.sourceTools);
  return async (patch: Uint8Array): Promise<Pick<HeldCommit, 'outcome' | 'findings'> | null> => {
    const input = await toEvalInput(extensions, SOURCE_TOOL, patch, { metadata: {}, staging: null, at: null });
    const evaluation = evaluate(input);
    const { outcome } = evaluation;
    if (outcome === 'COMMIT') return null;
    const { findings } = explain(plan, extensions.validators, evaluation, input);
    const holding = findings.filter(
      ({ level, status, policies }) => level === 'confirm' || policies.length > 0 || status !== 'WARN',
    );
    return { outcome, findings: holding.map(({ validatorId, reason }) => ({ rule: validatorId, reason })) };
  };
}

function costsOf(held: readonly HeldCommit[]): RuleCost[] {
  const costs = new Map<string, { commits: number; alone: number }>();
  for (const { findings } of held) {
    const rules = new Set(findings.map(({ rule }) => rule));
    for (const rule of rules) {
      const cost = costs.get(rule) ?? { commits: 0, alone: 0 };
      costs.set(rule, { commits: cost.commits + 1, alone: cost.alone + (rules.size === 1 ? 1 : 0) });
    }
  }
  return [...costs]
    .map(([rule, cost]) => ({ rule, ...cost }))
    .sort((a, b) => b.commits - a.commits || b.alone - a.alone || a.rule.localeCompare(b.rule));
}

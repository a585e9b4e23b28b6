/**
 * Derivation in worker threads. The bytes and the validators' settings are posted to a thread; it answers with JSON, which the
 * main thread parses three times as fast as a structured clone. Facts are only returned on request. Validators are posted as JSON as
 * well, so that a thread finds those that it has read and frozen before by their text.
 */
import { type MessagePort, type Worker } from 'node:worker_threads';
import type { DiffInput } from '../../policy/contracts/diff';
import type { PlanValidator } from '../../policy/contracts/plan';
import type { Facts } from '../../policy/contracts/facts';
import { deepFreeze } from '../../policy/rules/deep-freeze';
import { ThreadPool, THREAD_READY, type ThreadReply } from './thread-pool';
import type { UnitResults } from '../review-types';
import { inlineDerivation, type Derivation, type DerivationParts, type DerivedChange } from './derivation';

/** Far more than any diff within the size limits needs, even on a loaded machine. */
const WALL_MS = 10_000;
const THREADS = 2;
/** A thread that exceeds these limits is terminated, and its task fails. */
export const THREAD_LIMITS = { maxOldGenerationSizeMb: 768, maxYoungGenerationSizeMb: 64 } as const;

type Task =
  | { readonly kind: 'facts' | 'contentSha' | 'title'; readonly diff: DiffInput }
  | { readonly kind: 'results'; readonly validators: string; readonly change: DerivedChange };

export interface DerivationThreads extends Derivation {
  readonly close: () => Promise<void>;
}

/** `start` starts a thread that calls `serveDerivation`. */
export function derivationThreads(start: () => Worker, wallMs = WALL_MS, size = THREADS): DerivationThreads {
  const pool = new ThreadPool({ start, size, wallMs });
  const run = async (task: Task): Promise<unknown> => JSON.parse(await pool.run(task));
  return {
    facts: async (diff) => (await run({ kind: 'facts', diff })) as Facts,
    contentSha: async (diff) => (await run({ kind: 'contentSha', diff })) as string,
    title: async (diff) => (await run({ kind: 'title', diff })) as string,
    results: async (validators, change) =>
      (await run({ kind: 'results', validators: JSON.stringify(validators), change })) as UnitResults,
    close: () => pool.close(),
  };
}

/** Runs inside a thread: reports that it is ready, then answers each task once. */
export function serveDerivation(port: MessagePort, parts: DerivationParts): void {
  const derivation = inlineDerivation({ ...parts, tools: withCachedFacts(parts.tools) });
  port.on('message', (task: Task) => {
    void answer(derivation, task).then((reply) => port.postMessage(reply));
  });
  port.postMessage(THREAD_READY);
}

async function answer(derivation: Derivation, task: Task): Promise<ThreadReply> {
  try {
    return { ok: true, json: await jsonOf(derivation, task) };
  } catch (error) {
    // The name only: a message may quote the diff.
    return { ok: false, message: error instanceof Error ? error.name : 'a non-error was thrown' };
  }
}

async function jsonOf(derivation: Derivation, task: Task): Promise<string> {
  return task.kind === 'results'
    ? resultsJson(await derivation.results(validatorsOf(task.validators), task.change))
    : JSON.stringify(await derivation[task.kind](task.diff));
}

const MAX_LISTS = 100;
const lists = new Map<string, readonly PlanValidator[]>();

/** The same frozen list for the same text: what the rules derive from a frozen validator is kept with it. */
function validatorsOf(text: string): readonly PlanValidator[] {
  const known = lists.get(text);
  if (known !== undefined) return known;
  if (lists.size >= MAX_LISTS) lists.clear();
  const list = deepFreeze(JSON.parse(text) as readonly PlanValidator[]);
  lists.set(text, list);
  return list;
}

/** Serializes each result separately: one that is not JSON becomes null, which the assembly treats as a missing result. */
function resultsJson(results: UnitResults): string {
  const members = Object.entries(results).map(([id, result]) => `${JSON.stringify(id)}:${resultJson(result)}`);
  return `{${members.join(',')}}`;
}

function resultJson(result: unknown): string {
  try {
    return JSON.stringify(result) ?? 'null';
  } catch (error) {
    if (error instanceof TypeError) return 'null'; // A cycle or a bigint.
    throw error;
  }
}

/** Caches the facts of the last diff: units, dry run and commit of a review need them several times in a row. */
function withCachedFacts(tools: DerivationParts['tools']): DerivationParts['tools'] {
  let last: { readonly key: string; readonly facts: Promise<Facts> } | null = null;
  return {
    ...tools,
    get: (name) => {
      const tool = tools.get(name);
      if (tool === undefined) return undefined;
      return {
        ...tool,
        facts: (diff) => {
          const key = JSON.stringify([name, diff.diffSha, diff.metadata]);
          if (last?.key !== key) last = { key, facts: tool.facts(diff) };
          return last.facts;
        },
      };
    },
  };
}

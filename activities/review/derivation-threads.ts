/**
 * The derivation in threads. What goes over is the bytes and the validators' settings; what comes back is JSON, which the
 * main thread reads three times as fast as a structured clone. Facts come back only where somebody asks for them.
 */
import { type MessagePort, type Worker } from 'node:worker_threads';
import type { DiffInput } from '../../policy/contracts/diff';
import type { PlanValidator } from '../../policy/contracts/plan';
import type { Facts } from '../../policy/contracts/facts';
import { createThreadPool, THREAD_READY, type ThreadReply } from './thread-pool';
import type { UnitResults } from '../review-types';
import { derivationHere, type Derivation, type DerivationParts, type DerivedChange } from './derivation';

/** Far more than any text within the bounds takes, on a machine that has other work as well. */
const WALL_MS = 10_000;
const THREADS = 2;
/** A thread past this dies, and its task with it. */
export const THREAD_LIMITS = { maxOldGenerationSizeMb: 768, maxYoungGenerationSizeMb: 64 } as const;

type Task =
  | { readonly kind: 'facts'; readonly diff: DiffInput }
  | { readonly kind: 'results'; readonly validators: readonly PlanValidator[]; readonly change: DerivedChange };

export interface DerivationThreads extends Derivation {
  readonly close: () => Promise<void>;
}

/** `start` starts a thread that calls `serveDerivation`. */
export function derivationThreads(start: () => Worker, wallMs = WALL_MS, size = THREADS): DerivationThreads {
  const pool = createThreadPool({ start, size, wallMs });
  const run = async (task: Task): Promise<unknown> => JSON.parse(await pool.run(task));
  return {
    facts: async (diff) => (await run({ kind: 'facts', diff })) as Facts,
    results: async (validators, change) => (await run({ kind: 'results', validators, change })) as UnitResults,
    close: pool.close,
  };
}

/** A thread's side: says that it is ready, then one answer for each task. */
export function serveDerivation(port: MessagePort, parts: DerivationParts): void {
  const here = derivationHere({ ...parts, tools: rememberingTools(parts.tools) });
  port.on('message', (task: Task) => {
    void answer(here, task).then((reply) => port.postMessage(reply));
  });
  port.postMessage(THREAD_READY);
}

async function answer(here: Derivation, task: Task): Promise<ThreadReply> {
  try {
    const json =
      task.kind === 'facts'
        ? JSON.stringify(await here.facts(task.diff))
        : resultsJson(await here.results(task.validators, task.change));
    return { ok: true, json };
  } catch (error) {
    // The name only: a message may quote the diff.
    return { ok: false, message: error instanceof Error ? error.name : 'a non-error was thrown' };
  }
}

/** Each by itself, so that one that is no JSON spoils no other; findings assembly reads null as no result. */
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

/** A review's units, dry run and commit ask for the facts of one diff several times in a row: the last ones are kept. */
function rememberingTools(tools: DerivationParts['tools']): DerivationParts['tools'] {
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

import type { ValidatorResult } from '../../policy/contracts/finding';
import { wellFormed } from '../../policy/judge/human-text';
import { makeDocument, type JudgeDocument } from '../../policy/judge/document';
import { injectionMarkers } from '../../policy/text/injection-markers';
import { judge, notCovered, type AnsweredPiece, type Judgement } from '../../policy/judge/judgement';
import { splitDocument, type Piece } from '../../policy/judge/pieces';
import { instructions, nonceOf, userMessage } from '../../policy/judge/prompt';
import { readAnswer } from '../../policy/judge/read-answer';
import {
  addUsage,
  costMicros,
  NO_USAGE,
  type JudgeCall,
  type JudgeRecord,
  type Usage,
} from '../../policy/judge/record';
import { createRedactor } from '../../policy/judge/redact';
import { wireJsonSchema } from '../../policy/judge/wire';
import type { JudgeInput } from '../review-types';
import { cacheKey } from './cache';
import { messagesSha, sha256Of } from './digest';
import type { JudgeDeps } from './judge-deps';
import { parseFailure, unreadableDiff } from './judge-failures';
import type { ResolvedJudge } from './resolve-judge';
import { parallel } from './parallel';
import type { ModelReply } from './model-exchange';

/** What asking needs; signing and the ledger come later. */
export type AskDeps = Pick<JudgeDeps, 'transport' | 'cache' | 'markingKey' | 'prices' | 'now'>;

export interface Asked {
  readonly result: ValidatorResult;
  readonly record: JudgeRecord;
  /** What the model wrote, secrets taken out, for the ledger. */
  readonly answers: readonly { readonly responseSha: string; readonly text: string }[];
}

/** Calls that run at one time for one diff. */
const CALLS_AT_ONCE = 4;
/** Of all answers of one diff, in the ledger; past it only hashes are kept. */
const MAX_KEPT = 64 * 1024;

interface Conversation {
  readonly document: JudgeDocument;
  readonly pieces: readonly Piece[];
  readonly nonce: string;
  readonly deadlineAt: number;
}

interface CalledPiece {
  readonly answered: AnsweredPiece;
  readonly call: JudgeCall;
  readonly text: string;
  readonly model: string;
}

/** Renders, splits, asks and reads. Makes no call where the diff is more than the plan lets the judge see. */
export async function askAboutDiff(
  deps: AskDeps,
  judgeOfPlan: ResolvedJudge,
  input: JudgeInput,
  run: { readonly signal: AbortSignal; readonly attempt: number },
): Promise<Asked> {
  const began = deps.now();
  const { validator, config, renderer, raw } = judgeOfPlan;
  const made = makeDocument({
    raw,
    maxBytes: config.byteBudget * config.maxChunks,
    metadata: input.metadata,
    renderer,
    metadataKeys: config.metadataKeys,
    proseKeys: config.includeAgentProse ? config.proseKeys : null,
  });
  const facts = { input, judgeOfPlan, host: deps.transport.host, attempt: run.attempt };
  if (!made.ok && made.kind === 'undecodable') throw unreadableDiff('undecodable', made.reason);
  if (!made.ok) return uncovered(facts, made.reason);
  const { document } = made;
  const split = splitDocument(document, config.byteBudget, config.maxChunks);
  if (!split.ok) return uncovered(facts, split.reason);

  const markers = injectionMarkers(
    [...document.lines.map((line) => line.text), ...document.metadata, ...document.prose].join('\n'),
  );
  const conversation: Conversation = {
    document,
    pieces: split.pieces,
    nonce: nonceOf(deps.markingKey, input.diffSha, validator.logic_hash),
    deadlineAt: began + config.deadlineMs,
  };
  const called = await parallel(split.pieces.length, CALLS_AT_ONCE, run.signal, (index, signal) =>
    askAboutPiece(deps, judgeOfPlan, input, conversation, index, signal),
  );
  const judgement = judge({
    validatorId: validator.id,
    diffSha: input.diffSha,
    document,
    validatorVersion: validator.version,
    model: config.model,
    pieces: called.map((c) => c.answered),
    markers,
    bytes: raw.length,
  });
  const calls = called.map((c) => c.call);
  const cost = called.reduce<number | null>(
    (total, c) => plus(total, c.call.reusedFrom === null ? costOf(deps, config.model, c) : 0),
    0,
  );
  const coverage = { bytes: raw.length, pieces: split.pieces.length, lines: document.lines.length };
  return {
    result: judgement.result,
    answers: kept(called),
    record: toRecord(facts, document, {
      result: judgement.result,
      judgement,
      calls,
      coverage,
      cost,
      latencyMs: Math.max(0, deps.now() - began),
      markers,
    }),
  };
}

async function askAboutPiece(
  deps: AskDeps,
  judgeOfPlan: ResolvedJudge,
  input: JudgeInput,
  conversation: Conversation,
  index: number,
  signal: AbortSignal,
): Promise<CalledPiece> {
  const { config, validator } = judgeOfPlan;
  const { document, nonce } = conversation;
  const piece = conversation.pieces[index];
  if (piece === undefined) throw new RangeError(`No piece ${index}`);
  const policyIds = config.policies.map((policy) => policy.id);
  const first = instructions(config.policies);
  const second = userMessage({
    document,
    piece,
    index,
    pieces: conversation.pieces.length,
    nonce,
    sourceTool: input.sourceTool,
    diffSha: input.diffSha,
    policyIds,
  });
  const promptSha = messagesSha(first, second);
  const key = cacheKey({
    tenant: input.tenant,
    sourceTool: input.sourceTool,
    host: deps.transport.host,
    logicHash: validator.logic_hash,
    renderer: document.renderer,
    promptSha,
  });

  const cached = await deps.cache.get(key);
  const began = deps.now();
  const reply: ModelReply =
    cached ??
    (await deps.transport.ask(
      {
        model: config.model,
        instructions: first,
        message: second,
        jsonSchema: wireJsonSchema(policyIds),
        maxTokens: config.maxTokens,
        ...(config.temperature === undefined ? {} : { temperature: config.temperature }),
        acceptedModels: config.acceptedModels,
        cacheKey: config.computed.promptSha,
      },
      { signal, deadlineMs: Math.max(1, conversation.deadlineAt - began) },
    ));
  const read = readAnswer(reply.text, { policyIds, canary: nonce });
  if (!read.ok) {
    const details = { code: read.code, responseSha: sha256Of(reply.text), returnedModel: reply.model };
    throw parseFailure('answer', `${read.code}: ${read.message}`, { retryable: !read.saysBlock, details });
  }
  if (cached === null) await deps.cache.set(key, { ...reply, origin: input.changeId });
  return {
    answered: { piece, answer: read.answer, proseContradicts: read.proseContradicts },
    text: reply.text,
    model: reply.model,
    call: {
      firstLine: piece.first + 1,
      lastLine: piece.last + 1,
      promptSha,
      responseSha: sha256Of(reply.text),
      returnedModel: reply.model,
      requestId: reply.requestId,
      finishReason: reply.finishReason,
      usage: reply.usage,
      latencyMs: cached === null ? Math.max(0, deps.now() - began) : 0,
      reusedFrom: cached === null ? null : cached.origin,
    },
  };
}

/** No call is made, and the record says so. */
function uncovered(facts: Facts, reason: string): Asked {
  const { input, judgeOfPlan } = facts;
  const bytes = judgeOfPlan.raw.length;
  const result = notCovered(judgeOfPlan.validator.id, input.diffSha, bytes, reason);
  const nothing = {
    judgement: null,
    calls: [],
    coverage: { bytes, pieces: 0, lines: 0 },
    cost: 0,
    latencyMs: 0,
    markers: [],
  };
  return { result, answers: [], record: toRecord(facts, null, { ...nothing, result }) };
}

/** By the model that answered, else by the one that was asked. */
function costOf(deps: AskDeps, requested: string, called: CalledPiece): number | null {
  return (
    costMicros(deps.prices, called.model, called.call.usage) ?? costMicros(deps.prices, requested, called.call.usage)
  );
}

function plus(a: number | null, b: number | null): number | null {
  return a === null || b === null ? null : a + b;
}

function kept(called: readonly CalledPiece[]): Asked['answers'] {
  let left = MAX_KEPT;
  return called.map(({ text, call }) => {
    const clean = wellFormed(createRedactor().redact(text));
    const fits = clean.length <= left;
    if (fits) left -= clean.length;
    return { responseSha: call.responseSha, text: fits ? clean : '' };
  });
}

interface Outcome {
  readonly result: ValidatorResult;
  readonly judgement: Judgement | null;
  readonly calls: readonly JudgeCall[];
  readonly coverage: JudgeRecord['coverage'];
  readonly cost: number | null;
  readonly latencyMs: number;
  readonly markers: readonly string[];
}

interface Facts {
  readonly input: JudgeInput;
  readonly judgeOfPlan: ResolvedJudge;
  readonly host: string;
  readonly attempt: number;
}

function toRecord(
  { input, judgeOfPlan: { config }, host, attempt }: Facts,
  document: JudgeDocument | null,
  outcome: Outcome,
): JudgeRecord {
  const { judgement, calls } = outcome;
  const asked = calls.filter((call) => call.reusedFrom === null);
  return {
    revision: 1,
    status: outcome.result.status,
    reasonCode: outcome.result.reasonCode ?? '',
    verdict: judgement?.verdict ?? null,
    errorClass: null,
    cause: null,
    confidence: judgement?.confidence ?? null,
    instructionsInDiff: judgement?.instructionsInDiff ?? false,
    markers: [...outcome.markers],
    provider: { host, requestedModel: config.model },
    hashes: {
      diff: input.diffSha,
      input: input.inputSha,
      prompt: config.computed.promptSha,
      schema: config.computed.schemaSha,
    },
    renderer: document?.renderer ?? null,
    calls: [...calls],
    usage: asked.reduce<Usage>((total, call) => addUsage(total, call.usage), NO_USAGE),
    costMicros: outcome.cost,
    latencyMs: outcome.latencyMs,
    attempt,
    cacheHit: calls.length > 0 && asked.length === 0,
    redactions: { ...document?.redactions },
    invisibleCharacters: document?.hiding ?? 0,
    coverage: outcome.coverage,
  };
}

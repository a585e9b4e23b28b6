import type { JsonValue } from '../../../policy/contracts/canonical-json';
import type { Metadata } from '../../../policy/contracts/diff';
import { changeId, inputSha } from '../../../policy/contracts/change-id';
import { sha256Hex } from '../../../policy/contracts/hash';
import type { LedgerKind } from '../../../policy/contracts/ledger';
import { planHash, type Plan, type PlanValidator } from '../../../policy/contracts/plan';
import { JudgeConfig, JUDGE_ID } from '../../../policy/judge/config';
import type { Ledger, LedgerEntry } from '../../../policy/evidence/ledger-port';
import { memoryByteStore } from '../../support/memory-byte-store';
import { memoryLedger, type MemoryLedger } from '../../support/memory-ledger';
import type { AttestedPredicate } from '../../../policy/contracts/attested';
import { inActivity } from '../../../dev/activity-context';
import { planOf as anyPlanOf } from '../../support/plan';
import { createJudgeActivities } from '../../../activities/judge/create-judge-activities';
import type { JudgeDeps } from '../../../activities/judge/judge-deps';
import type { CachedReply } from '../../../activities/judge/cache';
import { judgeValidator as judgeValidatorOf } from '../../../activities/judge/judge-validator';
import { createJudgeTransport } from '../../../activities/judge/transport';
import type { Judged, JudgeInput } from '../../../activities/review-types';
import type { JudgedChange } from '../../../activities/judge/resolve-judge';
import { newKeyPair } from '../../../signing/keys';
import { signPredicate } from '../../../signing/envelope';
import type { JudgeServer } from '../../support/judge-server';
import { ourTools } from '../../support/source-tools';

export const MODEL = 'test-judge';

export function judgeValidator(
  settings: { readonly [key: string]: unknown } = {},
  sourceTool = 'SQLDryRun',
): PlanValidator {
  return judgeValidatorOf(JudgeConfig.parse({ model: MODEL, ...settings }), ourTools.get(sourceTool));
}

export function planOf(validators: readonly PlanValidator[], sourceTool: string): Plan {
  return anyPlanOf(validators, { model: MODEL, sourceTool, development: true });
}

export interface JudgeWorld {
  readonly deps: JudgeDeps;
  readonly ledger: { readonly changeId: string; readonly entries: readonly LedgerEntry[] }[];
  readonly predicates: AttestedPredicate[];
  /** Stores the bytes, opens the change, and returns it with the input that the workflow would pass to the activity. `recorded` replaces members in its rows. */
  readonly change: (
    diff: string | Uint8Array,
    over?: {
      readonly sourceTool?: string;
      readonly metadata?: Metadata;
      readonly requestKey?: string;
      readonly tenant?: string;
      readonly settings?: { readonly [key: string]: unknown };
      readonly recorded?: { readonly [key: string]: JsonValue };
      /** A further row of the change. */
      readonly ends?: LedgerKind;
    },
  ) => JudgedChange;
  readonly ask: (input: JudgeInput, attempt?: number) => Promise<Judged>;
}

export function judgeWorld(
  server: Pick<JudgeServer, 'baseUrl'>,
  { append, ...over }: Partial<JudgeDeps> & { readonly append?: Ledger['append'] } = {},
): JudgeWorld {
  const store = memoryByteStore();
  const plans = new Map<string, Plan>();
  const ledger: { changeId: string; entries: readonly LedgerEntry[] }[] = [];
  const predicates: AttestedPredicate[] = [];
  const cached = new Map<string, CachedReply>();
  /** Each change created here is opened with the plan of its latest input. */
  const opened = new Map<string, MemoryLedger>();
  const key = newKeyPair();
  const deps: JudgeDeps = {
    transport: createJudgeTransport({ baseUrl: server.baseUrl, apiKey: 'test-key' }),
    loadPlan: async (hash) => {
      const plan = plans.get(hash);
      if (plan === undefined) throw new Error(`No plan ${hash}`);
      return plan;
    },
    store,
    ledger: {
      readKinds: async (id, kinds) => (await opened.get(id)?.readKinds(id, kinds)) ?? [],
      append: async (id, entries) => {
        ledger.push({ changeId: id, entries });
        return (await append?.(id, entries)) ?? [];
      },
    },
    attestor: async () => ({
      keyId: key.keyId,
      sign: (predicate) => {
        predicates.push(predicate);
        return signPredicate('attested', predicate, key);
      },
    }),
    tools: ourTools,
    cache: {
      get: async (key) => cached.get(key) ?? null,
      set: async (key, reply) => {
        const first = cached.get(key) ?? null;
        if (first === null) cached.set(key, reply);
        return first;
      },
    },
    markingKey: new Uint8Array(32).fill(7),
    prices: { [MODEL]: { input: 2_000_000, cachedInput: 500_000, output: 8_000_000 } },
    keepAnswers: true,
    now: Date.now,
    ...over,
  };
  return {
    deps,
    ledger,
    predicates,
    change: (
      diff,
      {
        sourceTool = 'SQLDryRun',
        metadata = {},
        requestKey = '',
        tenant = 'acme',
        settings = {},
        recorded = {},
        ends,
      } = {},
    ) => {
      const raw = typeof diff === 'string' ? new TextEncoder().encode(diff) : diff;
      const diffSha = sha256Hex(raw);
      void store.put(tenant, raw);
      const plan = planOf([judgeValidator(settings, sourceTool)], sourceTool);
      const hash = planHash(plan);
      plans.set(hash, plan);
      const submission = { tenant, target: 'shop', sourceTool, diffSha, metadata, requestKey };
      const id = changeId(submission);
      const row = { at: '2026-03-01T12:00:00.000Z' };
      const rows = memoryLedger();
      opened.set(id, rows);
      void rows.append(id, [
        { ...row, kind: 'submitted', factKey: 'submitted', body: { submission: { ...submission, ...recorded } } },
        { ...row, kind: 'planned', factKey: 'planned', body: { planHash: recorded['planHash'] ?? hash } },
        ...(ends === undefined ? [] : [{ ...row, kind: ends, factKey: ends, body: {} }]),
      ]);
      return {
        ...submission,
        changeId: id,
        inputSha: inputSha(submission),
        planHash: hash,
        stagingSha: null,
        validatorId: JUDGE_ID,
      };
    },
    ask: (input, attempt = 1) => inActivity(() => createJudgeActivities(deps).askJudge(input), { attempt }),
  };
}

import { listedEnd } from '../../storage/ledger/reviews';
import { toColumns } from '../../storage/ledger/ledger';
import { canonicalJson } from '../../policy/contracts/canonical-json';
import {
  AFTER_CLOSED,
  AFTER_HEAD,
  AFTER_SETTLEMENT,
  GENESIS,
  LedgerKind,
  LedgerRow,
  ledgerHash,
} from '../../policy/contracts/ledger';
import { deepFreeze } from '../../policy/rules/deep-freeze';
import { APPEND_GRANTS, type Role } from '../../storage/database/roles';
import { TerminalState } from '../../policy/contracts/outcome';
import type { WithChangeLock } from '../../storage/ledger/with-change-lock';
import type { StoredRow } from '../../policy/evidence/chain';
import {
  VERDICTS,
  MAX_REFUSED_ROWS,
  REFUSALS,
  type Appended,
  type WithAdvisoryLock,
  isIdPrefix,
  type Ledger,
  type LedgerEntry,
  type ProjectionPatch,
  type RefusalCount,
  type ReviewProjection,
  type SpentNonce,
} from '../../policy/evidence/ledger-port';

/** The ledger in memory, with the same rules as the one in PostgreSQL (one test runs on both). If `down` is set, every call rejects with it. */
export interface MemoryLedger extends Ledger {
  down: Error | null;
  /** All rows of all changes, in the order they were written. */
  readonly all: readonly StoredRow[];
  /** Returns a function that undoes everything written since. */
  savepoint(): () => void;
  /** The same ledger, as another database role writes it. */
  as(role: Role): MemoryLedger;
}

/** Kinds that several roles may append: each role has its own keys. */
const SHARED = LedgerKind.options.filter(
  (kind) => Object.values(APPEND_GRANTS).filter((kinds) => kinds.includes(kind)).length > 1,
);

const BEFORE_SETTLEMENT = LedgerKind.options.filter((kind) => !AFTER_SETTLEMENT.has(kind));

export function memoryLedger(): MemoryLedger {
  const rows: (StoredRow & { readonly factKey: string })[] = [];
  const reviews = new Map<string, ReviewProjection>();
  const nonces = new Map<string, SpentNonce>();
  const counters = new Map<string, { readonly counter: number; readonly assertionSha: string }>();
  const counts = new Map<string, RefusalCount & { readonly changeId: string }>();
  const rowsOf = (changeId: string) => rows.filter(({ row }) => row.changeId === changeId);
  const stored = ({ row, hash }: StoredRow): StoredRow => ({ row, hash });

  const count = (changeId: string, factKey: string): void => {
    const key = `${changeId} ${factKey}`;
    counts.set(key, { changeId, factKey, count: (counts.get(key)?.count ?? 0) + 1 });
  };

  const nothing = (status: 'counted' | 'nonce_reused' | 'counter_regressed' | 'settled' | 'moved'): Appended => ({
    status,
    existing: false,
    stored: null,
  });

  function appendOne(
    changeId: string,
    entry: LedgerEntry,
    role: string,
    { expectedN, judgedSince }: { readonly expectedN: number | undefined; readonly judgedSince: boolean },
  ): Appended {
    const fact = `${factKind(entry.kind, role)}/${entry.factKey}`;
    const existing = rowsOf(changeId).find(({ factKey }) => factKey === fact);
    if (existing !== undefined) {
      if ((REFUSALS as readonly string[]).includes(entry.kind)) count(changeId, fact);
      return { status: 'existing', existing: true, stored: stored(existing) };
    }
    const has = (kinds: readonly string[], after = -1): boolean =>
      rowsOf(changeId).some(({ row }) => kinds.includes(row.kind) && row.n > after);
    if (
      (!AFTER_SETTLEMENT.has(entry.kind) && has(['intent', 'decided'])) ||
      (!AFTER_CLOSED.has(entry.kind) && has(['closed'])) ||
      (!AFTER_HEAD.has(entry.kind) && has(['head']))
    )
      return nothing('settled');
    if (judgedSince && VERDICTS.some((kind) => kind === entry.kind)) return nothing('moved');
    if (entry.kind === 'intent' && has(['withdrawn', 'superseded'])) return nothing('moved');
    if (
      (entry.kind === 'intent' || entry.kind === 'decided') &&
      expectedN !== undefined &&
      has(BEFORE_SETTLEMENT, expectedN)
    )
      return nothing('moved');
    const group = groupOf(entry.kind, fact, role);
    if (group !== null && rowsOf(changeId).filter((r) => r.factKey.startsWith(group)).length >= MAX_REFUSED_ROWS) {
      count(changeId, group);
      return nothing('counted');
    }
    const touch = entry.nonce?.passkey;
    if (entry.nonce !== undefined && touch !== undefined) {
      const before = counters.get(entry.nonce.keyId) ?? { counter: 0, assertionSha: '' };
      const isSame = touch.counter === 0 || touch.assertionSha === before.assertionSha;
      if (touch.counter < before.counter || (touch.counter === before.counter && !isSame))
        return nothing('counter_regressed');
      counters.set(entry.nonce.keyId, touch);
    }
    if (entry.nonce !== undefined) {
      const place = canonicalJson([entry.nonce.keyId, entry.nonce.nonce]);
      if (nonces.has(place)) return nothing('nonce_reused');
      nonces.set(place, { ...entry.nonce, changeId, factKey: entry.factKey });
    }
    const last = rowsOf(changeId).at(-1);
    const { kind, at, body } = entry;
    const row = LedgerRow.parse({
      changeId,
      n: (last?.row.n ?? -1) + 1,
      prev: last?.hash ?? GENESIS,
      kind,
      at,
      actor: role,
      body: JSON.parse(canonicalJson(body)) as LedgerRow['body'],
    });
    // Frozen, because every reader gets the same row.
    const made = { row: deepFreeze(row), hash: ledgerHash(row), factKey: fact };
    rows.push(made);
    return { status: 'appended', existing: false, stored: stored(made) };
  }

  function assertProjectable(changeId: string, patch: ProjectionPatch): void {
    const { tenant, target, sourceTool, inputSha, openedAt } = patch;
    const first = { tenant, target, sourceTool, inputSha, openedAt };
    const missing = Object.entries(first)
      .filter(([, value]) => value === undefined)
      .map(([name]) => name);
    if (!reviews.has(changeId) && missing.length > 0) throw new Error(`reviews: missing ${missing.join(', ')}`);
  }

  function project(changeId: string, patch: ProjectionPatch, updatedAt: string): void {
    const before = reviews.get(changeId);
    if (before?.closedAt != null && patch.closedAt == null) return;
    const blank = {
      state: 'RUNNING',
      reason: null,
      mode: 'enforced',
      requester: null,
      pending: 0,
      highestSeverity: null,
      deadlineAt: null,
      closedAt: null,
      summary: '',
    };
    const { tenant, target, sourceTool, inputSha, mode, requester, openedAt } = before ?? {};
    const identity = before === undefined ? {} : { tenant, target, sourceTool, inputSha, mode, requester, openedAt };
    reviews.set(changeId, { ...blank, ...before, ...patch, ...identity, changeId, updatedAt } as ReviewProjection);
  }

  const listed = (review: ReviewProjection): ReviewProjection => {
    const closed = rowsOf(review.changeId).find(({ row }) => row.kind === 'closed');
    return { ...review, ...listedEnd(closed?.row.body, review) };
  };

  const ledgerAs = (role: Role | 'postgres'): MemoryLedger => ({
    down: null,
    as: (other) => sharing(ledgerAs(other)),
    get all() {
      return rows.map(stored);
    },
    savepoint() {
      const before = rows.length;
      const copies = [reviews, nonces, counters, counts].map(
        (map) => [map, new Map(map as Map<string, never>)] as const,
      );
      return () => {
        rows.length = before;
        for (const [map, copy] of copies) {
          map.clear();
          for (const [key, value] of copy) map.set(key, value);
        }
      };
    },
    async append(changeId, entries, projection, expectedN) {
      if (!/^[0-9a-f]{64}$/.test(changeId)) throw new TypeError(`Ledger: changeId "${changeId}"`);
      toColumns(entries);
      if (projection !== undefined) assertProjectable(changeId, projection);
      const done: Appended[] = [];
      const judgedSince =
        expectedN !== undefined &&
        rowsOf(changeId).some(({ row }) => row.n > expectedN && VERDICTS.some((kind) => kind === row.kind));
      for (const entry of entries) {
        const appended = appendOne(changeId, entry, role, { expectedN, judgedSince });
        done.push(appended);
        if (appended.existing && entry.kind === 'submitted') break;
      }
      const fresh = done.length === 0 || done.some(({ status }) => status === 'appended');
      if (projection !== undefined && fresh)
        project(changeId, projection, entries.at(-1)?.at ?? projection.closedAt ?? projection.openedAt ?? '');
      return done;
    },
    read: async (changeId) => rowsOf(changeId).map(stored),
    readKinds: async (changeId, kinds) =>
      rowsOf(changeId)
        .filter(({ row }) => kinds.includes(row.kind))
        .map(stored),
    review: async (changeId) => {
      const review = reviews.get(changeId);
      return review === undefined ? null : listed(review);
    },
    async listReviews({ tenant, state, target, idPrefix, limit, after }) {
      if (!Number.isInteger(limit) || limit < 1 || limit > 500) throw new RangeError('limit');
      if (idPrefix !== undefined && !isIdPrefix(idPrefix)) throw new RangeError('idPrefix');
      if (after !== undefined && !reviews.has(after)) throw new RangeError('after');
      const all = [...reviews.values()]
        .filter(
          (r) =>
            r.changeId.startsWith(idPrefix ?? '') &&
            (tenant ?? r.tenant) === r.tenant &&
            (state ?? r.state) === r.state &&
            (target ?? r.target) === r.target,
        )
        .sort((a, b) =>
          a.openedAt === b.openedAt ? (a.changeId < b.changeId ? -1 : 1) : a.openedAt > b.openedAt ? -1 : 1,
        );
      const from = after === undefined ? 0 : all.findIndex((r) => r.changeId === after) + 1;
      const page = all.slice(from, from + limit);
      return { reviews: page.map(listed), next: from + limit < all.length ? (page.at(-1)?.changeId ?? null) : null };
    },
    async rejectedInputs({ inputSha, factsSha }, exceptChangeId) {
      const isSame = ({ body }: LedgerRow): boolean =>
        body['inputSha'] === inputSha || (factsSha !== null && body['factsSha'] === factsSha);
      return rows
        .filter(
          ({ row }) =>
            row.kind === 'answer_accepted' &&
            row.body['decision'] === 'reject' &&
            row.changeId !== exceptChangeId &&
            rowsOf(row.changeId).some((r) => r.row.kind === 'submitted' && isSame(r.row)),
        )
        .reverse()
        .slice(0, 20)
        .map(({ row }) => ({ changeId: row.changeId, n: row.n, at: row.at }));
    },
    async openedBefore({
      changeId,
      tenant,
      target,
      sourceTool,
      requester,
      since,
      except,
      limit,
      unknownOnlyCommitted,
    }) {
      const opened = (id: string) => rows.findIndex(({ row }) => row.changeId === id && row.kind === 'submitted');
      const own = opened(changeId);
      const before = rows.slice(0, own === -1 ? rows.length : own).map(({ row }) => row);
      const committing = (id: string) => before.some((row) => row.changeId === id && row.kind === 'intent');
      const staged = (id: string) =>
        before.findLast((row) => row.changeId === id && row.kind === 'staged' && row.body['measured'] != null)?.body[
          'measured'
        ] ?? null;
      return rows
        .filter(({ row: { kind, changeId: id, body } }, i) => {
          const review = reviews.get(id);
          const closed = rowsOf(id).find(({ row }) => row.kind === 'closed')?.row.body;
          const left = closed?.['state'] === 'ROLLED_BACK' && (except as readonly unknown[]).includes(closed['reason']);
          return (
            kind === 'submitted' &&
            review !== undefined &&
            id !== changeId &&
            (own === -1 || i < own) &&
            (tenant ?? review.tenant) === review.tenant &&
            (target ?? review.target) === review.target &&
            (sourceTool ?? review.sourceTool) === review.sourceTool &&
            (requester === null || review.requester === null || review.requester === requester) &&
            (!unknownOnlyCommitted ||
              review.requester !== null ||
              (committing(id) && closed?.['state'] !== 'ROLLED_BACK')) &&
            Date.parse(review.openedAt) > Date.parse(since) &&
            body['measure'] !== undefined &&
            !left
          );
        })
        .reverse()
        .slice(0, limit)
        .map(({ row }) => {
          const closed = rowsOf(row.changeId).find((r) => r.row.kind === 'closed')?.row.body['state'];
          return {
            changeId: row.changeId,
            measure: structuredClone(row.body['measure'] ?? null),
            staged: structuredClone(staged(row.changeId)),
            state: TerminalState.safeParse(closed).data ?? null,
          };
        });
    },
    refusalCounts: async (changeId) =>
      [...counts.values()]
        .filter((c) => c.changeId === changeId)
        .map(({ factKey, count: times }) => ({ factKey, count: times }))
        .sort((a, b) => (a.factKey < b.factKey ? -1 : 1)),
    spentNonces: async (changeId) => [...nonces.values()].filter((nonce) => nonce.changeId === changeId),
  });
  const main = ledgerAs('postgres');
  const sharing = (ledger: MemoryLedger): MemoryLedger => failing(ledger, main);
  return sharing(main);
}

function factKind(kind: LedgerKind, role: string): string {
  if (kind === 'intent' || kind === 'decided') return 'settlement';
  if (kind === 'withdrawn' || kind === 'superseded') return 'stopped';
  return SHARED.includes(kind) ? `${kind}/${role}` : kind;
}

/** The part of the key that refusals of one group have in common; null for rows without a bound. */
function groupOf(kind: LedgerKind, fact: string, role: string): string | null {
  if (kind === 'answer_refused') return `${kind}/${role}/`;
  return kind === 'refused' && fact.includes('#') ? fact.slice(0, fact.indexOf('#') + 1) : null;
}

/** Makes every method reject while `down` of `main` is set. */
function failing(ledger: MemoryLedger, main: MemoryLedger): MemoryLedger {
  return new Proxy(ledger, {
    set(_target, key, value) {
      return Reflect.set(main, key, value);
    },
    get(target, key) {
      const value: unknown = Reflect.get(target, key);
      if (key === 'down') return main.down;
      if (typeof value !== 'function' || key === 'as') return value;
      return (...args: unknown[]) =>
        main.down === null ? (value as (...a: unknown[]) => unknown)(...args) : Promise.reject(main.down);
    },
  });
}

const queues = new WeakMap<Ledger, Promise<unknown>>();

/** Runs calls one at a time on a ledger in memory, and undoes what `work` appended if it throws. */
export function memoryWithAdvisoryLock(ledger: Ledger & Partial<Pick<MemoryLedger, 'savepoint'>>): WithAdvisoryLock {
  return (_locks, work) => {
    const transaction = async () => {
      const undo = ledger.savepoint?.();
      try {
        return await work(ledger);
      } catch (error) {
        undo?.();
        throw error;
      }
    };
    const result = (queues.get(ledger) ?? Promise.resolve()).then(transaction);
    queues.set(
      ledger,
      result.catch(() => {}),
    );
    return result;
  };
}

export function memoryWithChangeLock(ledger: MemoryLedger, actor: Role | 'postgres' = 'postgres'): WithChangeLock {
  const withLock = memoryWithAdvisoryLock(ledger);
  return (_changeId, work) => withLock([], (locked) => work(locked, actor));
}

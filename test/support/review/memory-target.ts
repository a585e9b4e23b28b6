import type { JsonObject } from '../../../policy/contracts/canonical-json';
import { stagingSha as stagingShaOf, type StagingRecord } from '../../../policy/contracts/staging-record';
import type { CommitContext, CommitResult, ReadBack, TargetEffects } from '../../../policy/contracts/target-effects';
import { defineSourceTool } from '../../../source-tools/define';
import { targetMisconfigured, targetUnavailable } from '../../../source-tools/target-failure';
import { stagingRecord, updatedTable } from '../../../dev/staging-record';

/** The facts of the memory target's diffs, which say nothing beyond their bytes. */
export const MEMORY_FACTS = { ok: true, kind: 'memory', parser: { name: 'memory', version: '1' } } as const;

/** A target in memory that keeps a marker for each change, as the real ones do. Its members make it fail in the ways that a real one can. */
export class MemoryTarget {
  /** Rows that a dry run updates now. Another number means that the base of the change has moved. */
  updated = 1;
  /** False: the dry run executes nothing, and the commit is the first execution. */
  rehearses = true;
  /** Number of effects applied and not compensated. */
  applied = 0;
  /** Called inside `commit`, before the effect. */
  before: () => Promise<void> = async () => {};
  /** The effect is applied, but the result of COMMIT is lost. */
  loses = false;
  /** The marker cannot be read. */
  blind = false;
  /** The target is unavailable. */
  away = false;
  /** The target is not set up, for example because the password of its role was changed. */
  unprepared = false;
  /** Post validators run after the effect, as for git and HTTP. */
  late = false;
  readonly markers = new Map<string, JsonObject | 'sealed'>();
  /** What `seal` and `commit` were called with. */
  readonly settings: unknown[] = [];

  record(): StagingRecord {
    const table = updatedTable('orders', this.updated, String(this.updated % 10).repeat(64));
    return stagingRecord({ tables: [table], serverVersion: 'memory' });
  }

  /** Commits run one at a time, as under the row lock of a real marker. */
  #lastCommit: Promise<unknown> = Promise.resolve();

  async #commit(ctx: CommitContext): Promise<CommitResult> {
    await this.before();
    const current = this.#lastCommit.then(() => this.#commitLocked(ctx));
    this.#lastCommit = current.catch(() => {});
    return current;
  }

  async #commitLocked(ctx: CommitContext): Promise<CommitResult> {
    const marker = this.markers.get(ctx.idempotency);
    if (marker === 'sealed') return { kind: 'sealed' };
    if (marker !== undefined) return this.#postChecked(ctx, marker);
    const record = this.record();
    if (this.rehearses && stagingShaOf(record) !== stagingShaOf({ ...ctx.approved, previewSha: record.previewSha }))
      return { kind: 'stale', explanation: 'the base has moved' };
    const post = this.late ? undefined : await ctx.postCheck?.(record);
    if (post?.ok === false) return { kind: 'post_failed', explanation: post.explanation };
    this.applied++;
    const effect = { rows: record.tables[0]?.updated ?? 0 };
    this.markers.set(ctx.idempotency, effect);
    return this.loses
      ? { kind: 'unknown', explanation: 'the result of COMMIT was lost' }
      : this.#postChecked(ctx, effect);
  }

  async #postChecked(ctx: CommitContext, effect: JsonObject): Promise<CommitResult> {
    const post = this.late ? await ctx.postCheck?.(this.record()) : undefined;
    if (post?.ok !== false) return { kind: 'applied', effect, replayed: false };
    this.applied--;
    return { kind: 'compensated', explanation: post.explanation, effect };
  }

  readonly effects: TargetEffects = {
    stage: async () => {
      const unseen = { tables: [], fullyCaptured: false, uncaptured: ['DO'], reason: 'not_rehearsed' as const };
      return { kind: 'staged', record: { ...this.record(), ...(this.rehearses ? {} : unseen) }, preview: {} };
    },
    commit: (ctx) => this.#commit(ctx),
    seal: async (ctx) => {
      await this.#lastCommit;
      this.settings.push(ctx.settings);
      if (this.away) throw targetUnavailable('shop', 'it is unavailable');
      if (this.unprepared) throw targetMisconfigured('shop', 'its password is wrong');
      if (this.blind) return { found: 'unknown', explanation: 'the marker cannot be read' };
      if (!this.markers.has(ctx.changeId)) this.markers.set(ctx.changeId, 'sealed');
      return this.#readMarker(ctx.changeId);
    },
  };

  readonly tool = defineSourceTool({
    sourceTool: 'SQLDryRun',
    mode: 'enforced',
    parser: MEMORY_FACTS.parser,
    facts: () => MEMORY_FACTS,
    staging: async () => this.effects,
  });

  readonly cooperative = defineSourceTool({
    ...this.tool,
    sourceTool: 'Refund',
    mode: 'cooperative',
    staging: null,
  });

  #readMarker(changeId: string): ReadBack {
    const marker = this.markers.get(changeId);
    if (marker === undefined || marker === 'sealed') return { found: false };
    return { found: true, effect: marker, ...(this.late ? { unchecked: true } : {}) };
  }
}

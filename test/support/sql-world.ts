import type { CommitContext, CommitResult, ReadBack } from '../../policy/contracts/target-effects';
import { sourceToolRegistry } from '../../source-tools/define';
import { sqlDryRunEffects as real } from '../../source-tools/sql/staging';
import type { TargetServer } from '../source-tools/sql/staging/target-server';
import type { ReviewDeps } from './review/review-deps';
import { ReviewWorld } from './review/review-world';

/** A change to a real PostgreSQL, with ledger and store in memory. A test may intercept what the committer does to the target. */
export class SqlWorld extends ReviewWorld {
  sealing: (seal: () => Promise<ReadBack>) => Promise<ReadBack> = (seal) => seal();
  committing: (ctx: CommitContext) => Promise<CommitResult> = (ctx) => real.commit(ctx);
  lateMs = 0;

  constructor(
    readonly pg: TargetServer,
    id: number,
  ) {
    super({ text: `update items set n = n + 1 where id = ${id} /* HOLD */` });
  }

  override get deps(): ReviewDeps {
    const { stageUrl, commitUrl } = this.pg;
    const effects = {
      ...real,
      lateMs: this.lateMs,
      commit: (ctx: CommitContext) => this.committing(ctx),
      seal: (ctx: Parameters<typeof real.seal>[0]) => this.sealing(() => real.seal(ctx)),
    };
    return {
      ...super.deps,
      tools: sourceToolRegistry([{ ...this.target.tool, staging: async () => effects }]),
      targets: new Map([['shop', { name: 'shop', development: true, stageUrl, commitUrl }]]),
    };
  }
}

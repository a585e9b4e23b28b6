import type { CommitDeps } from '../../activities/committer/commit';
import { sourceToolRegistry, type CommitContext, type CommitResult, type ReadBack } from '../../source-tools/define';
import { effectsOf, sqlDryRun } from '../source-tools/sql/staging/sql-diff';
import type { TargetServer } from '../source-tools/sql/staging/target-server';
import { ReviewWorld } from './review-world';

const real = effectsOf(sqlDryRun);

/** A change of a real PostgreSQL; ledger and store are in memory. A test may get between the committer and its target. */
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

  override get deps(): CommitDeps {
    const { stageUrl, commitUrl } = this.pg;
    const effects = {
      ...real,
      lateMs: this.lateMs,
      commit: (ctx: CommitContext) => this.committing(ctx),
      seal: (ctx: Parameters<typeof real.seal>[0]) => this.sealing(() => real.seal(ctx)),
    };
    return {
      ...super.deps,
      tools: sourceToolRegistry([{ ...sqlDryRun, effects }]),
      targets: new Map([['shop', { name: 'shop', development: true, stageUrl, commitUrl }]]),
    };
  }
}

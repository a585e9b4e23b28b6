import type { CommitContext, StageContext, TargetEffects } from '../../../policy/contracts/target-effects';
import { apply, seal } from './apply';
import type { Work } from './work';
import { rehearse, type Prepare } from './rehearse';
import { withReturning } from './returning';
import { readStatements, type Statement } from './statements';
import { quoteRelation } from './identifiers';
import { IDLE_MS } from './session';
import { rejected } from '../../rejected';

/** `SQLDryRun`: the diff is SQL text for PostgreSQL. */
export const sqlDryRunEffects: TargetEffects = {
  stage: async (ctx: StageContext) => {
    if (!ctx.facts.ok) return rejected(`${ctx.facts.code}: ${ctx.facts.message}`);
    const works = await toWorks(ctx.diff.raw);
    if (!works.ok) return rejected(works.explanation);
    return rehearse(ctx, prepareWorks(works.works));
  },
  commit: async (ctx: CommitContext) => {
    const works = await toWorks(ctx.diff.raw);
    if (!works.ok) return { kind: 'refused', explanation: works.explanation };
    return apply(ctx, prepareWorks(works.works));
  },
  seal,
  lateMs: IDLE_MS,
};

function prepareWorks(works: readonly Work[]): Prepare {
  return async (_session, gate) => {
    const stopped = await gate(works);
    return stopped === null ? { ok: true, works } : { ok: false, outcome: stopped };
  };
}

type Works =
  { readonly ok: true; readonly works: readonly Work[] } | { readonly ok: false; readonly explanation: string };

/** The statements of a diff, or why it is refused. */
export async function toWorks(raw: Uint8Array): Promise<Works> {
  const read = await readStatements(raw);
  if (!read.ok) return { ok: false, explanation: read.message };
  const refused = read.statements.find((s) => s.kind === 'refused');
  if (refused !== undefined) {
    return {
      ok: false,
      explanation: `${placeOf(refused)} is not allowed in a staged change; transaction control, SET, COPY, role commands and similar statements are never run`,
    };
  }
  return { ok: true, works: read.statements.map(toWork) };
}

function toWork(statement: Statement): Work {
  return {
    place: placeOf(statement),
    sha: statement.sha,
    command: statement.command,
    values: [],
    target: statement.target === null ? null : quoteRelation(statement.target),
    plain: statement.text,
    instrument: (versionNumber) => withReturning(statement, versionNumber),
    uncapturable: uncapturable(statement),
    exactlyOne: false,
  };
}

function uncapturable(statement: Statement): string | null {
  if (statement.kind === 'truncate') return 'empties tables without counting their rows';
  return statement.kind === 'schema' ? 'changes the schema, and its effect on rows is not counted' : null;
}

function placeOf(statement: Statement): string {
  return `statement ${statement.index + 1} (${statement.command})`;
}

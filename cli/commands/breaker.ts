import type { Command } from 'commander';
import { phaseOf, type BreakerView } from '../../policy/decide/breakers';
import { required, runs, text, type Cli, type Io } from '../command';
import type { BreakerAdmin } from '../deps';
import { ExitCode } from '../exit-codes';
import { line, styled } from '../printer';

const BREAKERS = `list and reset circuit breakers

There is one for each tenant, source tool and validator. Where the validator
failed on or blocked too many of the latest changes it opens: each change then
gets the violation guardian.circuit_open, which a person answers. After a pause
one change passes as a probe. A breaker never approves or rejects by itself.`;

export function register(program: Command, cli: Cli): void {
  const breaker = program.command('breaker').summary('list and reset circuit breakers').description(BREAKERS);

  const list = breaker.command('list').description('list every breaker and its state');
  runs(list, cli, async (io) => {
    const pairs = await administered(io, (admin) => admin.list());
    if (io.json) io.out.json({ pairs });
    for (const { tenant, sourceTool, breakers } of io.json ? [] : pairs)
      for (const view of breakers) print(io, tenant, sourceTool, view);
    if (pairs.every((pair) => pair.breakers.length === 0)) io.err.line('no breaker has a sample yet');
    return ExitCode.Ok;
  });

  const reset = breaker
    .command('reset')
    .description('close a breaker and forget its samples')
    .argument('<tenant>', 'the tenant')
    .argument('<source-tool>', 'the source tool')
    .option('--validator <id>', 'one validator; all unless given')
    .option('--actor <name>', 'who resets it; you unless given')
    .option('--reason <text>', 'why');
  runs(reset, cli, async (io, [tenant = '', sourceTool = ''], options) => {
    const message = {
      tenant,
      sourceTool,
      validatorId: text(options, 'validator') ?? null,
      actor: text(options, 'actor') ?? null,
      reason: required(options, 'reason', '--reason'),
    };
    const done = await administered(io, (admin) => admin.reset(message));
    if (io.json) io.out.json({ tenant, sourceTool, reset: done });
    for (const id of io.json ? [] : done) io.out.line(line`${id}  closed`);
    if (!io.json && done.length === 0) io.err.line('no such breaker: nothing was open or sampled');
    return ExitCode.Ok;
  });
}

async function administered<T>(io: Io, work: (admin: BreakerAdmin) => Promise<T>): Promise<T> {
  const admin = await io.deps.breakers();
  try {
    return await work(admin);
  } finally {
    await admin.close();
  }
}

function print(io: Io, tenant: string, sourceTool: string, view: BreakerView): void {
  const phase = phaseOf(view, io.deps.now().getTime());
  const facts =
    view.state === 'closed'
      ? `${view.samples} samples, weight ${view.weight.toFixed(2)}`
      : `since ${new Date(view.since).toISOString()}, half-open from ${new Date(view.halfOpenAt).toISOString()}`;
  if (io.deps.stdout.isTTY !== true) io.out.tabbed([tenant, sourceTool, view.validatorId, phase, facts]);
  else
    io.out.line(
      line`${tenant}/${sourceTool}  ${styled('bold', view.validatorId)}  ${styled(phase === 'closed' ? 'green' : 'red', phase)}  ${facts}`,
    );
}

import type { Command } from 'commander';
import { phaseOf, type BreakerView } from '../../policy/decide/breakers';
import { addAction, type Cli, type Io } from '../action';
import { ExitCode } from '../exit-codes';
import { requiredOption, textOption, type Options } from '../options';
import { line, styled } from '../printer';

const HELP = `list and reset circuit breakers

There is one for each tenant, source tool and validator. It opens if the
validator failed on or blocked too many of the latest changes: each change then
gets the violation guardian.circuit_open, which a person answers. After a pause
one change passes as a probe. A breaker itself never approves or rejects.
A reset is signed with an operator key.`;

export function register(program: Command, cli: Cli): void {
  const breaker = program.command('breaker').summary('list and reset circuit breakers').description(HELP);
  addAction(breaker.command('list').description('list every breaker and its state'), cli, listBreakers);

  const reset = breaker
    .command('reset')
    .description('close a breaker and forget its samples')
    .argument('<tenant>', 'the tenant')
    .argument('<source-tool>', 'the source tool')
    .option('--validator <id>', 'one validator (default: all)')
    .option('--reason <text>', 'why')
    .option('--operator-key <file>', 'the operator key that signs it');
  addAction(reset, cli, resetBreakers);
}

async function listBreakers(io: Io): Promise<ExitCode> {
  const pairs = await (await io.host.remote.breakers()).listBreakers(io.host.env);
  if (io.json) io.out.json({ pairs });
  else
    for (const { tenant, sourceTool, breakers, at } of pairs) {
      if (breakers === null)
        io.out.line(line`${tenant}/${sourceTool}  unreadable: all count as open until they are reset`);
      for (const view of breakers ?? []) printBreaker(io, { tenant, sourceTool, at }, view);
    }
  if (pairs.every((pair) => pair.breakers?.length === 0)) io.err.line('no breaker has samples yet');
  return ExitCode.Ok;
}

async function resetBreakers(
  io: Io,
  [tenant = '', sourceTool = '']: readonly string[],
  options: Options,
): Promise<ExitCode> {
  const request = {
    tenant,
    sourceTool,
    validatorId: textOption(options, '--validator') ?? null,
    reason: requiredOption(options, '--reason'),
    operatorKey: requiredOption(options, '--operator-key'),
  };
  const reset = await (await io.host.remote.breakers()).resetBreakers(io.host.env, request);
  if (io.json) io.out.json({ tenant, sourceTool, reset });
  else if (reset === null) io.out.line(line`all breakers of ${tenant}/${sourceTool}  closed`);
  else {
    for (const id of reset) io.out.line(line`${id}  closed`);
    if (reset.length === 0) io.err.line('no such breaker: none was open or had samples');
  }
  return ExitCode.Ok;
}

function printBreaker(
  io: Io,
  { tenant, sourceTool, at }: { readonly tenant: string; readonly sourceTool: string; readonly at: number },
  view: BreakerView,
): void {
  const phase = phaseOf(view, at);
  const facts =
    view.state === 'closed'
      ? `${view.samples} samples, weight ${view.weight.toFixed(2)}`
      : `since ${new Date(view.since).toISOString()}, half-open from ${new Date(view.halfOpenAt).toISOString()}`;
  if (io.host.stdout.isTTY !== true) io.out.tabbed([tenant, sourceTool, view.validatorId, phase, facts]);
  else
    io.out.line(
      line`${tenant}/${sourceTool}  ${styled('bold', view.validatorId)}  ${styled(phase === 'closed' ? 'green' : 'red', phase)}  ${facts}`,
    );
}

import type { Command } from 'commander';
import { required, runs, type Cli, type Io } from '../command';
import type { OperatorTools } from '../deps';
import { ExitCode } from '../exit-codes';
import { line } from '../printer';
import { UsageError } from '../usage-error';

export function register(program: Command, cli: Cli): void {
  const resolve = program
    .command('resolve')
    .description('say what became of an effect that nobody else can tell')
    .argument('<change>', 'the change id, in full')
    .option('--applied', 'the target shows that it was applied')
    .option('--not-applied', 'the target shows that it was not, and never will be')
    .option('--reason <text>', 'what you saw, and where')
    .option('--operator-key <file>', 'the operator key that signs it');
  runs(resolve, cli, async (io, [changeId = ''], options) => {
    if (!/^[0-9a-f]{64}$/.test(changeId))
      throw new UsageError(`change: expected 64 lower-case hex digits, got "${changeId}"`);
    const applied = options['applied'] === true;
    if (applied === (options['notApplied'] === true))
      throw new UsageError('expected one of --applied and --not-applied');
    const reason = required(options, 'reason', '--reason');
    const operatorKey = required(options, 'operatorKey', '--operator-key');
    const { told } = await asOperator(io, (tools) => tools.resolve({ changeId, applied, reason, operatorKey }));
    if (io.json) io.out.json({ changeId, applied, told });
    else io.out.line(line`${changeId}  ${applied ? 'applied' : 'not applied'}: on record`);
    if (!told) io.err.line('the review could not be told now; it looks again within ten minutes');
    return ExitCode.Ok;
  });
}

/** The tools, closed again whatever comes of it. */
export async function asOperator<T>(io: Io, work: (tools: OperatorTools) => Promise<T>): Promise<T> {
  const tools = await io.deps.operator();
  try {
    return await work(tools);
  } finally {
    await tools.close();
  }
}

import type { Command } from 'commander';
import { CountersignError } from '../../client/errors';
import { runs, type Cli } from '../command';
import { ExitCode } from '../exit-codes';
import { line, styled } from '../printer';

export function register(program: Command, cli: Cli): void {
  const ledger = program.command('ledger').description('read the ledger');
  const show = ledger
    .command('show')
    .description('all rows of one review, their chain checked')
    .argument('<id>', 'the change id');
  runs(show, cli, async (io, [id = '']) => {
    return await io.connected({}, async ({ ledgerRows }) => {
      if (ledgerRows === null) throw new CountersignError('ledger_unavailable', 'No ledger is configured here');
      const rows = await ledgerRows(id);
      if (rows.length === 0) throw new CountersignError('not_found', `The ledger has no review ${id}`);
      const { verifyChain } = require('../../policy/evidence/chain') as typeof import('../../policy/evidence/chain');
      const chain = verifyChain(rows);
      if (io.json) {
        io.out.json({ changeId: id, rows, chain });
      } else {
        for (const { row } of rows) {
          io.out.line(
            line`${String(row.n).padStart(3)}  ${row.at}  ${styled('bold', row.kind.padEnd(15))} ${row.actor}`,
          );
          io.out.block(JSON.stringify(row.body), '       ');
        }
        io.err.line(
          chain.ok
            ? styled('green', `${chain.length} rows, one chain`)
            : styled('red', `row ${chain.n}: ${chain.problem}`),
        );
      }
      return chain.ok ? ExitCode.Ok : ExitCode.Unverified;
    });
  });
}

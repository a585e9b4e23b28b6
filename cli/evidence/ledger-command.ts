import type { Command } from 'commander';
import { CountersignError } from '../../client/errors';
import type { StoredRow } from '../../policy/evidence/chain';
import { addAction, type Cli, type Io } from '../action';
import { ExitCode } from '../exit-codes';
import { line, styled } from '../printer';
import { assertChangeId } from './command';

const PROGRESS_MS = 5_000;

export function register(program: Command, cli: Cli): void {
  const ledger = program.command('ledger').description('read and check the ledger');

  const show = ledger
    .command('show')
    .description('all rows of one review, their chain checked')
    .argument('<id>', 'the change id');
  addAction(show, cli, showRows);

  const verify = ledger
    .command('verify')
    .description('check chains and checkpoints, of one review or of all')
    .argument('[id]', 'the change id');
  addAction(verify, cli, verifyLedger);
}

async function showRows(io: Io, [id = '']: readonly string[]): Promise<ExitCode> {
  const rows = await io.withReviews({}, ({ ledgerRows }) => ledgerRows(id));
  if (rows.length === 0) throw new CountersignError('not_found', `The ledger has no review ${id}`);
  const { verifyChain } = await import('../../policy/evidence/chain.js');
  const chain = verifyChain(rows);
  if (io.json) io.out.json({ changeId: id, rows, chain });
  else {
    for (const row of rows) printRow(io, row);
    io.err.line(
      chain.ok ? styled('green', `${chain.length} rows, one chain`) : styled('red', `row ${chain.n}: ${chain.problem}`),
    );
  }
  return chain.ok ? ExitCode.Ok : ExitCode.Unverified;
}

function printRow(io: Io, { row }: StoredRow): void {
  io.out.line(line`${String(row.n).padStart(3)}  ${row.at}  ${styled('bold', row.kind.padEnd(15))} ${row.actor}`);
  io.out.block(JSON.stringify(row.body), '       ');
}

async function verifyLedger(io: Io, [id]: readonly string[]): Promise<ExitCode> {
  if (id !== undefined) assertChangeId(id);
  let lastPrinted = io.host.now().getTime();
  const progress = (rows: number): void => {
    const now = io.host.now().getTime();
    if (now - lastPrinted < PROGRESS_MS) return;
    lastPrinted = now;
    io.err.line(`${rows} rows checked`);
  };
  const ledger = await io.host.remote.ledger();
  const report = await ledger.verifyLedgerRows(io.host.env, id ?? null, progress);
  if (io.json) io.out.json(report);
  else {
    io.out.line(
      line`${report.rows} rows of ${report.changes} reviews, ${report.checkpoints} checkpoints, ${report.uncovered} rows since the last`,
    );
    for (const problem of report.problems) io.out.line(line`${styled('red', 'FAIL')} ${problem}`);
    if (report.problemCount > report.problems.length) io.out.line(`… ${report.problemCount} problems in all`);
    io.out.line(report.ok ? styled('green', 'ok') : styled('red', 'the ledger was changed'));
  }
  return report.ok ? ExitCode.Ok : ExitCode.Unverified;
}

import type { Command } from 'commander';
import { CountersignError } from '../../client/errors';
import type { StoredRow } from '../../policy/evidence/chain';
import { counted } from '../../policy/text/counted';
import { addAction, type Cli, type Io } from '../action';
import { ExitCode } from '../exit-codes';
import { line, styled } from '../printer';
import { CHANGE_ID, changeIdArgument, resolveChangeId } from '../reviews/change-id';
import { rowText } from './row-text';

const PROGRESS_MS = 5_000;

export function register(program: Command, cli: Cli): void {
  const ledger = program.command('ledger').description('read and check the ledger');

  const show = ledger
    .command('show')
    .description('the rows of one review, one line each, their chain checked')
    .argument('<id>', CHANGE_ID);
  addAction(show, cli, showRows);

  const verify = ledger
    .command('verify')
    .description('check chains and checkpoints, of one review or of all')
    .argument('[id]', CHANGE_ID);
  addAction(verify, cli, verifyLedger);
}

async function showRows(io: Io, [given = '']: readonly string[]): Promise<ExitCode> {
  const { id, rows } = await io.withReviews({}, async ({ reviews, ledgerRows }) => {
    const changeId = await resolveChangeId(reviews, given);
    return { id: changeId, rows: await ledgerRows(changeId) };
  });
  if (rows.length === 0) throw new CountersignError('not_found', `The ledger has no review ${id}`);
  const { verifyChain } = await import('../../policy/evidence/chain.js');
  const chain = verifyChain(rows);
  if (io.json) io.out.json({ changeId: id, rows, chain });
  else {
    rows.forEach((stored, i) => {
      const day = stored.row.at.slice(0, 10);
      if (day !== rows[i - 1]?.row.at.slice(0, 10)) io.out.line(styled('dim', `${day}, UTC`));
      printRow(io, stored);
    });
    io.err.line(
      chain.ok ? styled('green', `${chain.length} rows, one chain`) : styled('red', `row ${chain.n}: ${chain.problem}`),
    );
  }
  return chain.ok ? ExitCode.Ok : ExitCode.Unverified;
}

function printRow(io: Io, { row }: StoredRow): void {
  const { n, at, kind, actor } = row;
  io.out.cut(rowText(row), `${String(n).padStart(3)} ${at.slice(11, 19)} ${kind.padEnd(15)} ${actor.padEnd(9)} `);
}

async function verifyLedger(io: Io, [given]: readonly string[]): Promise<ExitCode> {
  const id = given === undefined ? null : await changeIdArgument(io, given);
  let lastPrinted = io.host.now().getTime();
  const progress = (rows: number): void => {
    const now = io.host.now().getTime();
    if (now - lastPrinted < PROGRESS_MS) return;
    lastPrinted = now;
    io.err.line(`${rows} rows checked`);
  };
  const ledger = await io.host.remote.ledger();
  const report = await ledger.verifyLedgerRows(io.host.env, id, progress);
  if (io.json) io.out.json(report);
  else {
    io.out.line(
      line`${counted(report.rows, 'row')} of ${counted(report.changes, 'review')}, ${counted(report.checkpoints, 'checkpoint')}, ${counted(report.uncovered, 'row')} since the last`,
    );
    for (const problem of report.problems) io.out.line(line`${styled('red', 'FAIL')} ${problem}`);
    if (report.problemCount > report.problems.length) io.out.line(`… ${report.problemCount} problems in all`);
    io.out.line(report.ok ? styled('green', 'ok') : styled('red', 'the ledger was changed'));
  }
  return report.ok ? ExitCode.Ok : ExitCode.Unverified;
}

import type { Command } from 'commander';
import { messageOf } from '../../client/errors';
import { addAction, type Cli, type Io } from '../action';
import { ExitCode } from '../exit-codes';
import { line, styled } from '../printer';
import type { Connected } from './connect';
import { printReview } from './review-view';

export function register(program: Command, cli: Cli): void {
  const command = program
    .command('show')
    .description('show diff, findings, evidence, and who may answer')
    .argument('<id>', 'the change id')
    .option('--evidence', 'with --json: everything the decision is based on');
  addAction(command, cli, async (io, [id = ''], options) => {
    return await io.withReviews({}, async (connected) => {
      const status = await connected.reviews.status(id);
      if (!io.json) printReview(io.out, status, await verifiedBytes(io, connected, status), io.host.now());
      else if (options['evidence'] !== true) io.out.json(status);
      else io.out.json({ ...status, evidence: await connected.reviews.evidence(id) });
      return ExitCode.Ok;
    });
  });
}

/** The diff, if its digest is the one that an answer would be bound to. Null, with a message, if it cannot be read. */
async function verifiedBytes(
  io: Io,
  { bytes }: Connected,
  { tenant, diffSha }: { readonly tenant: string; readonly diffSha: string },
): Promise<Uint8Array | null> {
  try {
    const read = await bytes(tenant, diffSha);
    const { sha256Hex } = await import('../../policy/contracts/hash.js');
    if (sha256Hex(read) === diffSha) return read;
    io.err.line(
      line`${styled('red', 'error')}: the store returned other bytes than sha256:${diffSha}; they are not shown`,
    );
    return null;
  } catch (error) {
    io.err.line(line`${styled('yellow', 'warning')}: ${messageOf(error)}`);
    return null;
  }
}

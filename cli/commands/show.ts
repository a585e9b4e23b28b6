import type { Command } from 'commander';
import { messageOf } from '../../client/errors';
import { runs, type Cli, type Io } from '../command';
import type { Connected } from '../deps';
import { ExitCode } from '../exit-codes';
import { line, styled } from '../printer';
import { printReview } from '../review-view';

export function register(program: Command, cli: Cli): void {
  const command = program
    .command('show')
    .description('show diff, findings, evidence, and who may answer')
    .argument('<id>', 'the change id')
    .option('--evidence', 'with --json: all that the decision rests on');
  runs(command, cli, async (io, [id = ''], options) => {
    return await io.connected({}, async (connected) => {
      const status = await connected.reviews.status(id);
      if (io.json) {
        io.out.json(
          options['evidence'] === true ? { ...status, evidence: await connected.reviews.evidence(id) } : status,
        );
        return ExitCode.Ok;
      }
      printReview(io.out, status, await bytesOf(io, connected, status.tenant, status.diffSha), io.deps.now());
      return ExitCode.Ok;
    });
  });
}

/** The diff, hashed again here: what is shown to a person is what the answer covers. Null where it cannot be read. */
export async function bytesOf(
  io: Io,
  { bytes }: Connected,
  tenant: string,
  diffSha: string,
): Promise<Uint8Array | null> {
  if (bytes === null) return null;
  try {
    const read = await bytes(tenant, diffSha);
    // Loaded here: hashing is no part of a command's start.
    const { sha256Hex } = require('../../policy/contracts/hash') as typeof import('../../policy/contracts/hash');
    if (sha256Hex(read) === diffSha) return read;
    io.err.line(line`${styled('red', 'error')}: the store gave other bytes than sha256:${diffSha}; they are not shown`);
    return null;
  } catch (error) {
    io.err.line(line`${styled('yellow', 'warning')}: ${messageOf(error)}`);
    return null;
  }
}

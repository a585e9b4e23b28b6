import type { Command } from 'commander';
import { CountersignError, describe } from '../../client/errors';
import { required, runs, text, whole, type Cli } from '../command';
import { ExitCode } from '../exit-codes';
import { exitOfResult } from '../exit-of';
import { line, styled } from '../printer';
import { printFinding, printResult } from '../review-view';
import { UsageError } from '../usage-error';

/** Bytes of a file are read up to here; the door says more exactly what it takes. */
const MAX_READ = 2 * 1024 * 1024;

export function register(program: Command, cli: Cli): void {
  const command = program
    .command('submit')
    .description('submit a change for review; FILE - reads standard input')
    .argument('<file>', 'the exact bytes of the diff')
    .option('--target <name>', 'the target that the change is for')
    .option('--tool <name>', 'source tool, e.g. SQLDryRun, SQLCAS, GitPatch')
    .option('--tenant <name>', 'tenant')
    .option('--metadata <json>', 'claims about the diff, a JSON object')
    .option('--request-key <text>', 'another key makes the same change another review')
    .option('--supersedes <id>', 'the review whose place it takes')
    .option('--inline', 'bytes into the workflow, at most 64 KiB')
    .option('--key <file>', 'service key that signs the submission')
    .option('--wait <seconds>', 'wait for the end');
  runs(command, cli, async (io, [file = '-'], options) => {
    const waitSeconds = whole(options, 'wait', '--wait', { min: 0, max: 7 * 24 * 3600, otherwise: 0 });
    const input = {
      target: required(options, 'target', '--target'),
      sourceTool: required(options, 'tool', '--tool'),
      raw: file === '-' ? await io.deps.stdin.read(MAX_READ) : await io.deps.readFile(file, MAX_READ),
      ...(text(options, 'metadata') === undefined
        ? {}
        : { metadata: metadataOf(required(options, 'metadata', '--metadata')) }),
      ...(text(options, 'requestKey') === undefined
        ? {}
        : { requestKey: required(options, 'requestKey', '--request-key') }),
      ...(text(options, 'supersedes') === undefined
        ? {}
        : { supersedes: required(options, 'supersedes', '--supersedes') }),
      ...(options['inline'] === true ? { inline: true } : {}),
    };
    return await io.connected(
      { tenant: text(options, 'tenant'), serviceKey: text(options, 'key') },
      async ({ reviews }) => {
        const submitted = await reviews.submit(input);
        const open =
          submitted.outcome === null && !(submitted.preflight !== 'pending' && submitted.preflight.forbidden);
        const result =
          open && waitSeconds === 0
            ? null
            : await reviews.result(submitted.changeId, { timeoutMs: Math.max(10, waitSeconds) * 1000 });
        if (io.json) {
          io.out.json({ ...submitted, result });
        } else {
          io.out.line(submitted.changeId);
          if (submitted.outcome !== null) io.err.line('the same change was reviewed before');
          if (submitted.preflight === 'pending') io.err.line(styled('yellow', 'no findings yet; the review runs on'));
          else
            for (const finding of submitted.preflight.findings.filter((f) => f.status !== 'ALLOW'))
              printFinding(io.err, finding, '', null);
          if (result !== null) printResult(io.err, submitted.changeId, result);
          else io.err.line(line`see it with: countersign show ${submitted.changeId.slice(0, 64)}`);
        }
        return result === null ? ExitCode.Pending : exitOfResult(result);
      },
    );
  });
}

function metadataOf(json: string): Record<string, never> {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    throw new UsageError('--metadata: expected a JSON object, got what is no JSON', { cause: error });
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, never>;
  throw new CountersignError('invalid_input', `metadata: expected a JSON object, got ${describe(value)}`, {
    field: 'metadata',
  });
}

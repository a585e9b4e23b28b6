#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ExitCode, runCli } from '.';
import { processHost } from './host';
import { escapeLine } from '../policy/text/escape';
import { ConfigError } from '../workers/config-error';
import { commandEnv } from '../workers/env-file';

const { version } = JSON.parse(readFileSync(join(__dirname, '..', '..', 'package.json'), 'utf8')) as {
  version: string;
};

// The reader closed the pipe (`… | head`). Exits without a stack trace, and not with 0, which a script could take for a commit.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(1);
});

async function main(): Promise<ExitCode> {
  return await runCli(process.argv.slice(2), processHost(version, commandEnv(process.env), process.env));
}

main()
  .then((code) => {
    process.exitCode = code;
  })
  .catch((error: unknown) => {
    const isConfig = error instanceof ConfigError;
    const text = isConfig ? `error: ${escapeLine(error.message)}` : error instanceof Error ? error.stack : undefined;
    process.stderr.write(`${text ?? String(error)}\n`);
    process.exitCode = isConfig ? ExitCode.Usage : ExitCode.Failure;
  });

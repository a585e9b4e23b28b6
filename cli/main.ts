#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { runCli } from '.';
import { processHost } from './host';
import { withCliEnv } from '../workers/env-file';

const { version } = JSON.parse(readFileSync(join(__dirname, '..', '..', 'package.json'), 'utf8')) as {
  version: string;
};

// The reader closed the pipe (`… | head`). Exits without a stack trace, and not with 0, which a script could take for a commit.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(1);
});

const env = withCliEnv(resolve(process.env['COUNTERSIGN_STATE_DIR'] ?? '.countersign'), process.env);
runCli(process.argv.slice(2), processHost(version, env, process.env))
  .then((code) => {
    process.exitCode = code;
  })
  .catch((error: unknown) => {
    process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    process.exitCode = 1;
  });

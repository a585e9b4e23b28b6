#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runCli } from '.';
import { cliDeps } from './local/deps';
import { ConfigError } from '../workers/config-error';

const { version } = JSON.parse(readFileSync(join(__dirname, '..', '..', 'package.json'), 'utf8')) as {
  version: string;
};

// The reader went away (`… | head`): SIGPIPE's meaning, without a stack. Not 0, which a script could take for a commit.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(1);
});

runCli(process.argv.slice(2), cliDeps(version, process.env))
  .then((code) => {
    process.exitCode = code;
  })
  .catch((error: unknown) => {
    process.stderr.write(
      `${error instanceof ConfigError ? error.message : error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
    );
    process.exitCode = error instanceof ConfigError ? 2 : 1;
  });

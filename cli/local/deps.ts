import { open, writeFile } from 'node:fs/promises';
import type { CliDeps } from '../deps';
import type { Env } from '../../workers/config';

/** The real things behind the CLI; each heavy part is loaded when a command asks for it, so that `--help` is quick. */
export function cliDeps(version: string, env: Env): CliDeps {
  return {
    version,
    stdout: process.stdout,
    stderr: process.stderr,
    stdin: { isTTY: process.stdin.isTTY, read: readStdin },
    env: { NO_COLOR: env['NO_COLOR'], TERM: env['TERM'] },
    now: () => new Date(),
    sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
    readFile,
    writeFile: (path, text) => writeFile(path, text, { flag: 'wx' }),
    prompt: async (question) => {
      const { createInterface } = await import('node:readline/promises');
      const terminal = createInterface({ input: process.stdin, output: process.stderr });
      try {
        return (await terminal.question(`${question} `)).trim();
      } finally {
        terminal.close();
      }
    },
    connect: async (options) => (await import('./connect.js')).connect(env, options),
    loadKey: async (path) => (await import('./connect.js')).loadSigner(env, path),
    keys: async () => (await import('./keys-admin.js')).keysAdmin(env),
    evidence: async () => (await import('./evidence.js')).evidenceTools(env),
    operator: async () => (await import('./operator.js')).operatorTools(env),
    judge: async () => (await import('./judge.js')).judgeTools(env),
    policy: async () => (await import('./policy.js')).policyTools(env),
    writeNewFile: (path, text) => writeFile(path, text, { flag: 'wx' }),
    breakers: async () => (await import('./breaker.js')).breakerAdmin(env),
    runtime: {
      dev: async (options, say, started) => (await import('./operate.js')).dev(env, options, say, started),
      setup: async (say) => (await import('./operate.js')).setup(env, say),
      targetInit: async (target, options, say) => (await import('./operate.js')).targetInit(env, target, options, say),
      doctor: async () => (await import('./doctor.js')).doctor(env),
    },
  };
}

async function readFile(path: string, max: number): Promise<Uint8Array> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    if (size > max) throw new Error(`${path}: expected at most ${max} bytes, got ${size}`);
    return await file.readFile();
  } finally {
    await file.close();
  }
}

async function readStdin(max: number): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > max) throw new Error(`standard input: expected at most ${max} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** How the people of the demo answer: through the gateway, or with a command that `countersign sign` prints. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { GatewayClient } from '../../client/gateway-client';
import { signAnswers } from '../../client/sign-answers';
import { createSigner } from '../../client/signer';
import type { Dev } from '../../dev/start';
import { say } from '../../dev/run-program';
import type { Stage } from './cases';

type ClientOf = (name: 'alice' | 'bob') => GatewayClient;

export async function answerByGateway(
  dev: Dev,
  clientOf: ClientOf,
  ...[status, person, decision, violationIds, reason]: Parameters<Stage['answer']>
): Promise<void> {
  if (violationIds.length === 0) return;
  const issuedAt = new Date();
  const signer = createSigner(dev.setup.keys[person].key);
  const { changeId } = status;
  const reviews = clientOf(person);
  const review = await reviews.review(changeId);
  const answers = signAnswers(changeId, review, { violationIds, decision, reason }, signer, {
    issuedAt,
    expiresAt: new Date(issuedAt.getTime() + 600_000),
  });
  const results = await reviews.answer(changeId, [...answers]);
  const codes = Object.values(results).map((r) => r.code);
  say(`  ${person}: ${decision} (${codes.join(', ')}): ${reason}`);
}

/** Signs with `countersign sign`, which prints a complete command, and runs that command with the Temporal CLI. */
export async function answerByCli(
  dev: Dev,
  ...[status, person, decision, violationIds, reason]: Parameters<Stage['answer']>
): Promise<void> {
  if (violationIds.length === 0) return;
  const run = promisify(execFile);
  const cli = join(__dirname, '..', '..', 'cli', 'main.js');
  const { stdout } = await run(
    process.execPath,
    [
      cli,
      'sign',
      status.changeId,
      '--violation',
      violationIds[0] ?? '',
      `--${decision}`,
      '--reason',
      reason,
      '--key',
      dev.setup.keys[person].path,
      '--json',
    ],
    { env: { ...process.env, COUNTERSIGN_STATE_DIR: dev.runtime.stateDir }, timeout: 30_000 },
  );
  const { argv } = JSON.parse(stdout) as { argv: string[][] };
  const temporal = dev.runtime.temporalCliPath;
  const [command] = argv;
  if (command === undefined || temporal === undefined)
    throw new Error('No Temporal CLI found: set COUNTERSIGN_TEMPORAL_CLI to its path');
  await run(temporal, command.slice(1), { timeout: 30_000 });
  say(
    `  ${person}: ${decision}, with: temporal workflow signal --name answer --workflow-id ${status.changeId.slice(0, 12)}… : ${reason}`,
  );
}

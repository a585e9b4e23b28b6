import type { Command } from 'commander';
import { Duration, toMs } from '../../policy/contracts/duration';
import { RpId, WebOrigins } from '../../policy/evidence/passkey-key';
import { MAX_ENROLLMENT_MS } from '../../policy/evidence/predicates';
import { addAction, type Cli, type Io } from '../action';
import { ExitCode } from '../exit-codes';
import { requiredOption, subjectId, textOption, type Options } from '../options';
import { line } from '../printer';
import { UsageError } from '../usage-error';
import { revokeLink } from './revoke-hint';
import { tenantsOption } from './tenants-option';

export function registerEnroll(keys: Command, cli: Cli): void {
  const enroll = keys
    .command('enroll')
    .description('make a one-time link by which a person registers a passkey')
    .argument('<person>', 'id of the person, such as alice')
    .option('--tenant <names>', 'where the person may answer, separated by commas')
    .option('--gateway-url <url>', 'its public origin; default: COUNTERSIGN_PUBLIC_URL')
    .option('--expires <duration>', 'at most 7d; default: 24h')
    .option('--operator-key <file>', 'the operator key that signs it');
  addAction(enroll, cli, enrollPerson);
}

async function enrollPerson(io: Io, [given = '']: readonly string[], options: Options): Promise<ExitCode> {
  const person = subjectId(given, 'person');
  const tenants = tenantsOption(options);
  if (tenants === undefined)
    throw new UsageError('--tenant is missing: name the tenants in which the person may answer');
  const validMs = expiresOption(options);
  const operatorKey = requiredOption(options, '--operator-key');
  const { env } = io.host;
  const keys = await io.host.remote.keys();
  const publicUrl = publicOrigin(
    textOption(options, '--gateway-url') ?? env['COUNTERSIGN_PUBLIC_URL'] ?? keys.gatewayUrl(env),
  );
  const made = await keys.enrollPerson(env, { person, tenants, publicUrl, validMs }, operatorKey);
  if (io.json) io.out.json({ person, ...made });
  else io.out.line(line`${made.link}`);
  io.err.line(
    `valid once, until ${made.expiresAt}: give it to ${person} only. To revoke it, or the passkey made with it: ${revokeLink(made.keyId, operatorKey)}`,
  );
  return ExitCode.Ok;
}

function expiresOption(options: Options): number {
  const given = Duration.safeParse(textOption(options, '--expires') ?? '24h');
  const ms = given.success ? toMs(given.data) : 0;
  if (ms >= 60_000 && ms <= MAX_ENROLLMENT_MS) return ms;
  throw new UsageError('--expires: expected 1m to 7d, such as 24h');
}

/** A loopback address is named localhost, since browsers accept no address as a relying party. */
function publicOrigin(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url !== null && (url.hostname === '127.0.0.1' || url.hostname === '[::1]')) url.hostname = 'localhost';
  if (url !== null && WebOrigins.safeParse([url.origin]).success && RpId.safeParse(url.hostname).success)
    return url.origin;
  throw new UsageError(
    `--gateway-url: expected the public origin of the gateway, such as https://countersign.example, or http://localhost with a port; got "${text}"`,
  );
}

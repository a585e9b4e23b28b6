import { messageOf } from '../../client/errors';
import type { TargetConfig } from '../../activities/committer/targets';
import { describeRepository } from '../../source-tools/git/staging/describe-repository';
import { describeApi } from '../../source-tools/http/staging/describe-api';
import { describeTarget } from '../../source-tools/sql/staging/describe-target';
import type { TargetLine } from '../../source-tools/target-line';
import { ConfigError, readTargets, type Env } from '../../workers/config';
import { failed, passed, type Check } from './check';

/** Logs in to each target, with both roles of a database. `names` is null without a targets file, or if it is invalid. */
export async function checkTargets(
  env: Env,
): Promise<{ readonly checks: readonly Check[]; readonly names: ReadonlySet<string> | null }> {
  const file = env['COUNTERSIGN_TARGETS_FILE'];
  if (file === undefined) return { checks: [], names: null };
  let targets: ReturnType<typeof readTargets>;
  try {
    targets = readTargets(file);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { checks: [failed('targets', error.message, 'Correct COUNTERSIGN_TARGETS_FILE')], names: null };
  }
  const checks: Check[] = [];
  for (const target of targets.values())
    try {
      checks.push(...(await checkTarget(target)));
    } catch (error) {
      checks.push(failed(`target ${target.name}`, messageOf(error), 'Correct it in COUNTERSIGN_TARGETS_FILE'));
    }
  return { checks, names: new Set(targets.keys()) };
}

async function checkTarget(target: TargetConfig): Promise<Check[]> {
  const { name } = target;
  if ('git' in target)
    return toChecks(`target ${name}`, await describeRepository(target), 'Correct "git" in COUNTERSIGN_TARGETS_FILE');
  if ('http' in target)
    return toChecks(`target ${name}`, await describeApi(target), 'Correct "http" in COUNTERSIGN_TARGETS_FILE');
  const checks: Check[] = [];
  for (const [purpose, url] of [
    ['stage', target.stageUrl],
    ['commit', target.commitUrl],
  ] as const) {
    if (url === null) continue;
    const lines = await describeTarget(url, purpose);
    const fix = `If it cannot be reached, start it or correct its URL in COUNTERSIGN_TARGETS_FILE; otherwise run "countersign target init ${name}"`;
    checks.push(...toChecks(`target ${name} (${purpose})`, lines, fix));
  }
  return checks;
}

function toChecks(name: string, lines: readonly TargetLine[], fix: string): Check[] {
  return lines.map(({ level, text }) => (level === 'fail' ? failed(name, text, fix) : passed(name, text)));
}

import type { ReviewStatus } from '../../policy/contracts/status';
import { CountersignError } from '../../client/errors';
import { isIdPrefix, MIN_ID_PREFIX } from '../../policy/evidence/ledger-port';
import { UsageError } from '../usage-error';

/**
 * The violations that `--violation K` (an id, or a prefix of at least 8 digits that only one id has) or `--all` choose.
 * `--all` means every violation that still waits for a person.
 */
export function chosenViolations(status: ReviewStatus, prefix: string | undefined, all: boolean): string[] {
  if (all === (prefix !== undefined)) throw new UsageError('Give either --violation K or --all');
  const forHumans = status.violations.filter((violation) => violation.need === 'human');
  if (prefix === undefined) {
    const open = forHumans
      .filter((violation) => violation.resolution === 'pending')
      .map((violation) => violation.violationId);
    if (open.length === 0)
      throw new CountersignError(
        'refused',
        `Review ${status.changeId} is ${status.state}: no violation waits for an answer`,
      );
    return open;
  }
  if (!isIdPrefix(prefix))
    throw new UsageError(
      `--violation: expected at least ${MIN_ID_PREFIX} lower-case hex digits of an id that \`show\` prints, got "${prefix}"`,
    );
  const matches = status.violations.filter((violation) => violation.violationId.startsWith(prefix));
  const [only, ...more] = matches;
  if (only === undefined)
    throw new CountersignError(
      'refused',
      `Review ${status.changeId} has no violation ${prefix}; \`countersign show\` lists them`,
    );
  if (more.length > 0)
    throw new UsageError(`--violation ${prefix} matches ${matches.length} violations: give more digits`);
  return [only.violationId];
}

import { messageOf } from '../../client/errors';
import { canSign, publicKeyOf } from '../../signing/operator-key';
import { counted } from '../../policy/text/counted';
import type { Plan } from '../../policy/contracts/plan';
import { targetFreezes } from '../../activities/committer/target-freezes';
import { newestRevision, nextRevision } from '../../storage/plans/newest-revision';
import { createPlanSource } from '../../storage/plans/plan-source';
import { operatorVerifier, storedRevisions } from '../../storage/plans/stored-revisions';
import { compileText } from '../../workers/compile';
import type { LocalClient } from '../../workers/local-client';
import { loadExtensions } from '../../workers/extensions';
import { failed, passed, type Check } from './check';
import { withDoctorDatabase } from './doctor-database';
import { checkNotices } from './notices';

export function checkTrust({ operators, committers }: LocalClient): Check {
  const signing = operators.filter((operator) => canSign([operator], publicKeyOf(operator), new Date())).length;
  if (committers.length > 0 && operators.length > 0 && signing === 0)
    return failed(
      'trust',
      'the time of every operator key has ended: nothing that an operator signs now counts',
      'Add the public key of another operator to every trust file',
    );
  if (committers.length > 0 && operators.length > 0) {
    const ended = operators.length - signing;
    const past = ended === 0 ? '' : ` and ${ended} whose time has ended`;
    return passed(
      'trust',
      `${counted(signing, 'operator key')}${past}, ${counted(committers.length, 'committer key')}`,
    );
  }
  return failed(
    'trust',
    'no operator key, or no committer key, is trusted here: every outcome is unverified',
    'Set COUNTERSIGN_TRUST_FILE to a file that lists the public keys of your operators and committers',
  );
}

/**
 * Each plan of the newest revision is usable here, and policy and committer have the same targets; null if those are unknown. `notices`:
 * the file of the review worker.
 */
export async function checkPolicies(
  local: LocalClient,
  targets: ReadonlySet<string> | null,
  notices: string | undefined,
): Promise<readonly Check[]> {
  const publish = 'Publish one: countersign policy publish FILE --operator-key OPERATOR-KEY';
  return await withDoctorDatabase(local.databaseUrl, async (db) => {
    const { newest: inForce, signed } = await newestRevision(db, local.operators);
    if (inForce === null) {
      const revoked = signed.map(({ revision }) => revision.revision)[0];
      const detail =
        revoked === undefined
          ? 'no revision signed by a trusted operator is published'
          : `revision ${revoked} was revoked, and no other is in force`;
      return [failed('policy', detail, publish)];
    }
    const newest = inForce.revision;
    const stored = (await nextRevision(db)) - 1;
    const extensions = await loadExtensions(local.extensions ?? '');
    const plans = createPlanSource({
      revisions: storedRevisions(db),
      ...operatorVerifier(local.operators),
      compile: (text, target, sourceTool) => compileText(text, extensions, target, sourceTool),
      now: Date.now,
    });
    const checks: Check[] = [];
    if (stored > (signed[0]?.revision.revision ?? 0))
      checks.push(
        failed(
          `policy revision ${stored}`,
          `does not count, so revision ${newest.revision} is in force: no operator in the trust file signed it, or none whose time had not ended`,
          'Find out who stored it. If it was meant, publish it again with the key of another operator',
        ),
      );
    const enforced = new Set<string>();
    const usable: Plan[] = [];
    for (const { target, sourceTool } of newest.plans)
      try {
        const { plan } = await plans.current(target, sourceTool);
        usable.push(plan);
        if (plan.mode === 'enforced') enforced.add(target);
        checks.push(passed(`policy ${target}/${sourceTool}`, `revision ${newest.revision}, ${plan.mode}`));
      } catch (error) {
        checks.push(failed(`policy ${target}/${sourceTool}`, messageOf(error), publish));
      }
    if (usable.length === newest.plans.length) checks.push(...checkNotices(notices, usable));
    if (targets === null) return checks;
    for (const name of targets)
      if (!newest.plans.some(({ target }) => target === name))
        checks.push(failed(`policy ${name}`, 'the newest revision has no plan for this target', publish));
    for (const name of enforced)
      if (!targets.has(name))
        checks.push(
          failed(
            `policy ${name}`,
            'the committer has no credentials for this target',
            `Run "countersign target init ${name}", and add its entry to COUNTERSIGN_TARGETS_FILE`,
          ),
        );
    return checks;
  });
}

/** A frozen target is not an error, but it explains why nothing is committed there. */
export async function checkFreezes(local: LocalClient): Promise<readonly Check[]> {
  return await withDoctorDatabase(local.databaseUrl, async (db) => {
    const { rows } = await db.query<{ target: string }>('select distinct target from target_freezes order by target');
    const checks: Check[] = [];
    for (const { target } of rows) {
      const freeze = await targetFreezes(db, local.operators).current(target);
      if (freeze === 'unknown')
        checks.push(
          failed(
            `target ${target}`,
            'its latest freezes have no trusted signature, and nothing is committed there',
            `Run "countersign target freeze" or "target unfreeze" for it, and find out who wrote those rows`,
          ),
        );
      else if (freeze !== null) checks.push(passed(`target ${target}`, `frozen since ${freeze.at}: ${freeze.reason}`));
    }
    return checks;
  });
}

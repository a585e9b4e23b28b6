import { counted } from '../../policy/text/counted';
import { createEnrollments } from '../../storage/keys/enrollments';
import { openLinks } from '../../storage/keys/open-links';
import { createKeyRegistry } from '../../storage/keys/key-registry';
import type { LocalClient } from '../../workers/local-client';
import { failed, passed, type Check } from './check';
import { withDoctorDatabase } from './doctor-database';
import type { ConfiguredProcess } from './processes';

/** The keys of the processes are registered and not revoked. Keys do not expire. */
export async function checkRegistered(
  local: LocalClient,
  processes: readonly ConfiguredProcess[],
  inviting: boolean,
): Promise<readonly Check[]> {
  const trustedOperators = local.operators;
  const { snapshot, links } = await withDoctorDatabase(local.databaseUrl, async (db) => ({
    snapshot: await createKeyRegistry({ db, trustedOperators, now: Date.now }).snapshot(),
    links: await openLinks(db, createEnrollments({ db, trustedOperators })),
  }));
  const checks: Check[] = snapshot.ignored.map(({ keyId, problem }) =>
    failed(
      `key ${keyId}`,
      `does not count: ${problem}`,
      'If you removed the key of an operator from the trust file, or gave it too early a time, correct that; otherwise find out who wrote this row, and give the owner of the key a new one',
    ),
  );
  for (const { name, key } of processes) {
    if (key === null) continue;
    const found = snapshot.find(key.keyId);
    const register = `countersign keys register ${key.publicKey} --kind ${key.kind} --subject ${key.subject.type}:${key.subject.id} --operator-key FILE`;
    if (found === undefined) checks.push(failed(`key of ${name}`, 'is not registered', register));
    else if (found.revokedAt !== null)
      checks.push(
        failed(
          `key of ${name}`,
          `was revoked on ${found.revokedAt}`,
          'Move its key file away, run "countersign init" again, which makes and registers a new one, and restart the process',
        ),
      );
    else if (key.kind === 'committer' && !local.committers.includes(key.publicKey))
      checks.push(failed(`key of ${name}`, 'is not in the trust file', `Add ${key.publicKey} to "committers"`));
    else checks.push(passed(`key of ${name}`, 'is registered'));
  }
  const approvers = snapshot.keys.filter((key) => key.kind === 'approver' && key.revokedAt === null).length;
  const invited = links.length === 0 ? '' : `, ${counted(links.length, 'enrolment link')} open`;
  checks.push(
    approvers > 0 || links.length > 0 || inviting
      ? passed('approvers', `${approvers} active${invited}`)
      : failed(
          'approvers',
          'no active approver is registered: every question expires',
          'countersign keys enroll PERSON --tenant TENANT --operator-key FILE',
        ),
  );
  return checks;
}

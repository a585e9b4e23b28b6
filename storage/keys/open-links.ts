import type { Enrollment } from '../../policy/evidence/predicates';
import type { Queryable } from '../database/database';
import type { Enrollments } from './enrollments';

const MAX_LINKS = 1_000;

/** Links that a person can still enrol a passkey with: signed by a trusted operator, not expired, not revoked, not used. */
export async function openLinks(
  db: Queryable,
  enrollments: Pick<Enrollments, 'enrollmentOf'>,
): Promise<readonly Enrollment[]> {
  // A link is valid for at most seven days.
  const { rows } = await db.query<{ key_id: string }>(
    `select e.key_id from enrollments e where e.added_at > now() - interval '8 days'
       and not exists (select from passkeys p where p.enrollment = e.key_id) order by e.added_at desc limit ${MAX_LINKS}`,
  );
  const found: Enrollment[] = [];
  for (const { key_id: keyId } of rows) {
    const open = await enrollments.enrollmentOf(keyId);
    if (open !== null) found.push(open.enrollment);
  }
  return found;
}

import type { LocalClient } from '../../workers/local-client';
import { failed, passed, type Check } from './check';
import { withDoctorDatabase } from './doctor-database';
import type { ConfiguredProcess } from './processes';

/** The keys that stored previews of open reviews name. */
const USED = `
select distinct s.preview->>'keyId' as id from staging_records s join reviews r on r.change_id = s.change_id
where r.closed_at is null and s.preview->>'keyId' is not null order by 1 limit 100`;

/**
 * Each process has the keys that open reviews are encrypted with, and those with which the others encrypt. Without one of them, people
 * cannot be shown the rows of a review, and its workflow cannot continue.
 */
export async function checkPayloadKeys(
  local: LocalClient,
  processes: readonly ConfiguredProcess[],
): Promise<readonly Check[]> {
  const used = await withDoctorDatabase(local.databaseUrl, async (db) =>
    (await db.query<{ id: string }>(USED)).rows.map(({ id }) => id),
  );
  const current = new Set(processes.flatMap(({ payloadKeys }) => payloadKeys?.current ?? []));
  if (used.length === 0 && current.size === 0) return [];
  return processes.map(({ name, payloadKeys }) => {
    const missingOf = (ids: Iterable<string>) => [...ids].filter((id) => payloadKeys?.keys.has(id) !== true);
    const [needed, others] = [missingOf(used), missingOf(current)];
    if (needed.length > 0)
      return failed(
        `payload keys of ${name}`,
        `open reviews are encrypted with keys that it does not have: ${needed.join(', ')}`,
        'Stop the process, add these keys to its COUNTERSIGN_PAYLOAD_KEYS_FILE again, and start it; until then these reviews cannot continue',
      );
    if (others.length > 0)
      return failed(
        `payload keys of ${name}`,
        `other processes encrypt with keys that it does not have: ${others.join(', ')}`,
        'Give all processes the same COUNTERSIGN_PAYLOAD_KEYS_FILE, and restart them; until then reviews cannot continue',
      );
    return passed(
      `payload keys of ${name}`,
      `include all that are used: ${[...new Set([...used, ...current])].join(', ')}`,
    );
  });
}

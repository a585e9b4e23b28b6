import { StagingRecord } from '../../policy/contracts/staging-record';
import { canonicalJson, type JsonObject } from '../../policy/contracts/canonical-json';
import type { Queryable } from '../../storage/database/database';
import type { StagingStore } from './stage';
import type { StagingRecords } from './collect-record';

/** The committer's staging records. Rows are immutable: another dry run has another `stagingSha`. */
export function stagingRecords(
  db: Queryable,
): StagingStore &
  StagingRecords & { readonly preview: (changeId: string, stagingSha: string) => Promise<JsonObject | null> } {
  return {
    async put(changeId, stagingSha, record, preview) {
      await db.query(
        'insert into staging_records (change_id, staging_sha, record, preview) values ($1, $2, $3, $4) on conflict do nothing',
        [changeId, stagingSha, canonicalJson(record), JSON.stringify(preview)],
      );
    },
    async get(changeId, stagingSha) {
      const { rows } = await db.query<{ record: unknown }>(
        'select record from staging_records where change_id = $1 and staging_sha = $2',
        [changeId, stagingSha],
      );
      const parsed = StagingRecord.safeParse(rows[0]?.record);
      return parsed.success ? parsed.data : null;
    },
    async preview(changeId, stagingSha) {
      const { rows } = await db.query<{ preview: JsonObject | null }>(
        'select preview from staging_records where change_id = $1 and staging_sha = $2',
        [changeId, stagingSha],
      );
      return rows[0]?.preview ?? null;
    },
  };
}

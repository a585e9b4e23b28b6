import { randomUUID } from 'node:crypto';
import { StagingRecord, stagingSha as stagingShaOf } from '../../policy/contracts/staging-record';
import { canonicalJson, type JsonObject } from '../../policy/contracts/canonical-json';
import type { Queryable } from '../../storage/database/database';
import { openPreview, sealPreview, type KeyRing } from '../../storage/store/preview-cipher';
import type { StagingStore } from './stage';
import type { StagingRecords } from './collect-record';

/** The stored preview of a dry run; null for a dry run without one. */
interface Previews {
  readonly preview: (changeId: string, staging: StagingRecord) => Promise<JsonObject | null>;
}

/**
 * The committer's staging records. Rows are immutable: another dry run has another `stagingSha`. Previews are encrypted if
 * `payloadKeys` is not null.
 */
export function stagingRecords(db: Queryable, payloadKeys: KeyRing | null): StagingStore & StagingRecords & Previews {
  return {
    async put(changeId, stagingSha, record, preview) {
      const { previewSha } = record;
      const stored = previewSha === null ? null : sealPreview(payloadKeys, preview, { changeId, previewSha });
      await db.query(
        'insert into staging_records (change_id, staging_sha, record, preview) values ($1, $2, $3, $4) on conflict do nothing',
        [changeId, stagingSha, canonicalJson(record), stored === null ? null : JSON.stringify(stored)],
        'staging_record_put',
      );
    },
    async begin(changeId) {
      const attempt = randomUUID();
      const { rows } = await db.query<{ lost: number }>(BEGIN, [changeId, attempt], 'rehearsal_begin');
      return { attempt, lost: rows[0]?.lost ?? 0 };
    },
    async end(changeId, attempt) {
      await db.query(
        `insert into rehearsals (change_id, attempt, event) values ($1, $2, 'ended')`,
        [changeId, attempt],
        'rehearsal_end',
      );
    },
    async get(changeId, stagingSha) {
      const { rows } = await db.query<{ record: unknown }>(
        'select record from staging_records where change_id = $1 and staging_sha = $2',
        [changeId, stagingSha],
        'staging_record_get',
      );
      const parsed = StagingRecord.safeParse(rows[0]?.record);
      return parsed.success ? parsed.data : null;
    },
    async preview(changeId, staging) {
      const { previewSha } = staging;
      if (previewSha === null) return null;
      const { rows } = await db.query<{ preview: unknown }>(
        'select preview from staging_records where change_id = $1 and staging_sha = $2',
        [changeId, stagingShaOf(staging)],
        'staging_preview',
      );
      return openPreview(payloadKeys, rows[0]?.preview, { changeId, previewSha });
    },
  };
}

/** The query does not see the row that the same statement inserts (PostgreSQL, 7.8.4), so it counts earlier attempts. */
const BEGIN = `
with begun as (insert into rehearsals (change_id, attempt, event) values ($1, $2, 'started'))
select count(*)::int as lost from rehearsals s
where s.change_id = $1 and s.event = 'started'
  and not exists (select from rehearsals e where e.change_id = $1 and e.attempt = s.attempt and e.event = 'ended')`;

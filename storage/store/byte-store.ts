import { createHash } from 'node:crypto';
import { CountersignFailure, invalid } from '../../policy/contracts/failure';
import { MAX_DIFF_BYTES } from '../../policy/contracts/diff';
import { FailureType } from '../../policy/contracts/failure-type';
import type { ByteStore } from '../../policy/evidence/byte-store';
import type { Queryable } from '../database/database';

/** Content-addressed store in the table `blobs`. */
export function createByteStore(db: Queryable): ByteStore {
  return {
    async put(tenant, bytes) {
      if (bytes.length > MAX_DIFF_BYTES) {
        throw CountersignFailure.nonRetryable(
          `diff: expected at most ${MAX_DIFF_BYTES} bytes, got ${bytes.length}; split the change`,
          FailureType.Validation,
        );
      }
      const digest = digestOf(bytes);
      await db.query(
        'insert into blobs (tenant, digest, size, bytes) values ($1, $2, $3, $4) on conflict do nothing',
        [tenant, digest, bytes.length, Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)],
        'blob_put',
      );
      return digest;
    },

    async get(tenant, digest) {
      const { rows } = await db.query<{ bytes: Buffer }>(
        'select bytes from blobs where tenant = $1 and digest = $2',
        [tenant, digest],
        'blob_get',
      );
      const bytes = rows[0]?.bytes;
      if (bytes === undefined) {
        throw invalid(
          'diffSha',
          'the digest of stored bytes',
          `${digest}, which the store does not have for tenant "${tenant}"`,
          'Upload the diff before submitting it',
        );
      }
      const actual = digestOf(bytes);
      if (actual !== digest) {
        throw CountersignFailure.nonRetryable(
          `The stored bytes ${digest} of tenant "${tenant}" have the digest ${actual}, so they were changed`,
          FailureType.DigestMismatch,
          {
            expected: digest,
            actual,
          },
        );
      }
      return new Uint8Array(bytes);
    },

    async has(tenant, digest) {
      const { rowCount } = await db.query(
        'select from blobs where tenant = $1 and digest = $2',
        [tenant, digest],
        'blob_has',
      );
      return rowCount === 1;
    },
  };
}

function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

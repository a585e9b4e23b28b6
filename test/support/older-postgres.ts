import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { postgresPackage, type PostgresPackage } from '../../dev/embedded/postgres-binaries';
import { ROOT } from './root';

const MAJORS = [14, 15, 16, 17];

/** Set by `.ci/run`: the tests on older servers must run. */
const REQUIRED = 'COUNTERSIGN_TEST_OLDER_POSTGRES';
export const IS_OLDER_REQUIRED = process.env[REQUIRED] === 'required';

/** The servers before PostgreSQL 18 that `.ci/install postgresql` has installed, by major version. */
export function olderPostgres(): ReadonlyMap<number, PostgresPackage> {
  const installed = MAJORS.filter((major) => existsSync(folderOf(major)));
  if (IS_OLDER_REQUIRED && installed.length < MAJORS.length)
    throw new Error(`${REQUIRED} is set, but PostgreSQL 14 to 17 are not installed; run .ci/install postgresql`);
  return new Map(installed.map((major) => [major, postgresPackage(folderOf(major))]));
}

/** The server of Countersign itself in tests. Undefined: that of the product. */
export function ownPostgres(): PostgresPackage | undefined {
  return chosen('COUNTERSIGN_TEST_POSTGRES_MAJOR');
}

/** The server of targets in system tests. Undefined: that of Countersign itself. */
export function targetPostgres(): PostgresPackage | undefined {
  return chosen('COUNTERSIGN_TEST_TARGET_POSTGRES_MAJOR');
}

function chosen(variable: string): PostgresPackage | undefined {
  const major = process.env[variable];
  if (major === undefined) return undefined;
  const found = olderPostgres().get(Number(major));
  if (found === undefined)
    throw new Error(
      `${variable}: expected one of ${MAJORS.join(', ')} that .ci/install postgresql has installed, got "${major}"`,
    );
  return found;
}

function folderOf(major: number): string {
  return join(ROOT, '.ci', 'postgresql', 'node_modules', `postgresql-${major}`);
}

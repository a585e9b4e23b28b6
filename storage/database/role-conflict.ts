import type { Client } from 'pg';

const ATTEMPTS = 5;

/**
 * Runs a transaction that changes roles, again if another one changed the same role. Roles are shared by all databases of a server, while
 * advisory locks hold in one database only. Rolls back after each failure.
 */
export async function retryRoleConflicts(client: Client, transaction: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await transaction();
    } catch (error) {
      // Fails if the connection was lost, and then the server rolls back.
      const [rolledBack] = await Promise.allSettled([client.query('rollback')]);
      if (rolledBack.status === 'rejected' || attempt === ATTEMPTS || !isRoleConflict(error)) throw error;
    }
  }
}

function isRoleConflict(error: unknown): boolean {
  const { code, message } = error as { code?: string; message?: string };
  // 42710 duplicate_object and 23505 unique_violation (two CREATE ROLE), 40P01 deadlock, XX000 "tuple concurrently updated".
  return (
    ['42710', '23505', '40P01'].includes(code ?? '') || (code === 'XX000' && (message ?? '').includes('concurrently'))
  );
}

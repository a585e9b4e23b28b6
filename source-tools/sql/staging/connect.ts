import type { TargetContext } from '../../../policy/contracts/target-effects';
import { urlOf } from '../../define';
import { toConnectFailure } from './sql-failure';
import { IDLE_MS, openSession, type Session } from './session';
import type { SqlSettings } from '../staging-settings';

/**
 * Opens a session on the target of a change; `fresh`: on a new connection, which is not kept. Throws TARGET_UNAVAILABLE (retryable,
 * nothing was executed) or CONFIGURATION_ERROR.
 */
export async function connect(
  { target, changeId, signal, inUse }: Pick<TargetContext, 'target' | 'changeId' | 'signal' | 'inUse'>,
  settings: SqlSettings,
  { idleMs = IDLE_MS, fresh = false }: { readonly idleMs?: number; readonly fresh?: boolean } = {},
): Promise<Session> {
  try {
    return await openSession({
      url: urlOf(target),
      changeId,
      settings,
      idleMs,
      signal,
      inUse: fresh ? undefined : inUse,
    });
  } catch (error) {
    throw toConnectFailure(target.name, error);
  }
}

import { recordResolution } from '../../activities/committer/effect-resolution';
import { recordFreeze } from '../../activities/committer/target-freezes';
import { openDatabase } from '../../storage/database/database';
import { createLedger } from '../../storage/ledger/ledger';
import type { OperatorTools } from '../deps';
import { CountersignError } from '../../client/errors';
import { Submission } from '../../policy/contracts/diff';
import { readKeyFile, type LoadedKey } from '../../signing/key-file';
import { MESSAGES } from '../../policy/contracts/messages';
import type { Env } from '../../workers/config';
import { localClient } from '../../workers/local-client';
import { openClient } from '../../workers/temporal';

const PATIENCE_MS = 5_000;

/** With the rights of the operator's role, and an operator's key file, which no server holds. */
export function operatorTools(env: Env): OperatorTools {
  const local = localClient(env);
  const db = openDatabase({ url: local.operatorDatabaseUrl, applicationName: 'countersign-operator', max: 1 });
  const passphrase = env['COUNTERSIGN_KEY_PASSPHRASE'];
  const operator = (path: string): LoadedKey => {
    const key = readKeyFile(path, passphrase === undefined ? {} : { passphrase });
    if (key.kind === 'operator') return key;
    throw new CountersignError('not_eligible', `--operator-key: expected an operator key, got a ${key.kind} key`);
  };
  return {
    async resolve({ changeId, applied, reason, operatorKey }) {
      const key = operator(operatorKey);
      const ledger = createLedger(db);
      const rows = await ledger.read(changeId);
      const submission = Submission.safeParse(rows.find(({ row }) => row.kind === 'submitted')?.row.body['submission']);
      if (!submission.success) throw new CountersignError('not_found', `The ledger knows no change ${changeId}`);
      if (rows.some(({ row }) => row.kind === 'receipt'))
        throw new CountersignError(
          'invalid_input',
          'The change has ended, and has a receipt: nothing is left to resolve',
        );
      if (!rows.some(({ row }) => row.kind === 'intent'))
        throw new CountersignError(
          'invalid_input',
          'No commit of this change has begun: there is no effect to resolve',
        );
      const { target } = submission.data;
      await recordResolution(ledger, { changeId, target, applied, reason, resolvedAt: new Date().toISOString() }, key);
      return { told: await lookAgain(env, changeId) };
    },
    async freeze({ target, frozen, reason, operatorKey }) {
      return await recordFreeze(db, { target, frozen, reason, at: new Date().toISOString() }, operator(operatorKey));
    },
    close: () => db.close(),
  };
}

/** The word stands in the ledger whether or not the review can be told now. */
async function lookAgain(env: Env, changeId: string): Promise<boolean> {
  const local = localClient(env);
  const temporal = openClient({ ...env, TEMPORAL_ADDRESS: local.temporalAddress, TEMPORAL_NAMESPACE: local.namespace });
  try {
    const handle = temporal.workflow.getHandle(changeId);
    await temporal.withDeadline(Date.now() + PATIENCE_MS, () => handle.signal(MESSAGES.lookAgain));
    return true;
  } catch {
    return false;
  } finally {
    await temporal.connection.close();
  }
}

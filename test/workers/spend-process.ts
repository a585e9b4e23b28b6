/** One process of a requester: uses the approval of a change once, on a signal from its parent, and prints whether it may go on. */
import { once } from 'node:events';
import { openDatabase } from '../../storage/database/database';
import { createLedger } from '../../storage/ledger/ledger';
import { newNonce } from '../../signing/nonce';
import { spendApproval } from '../../workers/spend-approval';

async function main([url = '', changeId = '']: readonly string[]): Promise<void> {
  const db = openDatabase({ url, applicationName: 'spend' });
  await db.query('select 1');
  process.stdout.write('ready\n');
  await once(process.stdin, 'data');
  const { spent } = await spendApproval(createLedger(db), () => new Date(), {
    changeId,
    nonce: newNonce(),
    keyId: null,
  });
  await db.close();
  process.stdout.write(`${String(spent)}\n`);
  process.exit(0);
}

void main(process.argv.slice(2));

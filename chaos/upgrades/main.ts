/**
 * `npm run upgrades`: restarts all workers one by one, then PostgreSQL and Temporal, during a steady load of reviews from clients
 * that retry, half of them through the gateway. Exits with 1 if a review is lost or not committed although it was confirmed, if a client
 * sees an error that it may not retry, if an effect is missing or doubled, or if more than 5 % are rolled back before they are confirmed.
 * Progress goes to standard error; with --json the last line of standard output is one object.
 */
import { positiveNumber, readOptions, runProgram, say } from '../../dev/run-program';
import { withTemporaryDir } from '../../dev/temporary';
import { machine } from '../../bench/measure';
import { upgradeUnderLoad } from './upgrade';

/** As in the soak: a dry run that exceeds its time limit on an overloaded machine ends its review. */
const MAX_ROLLED_BACK = 0.05;

async function main(perSecond: number, json: boolean): Promise<boolean> {
  return await withTemporaryDir('upgrades', async (stateDir) => {
    const result = await upgradeUnderLoad({ stateDir, perSecond, say });
    const { submitted, committed, rolledBack, lost, wrongEffects, retries } = result;
    for (const each of lost) say(`Lost: ${each}`);
    for (const each of rolledBack) say(`Rolled back: ${each}`);
    say(
      `${submitted} submitted, ${committed.length} committed, ${rolledBack.length} rolled back, ${lost.length} lost, ${wrongEffects} wrong effects; retries ${JSON.stringify(retries)}`,
    );
    if (json)
      process.stdout.write(
        `${JSON.stringify({ machine: machine(), perSecond, ...result, committed: committed.length })}\n`,
      );
    return lost.length === 0 && wrongEffects === 0 && rolledBack.length <= MAX_ROLLED_BACK * submitted;
  });
}

runProgram(async () => {
  const values = readOptions({ rate: '5' });
  return (await main(positiveNumber('--rate', values.rate), values.json)) ? 0 : 1;
});

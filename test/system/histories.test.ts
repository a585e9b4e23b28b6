import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ReviewOutcome } from '../../policy/contracts/outcome';
import { readable, toJson, withoutMachine } from '../support/history';
import { replay } from '../support/replay';
import { workflowBundlePath } from '../support/system';
import { useJudgedShop } from './judge-words';
import { SCENARIOS, SECRET } from './scenarios';

/**
 * Runs every outcome and checks its history. With RECORD_HISTORIES=1 the histories are written to `test/histories`, which
 * `test/replay` replays with the current code. Record them once for each released version and never change them.
 */
const FOLDER = join(__dirname, '..', 'histories');
const VERSION = 'v0.2.0';

const { system } = useJudgedShop('histories');

test.each(Object.keys(SCENARIOS))(
  '%s: the history contains no byte of the diff and no value of a row, and replays to the same outcome [P12, T66]',
  async (name) => {
    const changeId = (await SCENARIOS[name]?.(system)) ?? '';
    const handle = system.temporal.workflow.getHandle(changeId);
    const history = await handle.fetchHistory();
    const json = toJson(history);
    const content = readable(json);
    // Checks that `readable` decodes the history at all.
    expect(content).toContain(((await handle.result()) as ReviewOutcome).inputSha);
    for (const secret of [SECRET, 'item 1', 'draft 2', 'owner 1', 'execute E', 'set balance'])
      expect([secret, content.includes(secret)]).toEqual([secret, false]);
    await replay({ codePath: workflowBundlePath() }, history, changeId);
    if (process.env['RECORD_HISTORIES'] === '1')
      writeFileSync(
        join(FOLDER, `${VERSION}-${name}.json`),
        `${JSON.stringify({ workflowId: changeId, history: withoutMachine(json) }, null, 1)}\n`,
      );
  },
);

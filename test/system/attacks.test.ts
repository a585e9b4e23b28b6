import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { compiled } from '../support/compiled';

interface Told {
  readonly name: string;
  readonly effect: boolean;
  readonly refusalInLedger: boolean | null;
  readonly shownAs?: string;
}

/** The program as `npm run attacks` runs it: its own servers, our real processes. One of each sort; the whole list takes minutes. */
const SAMPLE = [
  'forged signal: plain JSON in the name of an approver',
  'one person with two keys, where two people are needed',
  'replayed answer: on another review of the same change',
  'reset to before a rejection',
  'terminate and restart after a rejection that the workflow never heard of',
  'edited workflow input: the review is terminated and started again with another diff',
  'complete-activity by id: judge',
  'complete-activity by id: rollback, as a commit',
  'a direct commit activity, from a workflow of the attacker’s own',
  'a direct dry run of another diff under the id of an opened change',
];

let told: readonly Told[];
beforeAll(async () => {
  const script = join(await compiled(), 'examples/attacks/main.js');
  // Roles belong to the whole server: on one that other tests use, its setting up would change their passwords.
  const { TEMPORAL_ADDRESS: _address, COUNTERSIGN_DATABASE_ADMIN_URL: _url, ...env } = process.env;
  const only = SAMPLE.flatMap((name) => ['--only', name]);
  // It ends with 1 where one succeeded; which one, its last line says.
  const { stdout } = await promisify(execFile)(process.execPath, [script, '--json', ...only], {
    env,
    timeout: 280_000,
  }).catch((error: unknown) => error as { readonly stdout: string });
  ({ attacks: told } = JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '') as { attacks: Told[] });
}, 300_000);

test.each(SAMPLE)('a writer of the namespace gets nothing by it, and it does not go unseen: %s [P4, P8]', (name) => {
  const attack = told.find((each) => each.name === name);
  expect(attack).toMatchObject({ effect: false });
  // Nothing of ours was reached, so none could refuse: then whoever looks is told that nobody signed the outcome.
  if (attack?.refusalInLedger === null) expect(attack.shownAs).toBe('unverified');
  else expect(attack?.refusalInLedger).toBe(true);
});

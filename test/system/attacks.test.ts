import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { compiled } from '../support/compiled';
import { sampled } from '../support/extent';

interface AttackReport {
  readonly name: string;
  readonly effect: boolean;
  readonly refusalInLedger: boolean | null;
  /** Why the attack could not be run. */
  readonly notRun?: string;
  readonly shownAs?: string;
  /** Null if the attack looked for what it could have achieved, and found nothing. */
  readonly achieved?: string | null;
}

/** Runs the program of `npm run attacks`, which starts its own servers and our real processes. One attack of each kind, and in `npm test` of every second kind, because all attacks take 18 minutes. `.ci/run` runs an eighth of all beside these. */
const KINDS = [
  'forged signal: plain JSON with the name of an approver',
  'one person with two keys instead of two people',
  'replayed answer: for another review of the same change',
  'reset to before a rejection',
  'terminate and restart after a rejection that the workflow never received',
  'edited workflow input: the review is terminated and restarted with another diff',
  'complete-activity by id: judge',
  'complete-activity by id: rollback, with the result of a commit',
  'a commit activity scheduled by the attacker’s own workflow',
  'a dry run of a change that a guardian forbids',
];
const SAMPLE = sampled(KINDS, 2);

/** Our activity runs, but on the recorded change: there is nothing to refuse. */
const WITHOUT_REFUSAL = 'a dry run of another diff under the id of an open change';

let reports: readonly AttackReport[];
beforeAll(async () => {
  const script = join(await compiled(), 'examples/attacks/main.js');
  // On its own servers: PostgreSQL roles are server-wide, so its setup would change the passwords that other tests use.
  const { TEMPORAL_ADDRESS: _address, COUNTERSIGN_DATABASE_ADMIN_URL: _url, ...env } = process.env;
  const only = [...SAMPLE, WITHOUT_REFUSAL].flatMap((name) => ['--only', name]);
  // Exit code 1 means that an attack succeeded; the last line of the output says which.
  const { stdout } = await promisify(execFile)(process.execPath, [script, '--json', ...only], {
    env,
    timeout: 800_000,
  }).catch((error: unknown) => error as { readonly stdout: string });
  ({ attacks: reports } = JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '') as { attacks: AttackReport[] });
}, 820_000);

test.each(SAMPLE)('an attack with namespace write access has no effect and is detected: %s [P4, P8]', (name) => {
  const attack = reports.find((each) => each.name === name);
  expect({ effect: attack?.effect, notRun: attack?.notRun }).toEqual({ effect: false, notRun: undefined });
  // Null: the attack reached none of our processes, so none could refuse. The outcome must then be shown as unverified.
  if (attack?.refusalInLedger === null) expect(attack.shownAs).toBe('unverified');
  else expect(attack?.refusalInLedger).toBe(true);
});

test(`an attack with namespace write access achieves nothing: ${WITHOUT_REFUSAL} [P8]`, () => {
  const attack = reports.find(({ name }) => name === WITHOUT_REFUSAL);
  expect(attack).toMatchObject({ effect: false, refusalInLedger: null, achieved: null });
});

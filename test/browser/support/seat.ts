import { setTimeout as pause } from 'node:timers/promises';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BrowserContext, Page } from 'playwright-core';
import { remoteModules } from '../../../cli/remote-modules';
import { runCommand, type CommandRun } from '../../cli/run-command';
import { addAuthenticator, type Authenticator, type Credential } from './authenticator';
import type { Environment } from './environment';
import { setTraps, type Traps } from './traps';

export type Person = 'alice' | 'bob';

/** A person in front of an own browser window, with an own passkey. */
export interface Seat {
  readonly person: Person;
  readonly context: BrowserContext;
  readonly page: Page;
  readonly authenticator: Authenticator;
  readonly traps: Traps;
  close(): Promise<void>;
}

export interface Window {
  readonly width?: number;
  readonly height?: number;
  readonly colors?: 'light' | 'dark';
  /** A passkey that no other window uses, because the gateway bounds how many answers of one may be refused. */
  readonly ownPasskey?: boolean;
}

/** A passkey belongs to a person for the whole run: it is made once, by a one-time link. */
const passkeys = new WeakMap<Environment, Map<Person, Promise<readonly Credential[]>>>();

/** Opens a window and logs in with the person's passkey, which is enrolled first if there is none yet. */
export async function takeSeat(environment: Environment, person: Person, window: Window = {}): Promise<Seat> {
  const known = passkeys.get(environment) ?? new Map<Person, Promise<readonly Credential[]>>();
  passkeys.set(environment, known);
  const made = (window.ownPasskey === true ? undefined : known.get(person)) ?? enrolled(environment, person);
  if (window.ownPasskey !== true) known.set(person, made);
  const credentials = await made;
  const seat = await openWindow(environment, person, window);
  for (const credential of credentials) await seat.authenticator.add({ ...credential, signCount: nextCount() });
  await seat.page.goto(`${environment.origin}/inbox/`);
  await logIn(seat.page);
  return seat;
}

/** Copies of one passkey count on from each other, as one authenticator does. */
let counted = 0;
const nextCount = (): number => (counted += 1_000);

/** A window without a login. */
export async function openWindow(
  { browser, origin }: Environment,
  person: Person,
  { width = 1280, height = 800, colors = 'light' }: Window = {},
): Promise<Seat> {
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: colors,
    reducedMotion: 'reduce',
    deviceScaleFactor: 1,
  });
  context.setDefaultTimeout(20_000);
  const traps = await setTraps(context, origin);
  const page = await context.newPage();
  const close = async (): Promise<void> => {
    // A request that is being forged when its window closes has no answer, and would fail the test that runs next.
    if (!page.isClosed()) await page.unrouteAll({ behavior: 'ignoreErrors' });
    await context.close();
  };
  return { person, context, page, authenticator: await addAuthenticator(page), traps, close };
}

async function enrolled(environment: Environment, person: Person): Promise<readonly Credential[]> {
  const seat = await openWindow(environment, person);
  try {
    await enroll(seat, await enrollmentLink(environment, person));
    return await seat.authenticator.credentials();
  } finally {
    await seat.close();
  }
}

/** Follows a one-time link up to the login page. */
export async function enroll({ page }: Seat, link: string): Promise<void> {
  await page.goto(link);
  await page.getByRole('button', { name: 'Make a passkey' }).click();
  await page.getByRole('button', { name: 'Go to the login' }).click();
}

export async function logIn(page: Page): Promise<void> {
  await page.bringToFront();
  await page.getByRole('button', { name: 'Log in with a passkey' }).click();
  await page.getByRole('button', { name: 'Log out' }).waitFor();
}

/** Made by the operator with the command line. */
export async function enrollmentLink(environment: Environment, person: string): Promise<string> {
  const args = ['enroll', person, '--tenant', 'default', '--gateway-url', environment.origin, '--json'];
  const { code, out, err } = await asOperator(environment, [
    'keys',
    ...args,
    '--operator-key',
    operatorKey(environment),
  ]);
  if (code !== 0) throw new Error(`keys enroll ended with ${code}: ${err}`);
  return (JSON.parse(out) as { link: string }).link;
}

export function operatorKey({ system }: Environment): string {
  return system.setup.keys.operator.path;
}

/** A command with the database and the key of the operator. */
export async function asOperator({ system }: Environment, args: readonly string[]): Promise<CommandRun> {
  const dir = mkdtempSync(join(tmpdir(), 'countersign-operator-'));
  try {
    return await runCommand(args, {
      host: {
        env: {
          XDG_CONFIG_HOME: dir,
          COUNTERSIGN_STATE_DIR: join(dir, 'none'),
          COUNTERSIGN_DATABASE_URL: system.setup.databaseUrls.cs_operator,
          COUNTERSIGN_TRUST_FILE: system.setup.trustFile,
        },
        now: () => new Date(),
        sleep: pause,
        remote: remoteModules,
      },
    });
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

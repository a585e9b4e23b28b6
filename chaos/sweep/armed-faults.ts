import { existsSync, linkSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { faultText, isPermanent, toFault, type Fault, type When } from './points';

/** Returns the faults armed for a change: a permanent one each time, any other once, across all processes and calls. */
export interface FaultSource {
  readonly take: (changeId: string, point: string, when: When) => Fault | null;
}

/** The maximum number of faults armed at the same failpoint of one change. */
const SLOTS = [0, 1, 2];

const nameOf = (changeId: string, point: string, when: When, slot: number): string =>
  `${changeId}.${point}.${when}.${slot}`;

/**
 * Stores faults as files, because they must outlive the process that they kill. The rename from `armed` to `fired` is
 * atomic, so a fault that is not permanent fires once across all processes. One that is permanent stays, and is linked, which is
 * atomic too. A file name under `fired` ends with the id of the affected process.
 */
export function fileFaultSource(dir: string): FaultSource {
  return {
    take(changeId, point, when) {
      for (const slot of SLOTS) {
        const name = nameOf(changeId, point, when, slot);
        const armed = join(dir, 'armed', name);
        if (!existsSync(armed)) continue;
        const fired = join(dir, 'fired', `${name}.${process.pid}`);
        try {
          const fault = toFault(readFileSync(armed, 'utf8'));
          if (!isPermanent(fault)) renameSync(armed, fired);
          else if (!existsSync(fired)) linkSync(armed, fired);
          return fault;
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error; // Another process took it.
        }
      }
      return null;
    },
  };
}

export interface Fired {
  readonly changeId: string;
  readonly fault: Fault;
  readonly pid: number;
}

/** The sweep's side: arms faults and reads which ones fired. */
export class FaultController {
  readonly #seen = new Set<string>();

  constructor(readonly dir: string) {
    for (const each of ['armed', 'fired']) mkdirSync(join(dir, each), { recursive: true });
  }

  arm(changeId: string, faults: readonly Fault[]): void {
    for (const fault of faults) {
      const slot = SLOTS.find(
        (n) => !existsSync(join(this.dir, 'armed', nameOf(changeId, fault.point, fault.when, n))),
      );
      if (slot === undefined) throw new RangeError(`Too many faults at ${fault.point} of ${changeId}`);
      writeFileSync(join(this.dir, 'armed', nameOf(changeId, fault.point, fault.when, slot)), faultText(fault));
    }
  }

  /** Faults that fired since the last call. */
  newlyFired(): Fired[] {
    const fresh = readdirSync(join(this.dir, 'fired')).filter((name) => !this.#seen.has(name));
    return fresh.map((name) => {
      this.#seen.add(name);
      const fault = toFault(readFileSync(join(this.dir, 'fired', name), 'utf8'));
      return { changeId: name.slice(0, name.indexOf('.')), fault, pid: Number(name.slice(name.lastIndexOf('.') + 1)) };
    });
  }

  /** Names of the faults that were armed for a change and did not fire. */
  unreached(changeId: string): string[] {
    const fired = new Set(readdirSync(join(this.dir, 'fired')).map((name) => name.slice(0, name.lastIndexOf('.'))));
    return readdirSync(join(this.dir, 'armed')).filter((name) => name.startsWith(`${changeId}.`) && !fired.has(name));
  }
}

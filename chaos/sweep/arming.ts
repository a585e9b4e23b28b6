import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { faultText, toFault, type Fault, type When } from './points';

/** Hands out the faults that were armed for a change, each once, whoever asks how often. */
export interface Arming {
  readonly take: (changeId: string, point: string, when: When) => Fault | null;
}

/** Faults of the same place in one change at most. */
const SLOTS = [0, 1, 2];

const nameOf = (changeId: string, point: string, when: When, slot: number): string =>
  `${changeId}.${point}.${when}.${slot}`;

/**
 * Faults as files, since they must outlive the process that they kill: the rename from `armed` to `fired` is atomic, so a
 * fault fires once across all processes. The name under `fired` ends with the process that it hit.
 */
export function fileArming(dir: string): Arming {
  return {
    take(changeId, point, when) {
      for (const slot of SLOTS) {
        const name = nameOf(changeId, point, when, slot);
        const armed = join(dir, 'armed', name);
        if (!existsSync(armed)) continue;
        const fired = join(dir, 'fired', `${name}.${process.pid}`);
        try {
          renameSync(armed, fired);
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code === 'ENOENT') continue; // Another process took it.
          throw error;
        }
        return toFault(readFileSync(fired, 'utf8'));
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

/** The sweep's side: arms faults, and hears of those that fired. */
export class Armoury {
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

  /** What fired since the last call. */
  news(): Fired[] {
    const fresh = readdirSync(join(this.dir, 'fired')).filter((name) => !this.#seen.has(name));
    return fresh.map((name) => {
      this.#seen.add(name);
      const fault = toFault(readFileSync(join(this.dir, 'fired', name), 'utf8'));
      return { changeId: name.slice(0, name.indexOf('.')), fault, pid: Number(name.slice(name.lastIndexOf('.') + 1)) };
    });
  }

  /** Faults that were armed for a change and never reached. */
  left(changeId: string): string[] {
    return readdirSync(join(this.dir, 'armed')).filter((name) => name.startsWith(`${changeId}.`));
  }
}

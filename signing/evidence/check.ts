import { canonicalJson } from '../../policy/contracts/canonical-json';

/** One thing that was checked, and what came of it, in a sentence. */
export interface EvidenceCheck {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
}

/** Why a check fails; thrown inside a check only. */
export class CheckFailed extends Error {}

export function fail(detail: string): never {
  throw new CheckFailed(detail);
}

/** Fails unless both are the same JSON, member for member. */
export function assertSame(a: unknown, b: unknown, detail: string): void {
  if (canonicalJson(a ?? null) !== canonicalJson(b ?? null)) fail(detail);
}

/**
 * Runs checks in order and keeps what came of each. A check returns its detail, or a value with one for those after it.
 * Whatever it throws is a failed check: there is no way through by an error.
 */
export class Checks {
  readonly done: EvidenceCheck[] = [];

  /** Null where it failed. `needs`: values of checks before; where one is null this one cannot be made, and fails too. */
  run<T>(name: string, work: () => readonly [detail: string, value: T], needs: readonly unknown[] = []): T | null {
    if (needs.includes(null)) {
      this.done.push({ name, ok: false, detail: 'not checked, since what it rests on failed' });
      return null;
    }
    try {
      const [detail, value] = work();
      this.done.push({ name, ok: true, detail });
      return value;
    } catch (error) {
      this.done.push({ name, ok: false, detail: error instanceof Error ? error.message : String(error) });
      return null;
    }
  }
}

/** One thing that `doctor` checked. */
export interface Check {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
  /** What to do; null if the check passed. */
  readonly fix: string | null;
}

export function passed(name: string, detail: string): Check {
  return { name, ok: true, detail, fix: null };
}

export function failed(name: string, detail: string, fix: string): Check {
  return { name, ok: false, detail, fix };
}

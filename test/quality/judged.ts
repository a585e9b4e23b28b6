/** What a rule, or a starter bundle, did with a case: `held` if anything fired. */
export type Verdict = 'held' | 'passed';

/** One case of a corpus or labelled set with its label and our answer. */
export interface Judged {
  readonly id: string;
  readonly expected: Verdict;
  readonly actual: Verdict;
  /** What fired, or what was looked for; shown with a disagreement. */
  readonly what: string;
}

export interface Judgement {
  readonly judged: readonly Judged[];
  /** Cases about a question that our rules do not ask, such as naming conventions. */
  readonly notCompared: number;
}

/** A corpus or labelled set. */
export interface Measure {
  readonly name: string;
  /** File below the folder of the corpora, or of our own labelled sets. */
  readonly file: string;
  readonly own: boolean;
  /** Null if the file is absent. */
  readonly judge: (folder: string) => Promise<Judgement | null>;
}

export interface Figures {
  readonly risky: number;
  readonly detected: number;
  readonly ordinary: number;
  readonly falseAlarms: number;
  readonly notCompared: number;
  readonly disagreements: readonly Judged[];
}

export function figuresOf({ judged, notCompared }: Judgement): Figures {
  const risky = judged.filter(({ expected }) => expected === 'held');
  const ordinary = judged.filter(({ expected }) => expected === 'passed');
  return {
    risky: risky.length,
    detected: risky.filter(({ actual }) => actual === 'held').length,
    ordinary: ordinary.length,
    falseAlarms: ordinary.filter(({ actual }) => actual === 'held').length,
    notCompared,
    disagreements: judged.filter(({ expected, actual }) => expected !== actual),
  };
}

export const verdictOf = (held: boolean): Verdict => (held ? 'held' : 'passed');

/** The label of a public corpus as a verdict. */
export const labelOf = (expected: 'pass' | 'violation'): Verdict => verdictOf(expected === 'violation');

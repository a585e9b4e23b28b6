/** One line of a JSON Lines input. */
export interface InputLine {
  readonly text: string;
  /** Line number in the input, from 1. */
  readonly number: number;
}

/** The lines that are not blank. */
export function nonBlankLines(text: string): InputLine[] {
  return text
    .split('\n')
    .map((row, i) => ({ text: row, number: i + 1 }))
    .filter((row) => row.text.trim() !== '');
}

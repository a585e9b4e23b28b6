import type { JSX } from 'preact';
import { SafeText } from './safe-text';

export type Tone = 'good' | 'bad' | 'warn' | 'info' | 'quiet';

/** A short word on a coloured ground. The word carries the meaning, not the colour. */
export function Badge({ tone, text }: { readonly tone: Tone; readonly text: string }): JSX.Element {
  return (
    <span class={`badge ${tone}`}>
      <SafeText text={text} />
    </span>
  );
}

export function severityTone(severity: string | null): Tone {
  return severity === 'BLOCK' ? 'bad' : severity === 'WARN' ? 'warn' : 'quiet';
}

/** `BLOCK` and `WARN` as people read them. */
export function severityText(severity: string): string {
  return severity === 'BLOCK' ? 'Blocks' : severity === 'WARN' ? 'Warns' : severity.toLowerCase();
}

export function stateTone(state: string): Tone {
  if (state === 'COMMITTED') return 'good';
  return state === 'ROLLED_BACK' || state === 'COMPENSATED' ? 'bad' : state === 'RUNNING' ? 'quiet' : 'warn';
}

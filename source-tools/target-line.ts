/** One line of `countersign doctor`. `fail`: changes cannot be staged or committed, or more can happen than should. */
export interface TargetLine {
  readonly level: 'ok' | 'warn' | 'fail';
  readonly text: string;
}

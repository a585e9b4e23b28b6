/** One line of `countersign doctor`. `fail`: changes cannot be staged or committed, or the access is broader than it should be. */
export interface TargetLine {
  readonly level: 'ok' | 'warn' | 'fail';
  readonly text: string;
}

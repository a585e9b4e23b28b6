import { DefaultLogger, Runtime } from '@temporalio/worker';

/** For callers that report what does not replay: the SDK would log it as well. */
export function installQuietRuntime(): void {
  try {
    Runtime.install({
      logger: new DefaultLogger('ERROR', () => {}),
      telemetryOptions: { logging: { filter: 'OFF', forward: {} } },
    });
  } catch (error) {
    // There is one runtime in a process, and another command of this process has it.
    if (!(error instanceof Error && error.name === 'IllegalStateError')) throw error;
  }
}

import { DefaultLogger, type LogEntry } from '@temporalio/worker';
import type { Logger } from './logger';

/** Writes Temporal's worker and workflow logs in the same format. */
export function temporalLogger(logger: Logger): DefaultLogger {
  return new DefaultLogger('INFO', ({ level, message, meta }: LogEntry) => {
    const { workflowId, runId, activityType, attempt, error } = (meta ?? {}) as Record<string, unknown>;
    logger[toPino(level)](
      { workflowId, runId, activityType, attempt, error: error instanceof Error ? error.message : error },
      message,
    );
  });
}

function toPino(level: LogEntry['level']): 'trace' | 'debug' | 'info' | 'warn' | 'error' {
  switch (level) {
    case 'TRACE':
      return 'trace';
    case 'DEBUG':
      return 'debug';
    case 'INFO':
      return 'info';
    case 'WARN':
      return 'warn';
    case 'ERROR':
      return 'error';
    default:
      return level satisfies never;
  }
}

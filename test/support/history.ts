import type { temporal } from '@temporalio/proto';
import { historyToJSON } from '@temporalio/common/lib/proto-utils';

export type History = temporal.api.history.v1.IHistory;
export type HistoryJson = { readonly events: readonly Record<string, unknown>[] };

export function toJson(history: History): HistoryJson {
  return JSON.parse(historyToJSON(history)) as HistoryJson;
}

/** Removes what identifies the recording machine: worker identities and the paths in stack traces. Replay reads neither. */
export function withoutMachine(json: HistoryJson): HistoryJson {
  return JSON.parse(JSON.stringify(json), (key, value: unknown) => {
    if (key === 'stackTrace') return '';
    if (key === 'identity' && typeof value === 'string') return 'recorder';
    return typeof value === 'string' && /^\d+@/.test(value) ? 'recorder' : value;
  }) as HistoryJson;
}

/** All text of a history, with its base64 payloads decoded. */
export function readable(history: HistoryJson): string {
  const found: string[] = [];
  const visit = (value: unknown): void => {
    if (typeof value === 'string') found.push(value, ...layers(value));
    else if (Array.isArray(value)) value.forEach(visit);
    else if (typeof value === 'object' && value !== null)
      Object.entries(value).forEach(([key, member]) => (found.push(key), visit(member)));
  };
  visit(history);
  return found.join('\n');
}

/** A payload may contain an envelope, whose payload is again base64. */
function layers(text: string, depth = 0): string[] {
  if (depth > 3) return [];
  const parts = depth === 0 ? [text] : (text.match(/[A-Za-z0-9+/]{16,}={0,2}/g) ?? []);
  return parts.flatMap((part) => {
    if (!/^[A-Za-z0-9+/]+={0,2}$/.test(part) || part.length % 4 !== 0) return [];
    const decoded = Buffer.from(part, 'base64').toString();
    return [decoded, ...layers(decoded, depth + 1)];
  });
}

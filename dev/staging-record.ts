import type { StagingRecord } from '../policy/contracts/staging-record';

/** The record of a dry run that changed nothing, with the members of `change` replaced. */
export function stagingRecord(change: Partial<StagingRecord> = {}): StagingRecord {
  return {
    sourceTool: 'SQLDryRun',
    target: 'shop',
    origin: 'measured',
    statements: [],
    tables: [],
    sideEffects: [],
    fullyCaptured: true,
    uncaptured: [],
    reason: null,
    notCompared: [],
    previewSha: null,
    base: {},
    serverVersion: '18.4',
    ...change,
  };
}

/** A table of a dry run in which `updated` rows were updated. */
export function updatedTable(table: string, updated: number, touchedSha: string): StagingRecord['tables'][number] {
  return { table, inserted: 0, updated, deleted: 0, touchedSha, keyed: true, volatileColumns: [] };
}

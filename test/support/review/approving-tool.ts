import { sha256Hex, sha256HexOfText } from '../../../policy/contracts/hash';
import type { SourceTool } from '../../../policy/contracts/source-tool';
import { sqlCas } from '../../../source-tools/sql';
import { stagingRecord, updatedTable } from '../../../dev/staging-record';

/** Reads diffs as `SQLCAS` does. Its target accepts every change and reports the table and the row count of `target`. */
export function approvingTool(target: { readonly rows: number; readonly table: string }): SourceTool {
  return {
    ...sqlCas,
    staging: async () => ({
      stage: async ({ diff }) => {
        const record = stagingRecord({
          sourceTool: 'SQLCAS',
          base: { rows: [{ key: { id: 7 }, version: 3 }] },
          serverVersion: '18.0',
          statements: [{ sha: sha256Hex(diff.raw), command: 'UPDATE', rowCount: target.rows }],
          tables: [updatedTable(target.table, target.rows, sha256HexOfText('touched'))],
        });
        const row = { before: { id: '7', stock: '1' }, after: { id: '7', stock: '2' } };
        const preview = { tables: [{ table: target.table, total: target.rows, rows: [row] }], moreTables: 0 };
        return { kind: 'staged', record, preview };
      },
      commit: async () => ({ kind: 'applied', effect: { rows: { [target.table]: target.rows } }, replayed: false }),
      seal: async () => ({ found: false }),
    }),
  };
}

import type { JsonObject } from '../../policy/contracts/canonical-json';
import type { StagingRecord } from '../../policy/contracts/staging-record';
import { updatedTable } from '../../dev/staging-record';

/** A change of 40 invoices, for screens and pages. */
export const INVOICE_UPDATE = `UPDATE invoices
   SET status = 'paid', paid_at = now()
 WHERE due_on < '2026-10-01';
`;

const CUSTOMERS = ['Ada Lovelace', 'Grace Hopper', 'Edsger Dijkstra', 'Barbara Liskov', 'Tony Hoare'];

export const invoice = (i: number): JsonObject => ({
  id: String(1041 + i),
  customer: CUSTOMERS[i % CUSTOMERS.length] ?? '',
  cents: String(12_500 + 310 * i),
  due_on: '2026-09-14',
});

/** What its dry run measures. */
export function invoiceEffects(touchedSha: string): Pick<StagingRecord, 'tables' | 'sideEffects' | 'notCompared'> {
  return {
    tables: [{ ...updatedTable('public.invoices', 40, touchedSha), volatileColumns: ['paid_at'] }],
    sideEffects: [{ table: 'public.audit_log', inserted: 40, updated: 0, deleted: 0 }],
    notCompared: [{ table: 'public.invoices', column: 'paid_at', why: 'now() has another value in the commit' }],
  };
}

export const INVOICE_PREVIEW: JsonObject = {
  tables: [
    {
      table: 'public.invoices',
      total: 40,
      rows: Array.from({ length: 20 }, (_, i) => ({
        before: { ...invoice(i), status: 'open', paid_at: null },
        after: { ...invoice(i), status: 'paid', paid_at: { notCompared: 'now()' } },
      })),
    },
  ],
  moreTables: 0,
};

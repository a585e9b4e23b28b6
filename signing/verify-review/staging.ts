import type { LedgerRow } from '../../policy/contracts/ledger';
import type { StagingRecord } from '../../policy/contracts/staging-record';
import { previewSha as previewShaOf, stagingSha as stagingShaOf } from '../../policy/contracts/staging-record';
import { fail, notChecked, NEVER_OPENED, openedOf, rowOf } from './checking';
import type { Passed, Review } from './record';

export function checkStaging(review: Review): Passed {
  const { record, rows } = review;
  const opened = openedOf(review);
  if (opened === null) {
    if (record.staging !== null) fail('there is a dry run, but the change has no plan');
    return [NEVER_OPENED, { staging: null }];
  }
  const { staging } = record;
  const selected = selectedSha(review);
  for (const row of rows) {
    if (row.kind !== 'staged' || row.body['rejected'] === true) continue;
    if (row.body['stagingSha'] !== stagingShaOf(row.body['record'] as StagingRecord))
      fail(`row ${row.n}: its record does not match its hash`);
  }
  if (selected === null) {
    if (staging !== null) fail('there is a staging record, but the decision is not based on one');
    if (opened.plan.mode === 'enforced' && review.end?.action === 'COMMIT') fail('an enforced change needs a dry run');
    return ['none', { staging: null }];
  }
  if (staging === null) fail(`there is no staging record ${selected} of this change`);
  const sha = stagingShaOf(staging);
  if (sha !== selected) fail(`the record hashes to ${sha}, expected ${selected}`);
  if (!rows.some((row) => row.kind === 'staged' && row.body['stagingSha'] === selected))
    fail('no row records this dry run');
  const { target, sourceTool } = opened.submission;
  if (staging.target !== target || staging.sourceTool !== sourceTool) fail('the record is for another target or tool');
  return [`stagingSha ${sha}, ${staging.origin}`, { staging: { record: staging, sha } }];
}

/** The rows that people are shown are those of the dry run. They may be left out; then nothing is shown in their place. */
export function checkPreview(review: Review): Passed {
  const { preview } = review.record;
  const expected = review.need('staging')?.record.previewSha ?? null;
  if (expected === null) {
    if (preview !== null) fail('there is a preview, but the dry run has none');
    return ['none', { preview: null }];
  }
  if (preview === null) return notChecked('the preview was left out; `previewSha` identifies it');
  const sha = previewShaOf(preview);
  if (sha !== expected) fail(`the preview hashes to ${sha}, the dry run names ${expected}`);
  return [`previewSha ${sha}`, { preview }];
}

/** The dry run that the commit request or the receipt names; without either, the disclosed one, or else the last. */
function selectedSha({ record, rows, end }: Review): string | null {
  if (record.asked !== null) return record.asked.stagingSha;
  return end === null ? openStagingSha(rows) : end.stagingSha;
}

function openStagingSha(rows: readonly LedgerRow[]): string | null {
  const disclosed = rowOf(rows, 'disclosed');
  const staged = rows.findLast((row) => row.kind === 'staged' && row.body['rejected'] !== true);
  const sha = disclosed === null ? staged?.body['stagingSha'] : disclosed.body['stagingSha'];
  return typeof sha === 'string' ? sha : null;
}

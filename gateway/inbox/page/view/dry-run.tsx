import type { JSX } from 'preact';
import type { JsonObject } from '../../../../policy/contracts/canonical-json';
import type { StagingRecord } from '../../../../policy/contracts/staging-record';
import { counted } from '../../../../policy/text/counted';
import { previewOf } from '../model/preview-table';
import { PreviewRows } from './preview-rows';
import { SafeText } from './safe-text';

interface Props {
  readonly staging: StagingRecord;
  readonly preview: JsonObject | null;
}

/** What the dry run did, what it could not say, and the rows before and after. */
export function DryRun({ staging, preview }: Props): JSX.Element {
  const { origin, reason, tables, sideEffects, uncaptured, notCompared, previewSha } = staging;
  return (
    <section class="panel" id="dry-run" data-block="dry-run" aria-labelledby="dry-run-title">
      <h2 id="dry-run-title" tabIndex={-1}>
        What it would touch
      </h2>
      {origin === 'claimed' && <p class="warning">Claimed by the requester, not measured and not verified.</p>}
      {reason === 'not_rehearsed' && (
        <p class="warning">Nothing was executed. The change first executes in the commit.</p>
      )}
      <ul class="effects" id="dry-run-tables" data-block="dry-run-tables">
        {tables.map((effect, i) => (
          <Effect key={`t${i}`} id={`dry-run-tables-${i}`} effect={effect} />
        ))}
        {sideEffects.map((effect, i) => (
          <Effect key={`s${i}`} id={`dry-run-sideEffects-${i}`} effect={effect} side={true} />
        ))}
      </ul>
      <Statements staging={staging} />
      <List id="dry-run-uncaptured" title="Not captured by the dry run" items={uncaptured} />
      <List
        id="dry-run-notCompared"
        title="Not compared: the commit may write other values into these columns"
        items={notCompared.map(({ table, column, why }) => `${table}.${column}: ${why}`)}
      />
      {previewSha !== null && preview === null && (
        <p class="warning">The rows of the dry run were not sent, so this change cannot be confirmed here.</p>
      )}
      {preview !== null && <PreviewRows preview={previewOf(preview)} />}
    </section>
  );
}

interface EffectProps {
  readonly id: string;
  readonly effect: StagingRecord['sideEffects'][number];
  readonly side?: boolean;
}

function Effect({ id, effect: { table, inserted, updated, deleted }, side = false }: EffectProps): JSX.Element {
  return (
    <li id={id} data-block={id}>
      <strong>
        <SafeText text={table} />
      </strong>
      {side && <em> side effect</em>}
      <Count count={inserted} what="inserted" />
      <Count count={updated} what="updated" />
      <Count count={deleted} what="deleted" />
    </li>
  );
}

function Count({ count, what }: { readonly count: number; readonly what: string }): JSX.Element | null {
  return count === 0 ? null : (
    <span class={`count ${what}`}>
      {count} {what}
    </span>
  );
}

function Statements({ staging: { statements } }: { readonly staging: StagingRecord }): JSX.Element | null {
  // Of a single statement the tables say everything.
  if (statements.length < 2) return null;
  return (
    <ol
      class="statements"
      id="dry-run-statements"
      data-block="dry-run-statements"
      aria-label="Statements of the dry run"
    >
      {statements.map(({ command, rowCount }, i) => (
        <li key={i} id={`dry-run-statements-${i}`} data-block={`dry-run-statements-${i}`}>
          <SafeText text={command} /> <span class="quiet">{counted(rowCount, 'row')}</span>
        </li>
      ))}
    </ol>
  );
}

function List(props: {
  readonly id: string;
  readonly title: string;
  readonly items: readonly string[];
}): JSX.Element | null {
  const { id, title, items } = props;
  if (items.length === 0) return null;
  return (
    <div class="warning" id={id} data-block={id}>
      <p>{title}</p>
      <ul>
        {items.map((item, i) => (
          <li key={i}>
            <SafeText text={item} />
          </li>
        ))}
      </ul>
    </div>
  );
}

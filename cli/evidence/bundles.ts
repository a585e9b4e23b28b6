import { exportEvidence, type EvidenceSources } from '../../activities/review/export-evidence';
import { replayFindings } from '../../activities/review/replay-evidence';
import { createByteStore } from '../../storage/store/byte-store';
import { CountersignError, messageOf } from '../../client/errors';
import { unreadable } from '../../client/review-errors';
import { CountersignFailure } from '../../policy/contracts/failure';
import { FailureType } from '../../policy/contracts/failure-type';
import { fromBase64 } from '../../policy/evidence/base64';
import { evidenceText, parseEvidence, type EvidenceBundle, type HistoryDigest } from '../../policy/evidence/bundle';
import type { ReplayReport } from '../../policy/evidence/reports';
import { evidenceSources } from '../../workers/client-ledger';
import type { Env } from '../../workers/config';
import { payloadKeys } from '../../workers/encryption/key-ring';
import { loadExtensions, type Extensions } from '../../workers/extensions';
import { extensionsSetting, localClient, type LocalClient } from '../../workers/local-client';
import { withTemporal } from '../temporal';
import { historyDigest } from './history-digest';
import { withEvidenceDatabase } from './verify-ledger';

/** Prints a line for people. */
type Log = (text: string) => void;

/** `moved`: this process has other validators than the plan was compiled with, so findings cannot be compared. */
export type Replay =
  | { readonly kind: 'replayed'; readonly report: ReplayReport }
  | { readonly kind: 'moved'; readonly explanation: string };

export interface ExportOptions {
  readonly bytes: boolean;
  /** The digest of the history, if it was read before; null if Temporal no longer has it. */
  readonly history?: HistoryDigest | null;
}

/** The evidence of one change as canonical text. Throws `not_found` if the ledger has no such change. */
export async function exportBundle(env: Env, changeId: string, options: ExportOptions, log: Log): Promise<string> {
  return await withSources(env, options, log, async (sources) => {
    const bundle = await bundleOf(sources, changeId, options);
    if (options.bytes && bundle.submission !== null && bundle.bytes === null)
      log('The diff of this review was archived, so the evidence does not contain it');
    return evidenceText(bundle);
  });
}

/** Computes the findings of an exported file again. The bytes come from the database if the file lacks them. */
export async function replayBundle(env: Env, file: string | Uint8Array): Promise<Replay> {
  const bundle = parseBundle(file);
  const extensions = await loadExtensions(extensionsSetting(env));
  return await replay(bundle, includedBytes(bundle) ?? (await storedBytes(env, bundle)), extensions);
}

/** Opens everything evidence is read from, with the database role of the gateway. Nothing is written. */
async function withSources<T>(
  env: Env,
  { history }: ExportOptions,
  log: Log,
  work: (sources: EvidenceSources) => Promise<T>,
): Promise<T> {
  const local = localClient(env);
  return await withEvidenceDatabase(local, (db) =>
    work({
      ...evidenceSources(db, { operators: local.operators, payloadKeys: payloadKeys(env) }),
      history: async (changeId) => (history === undefined ? await readHistory(env, local, changeId, log) : history),
    }),
  );
}

async function bundleOf(
  sources: EvidenceSources,
  changeId: string,
  options: { readonly bytes: boolean },
): Promise<EvidenceBundle> {
  try {
    return await exportEvidence(sources, changeId, options);
  } catch (error) {
    if (error instanceof CountersignFailure && error.type === FailureType.Validation)
      throw new CountersignError('not_found', error.message);
    throw unreadable(error) ?? error;
  }
}

function parseBundle(file: string | Uint8Array): EvidenceBundle {
  const parsed = parseEvidence(file);
  if (!parsed.ok) throw new CountersignError('not_verified', parsed.problem);
  return parsed.bundle;
}

/** Null if the diff has to be read from the store. */
function includedBytes({ bytes, submission }: EvidenceBundle): Uint8Array | null {
  return submission === null ? new Uint8Array() : bytes === null ? null : fromBase64(bytes);
}

async function storedBytes(env: Env, { submission }: EvidenceBundle): Promise<Uint8Array> {
  if (submission === null) return new Uint8Array();
  const { tenant, diffSha } = submission;
  return await withEvidenceDatabase(localClient(env), (db) => createByteStore(db).get(tenant, diffSha));
}

async function replay(
  bundle: EvidenceBundle,
  raw: Uint8Array,
  { sourceTools: tools, validators }: Extensions,
): Promise<Replay> {
  try {
    return { kind: 'replayed', report: await replayFindings({ tools, validators }, bundle, raw) };
  } catch (error) {
    if (!(error instanceof CountersignFailure)) throw error;
    if (error.type === FailureType.PolicyMoved) return { kind: 'moved', explanation: error.message };
    if (error.type === FailureType.DigestMismatch) throw new CountersignError('not_verified', error.message);
    throw error;
  }
}

/** Digest of the latest run's history; null, with a message, if Temporal no longer has it or does not answer. */
async function readHistory(env: Env, local: LocalClient, changeId: string, log: Log): Promise<HistoryDigest | null> {
  try {
    const digest = await withTemporal(env, local, (client) => historyDigest(client, changeId));
    if (digest === null) log('Temporal no longer has the history of this review');
    return digest;
  } catch (error) {
    log(`The history could not be read: ${messageOf(error)}`);
    return null;
  }
}

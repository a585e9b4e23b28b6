import { CountersignFailure } from '../../policy/contracts/failure';
import { historyToJSON } from '@temporalio/common/lib/proto-utils';
import { WorkflowNotFoundError } from '@temporalio/client';
import { exportEvidence, type EvidenceSources } from '../../activities/review/export-evidence';
import { replayFindings } from '../../activities/review/replay-evidence';
import { keyEnvelopes } from '../../storage/keys/key-envelopes';
import { inclusionReader } from '../../storage/ledger/inclusion';
import { openDatabase, type Database } from '../../storage/database/database';
import { createLedger } from '../../storage/ledger/ledger';
import { verifyLedger } from '../../storage/ledger/verify-ledger';
import { operatorVerifier, storedRevisions } from '../../storage/plans/stored-revisions';
import { createByteStore } from '../../storage/store/byte-store';
import type { EvidenceTools, Replayed, Say } from '../deps';
import { CountersignError } from '../../client/errors';
import { canonicalJson } from '../../policy/contracts/canonical-json';
import { FailureType } from '../../policy/contracts/failure-type';
import { sha256HexOfText } from '../../policy/contracts/hash';
import { fromBase64 } from '../../policy/evidence/base64';
import { evidenceText, parseEvidence, type EvidenceBundle, type HistoryDigest } from '../../policy/evidence/bundle';
import { verifyChain } from '../../policy/evidence/chain';
import type { KeyLookup } from '../../policy/evidence/key-registry';
import type { LedgerReport } from '../../policy/evidence/reports';
import { checkInclusion } from '../../signing/evidence/check-rows';
import { keyIdOf } from '../../signing/keys';
import { compileText } from '../../workers/compile';
import type { Env } from '../../workers/config';
import { loadExtensions, type Extensions } from '../../workers/extensions';
import { localClient, type LocalClient } from '../../workers/local-client';
import { openClient } from '../../workers/temporal';

const HISTORY_MS = 15_000;

/** Export, replay and ledger check over what runs here, with the rights of the gateway's role: all of it reads. */
export function evidenceTools(env: Env): EvidenceTools {
  const local = localClient(env);
  return {
    export: (changeId, options, say) =>
      withSources(env, local, say, async ({ sources }) => evidenceText(await exported(sources, changeId, options))),
    replay: (of, say) =>
      withSources(env, local, say, async ({ sources, extensions }) => {
        const bundle = 'file' in of ? parsed(of.file) : await exported(sources, of.changeId, { bytes: true });
        return replayed(bundle, await bytesOf(sources, bundle), extensions);
      }),
    verifyLedger: (changeId, progress) =>
      withDatabase(local, (db) =>
        changeId === null
          ? verifyLedger(db, { keys: committerKeys(local.committers), development: true, progress })
          : verifyOne(db, changeId, local.committers),
      ),
  };
}

interface Sources {
  readonly sources: EvidenceSources;
  readonly extensions: Extensions;
}

async function withSources<T>(
  env: Env,
  local: LocalClient,
  say: Say,
  work: (sources: Sources) => Promise<T>,
): Promise<T> {
  const extensions = await loadExtensions(local.extensions ?? '');
  return withDatabase(local, (db) => {
    const policy = {
      revisions: storedRevisions(db),
      ...operatorVerifier(local.operators),
      compile: (text: string, target: string, sourceTool: string) => compileText(text, extensions, target, sourceTool),
    };
    const sources: EvidenceSources = {
      ledger: createLedger(db),
      store: createByteStore(db),
      keys: keyEnvelopes(db),
      inclusion: inclusionReader(db),
      policy,
      history: (changeId) => historyDigest(env, local, changeId, say),
    };
    return work({ sources, extensions });
  });
}

async function withDatabase<T>(local: LocalClient, work: (db: Database) => Promise<T>): Promise<T> {
  const db = openDatabase({
    url: local.databaseUrl,
    applicationName: 'countersign-evidence',
    max: 2,
    statementTimeoutMs: 60_000,
  });
  try {
    return await work(db);
  } finally {
    await db.close();
  }
}

async function exported(
  sources: EvidenceSources,
  changeId: string,
  options: { readonly bytes: boolean },
): Promise<EvidenceBundle> {
  try {
    return await exportEvidence(sources, changeId, options);
  } catch (error) {
    if (error instanceof CountersignFailure && error.type === FailureType.Validation)
      throw new CountersignError('not_found', error.message);
    throw error;
  }
}

function parsed(file: Uint8Array): EvidenceBundle {
  const read = parseEvidence(file);
  if (!read.ok) throw new CountersignError('not_verified', read.problem);
  return read.bundle;
}

async function bytesOf(sources: EvidenceSources, bundle: EvidenceBundle): Promise<Uint8Array> {
  const held = bundle.bytes === null ? null : fromBase64(bundle.bytes);
  if (held !== null) return held;
  if (bundle.submission === null) return new Uint8Array();
  return sources.store.get(bundle.submission.tenant, bundle.submission.diffSha);
}

async function replayed(
  bundle: EvidenceBundle,
  raw: Uint8Array,
  { sourceTools: tools, validators }: Extensions,
): Promise<Replayed> {
  try {
    return { kind: 'replayed', report: await replayFindings({ tools, validators }, bundle, raw) };
  } catch (error) {
    if (!(error instanceof CountersignFailure)) throw error;
    if (error.type === FailureType.PolicyMoved) return { kind: 'moved', explanation: error.message };
    if (error.type === FailureType.DigestMismatch) throw new CountersignError('not_verified', error.message);
    throw error;
  }
}

/** The latest run's history; null where Temporal has it no more, or does not answer, which is said. */
async function historyDigest(env: Env, local: LocalClient, changeId: string, say: Say): Promise<HistoryDigest | null> {
  const client = openClient({ ...env, TEMPORAL_ADDRESS: local.temporalAddress, TEMPORAL_NAMESPACE: local.namespace });
  try {
    const history = await client.withDeadline(Date.now() + HISTORY_MS, () =>
      client.workflow.getHandle(changeId).fetchHistory(),
    );
    const events = history.events ?? [];
    const runId = events[0]?.workflowExecutionStartedEventAttributes?.originalExecutionRunId ?? '';
    if (runId === '') return null;
    return { runId, events: events.length, sha256: sha256HexOfText(canonicalJson(JSON.parse(historyToJSON(history)))) };
  } catch (error) {
    const gone = error instanceof WorkflowNotFoundError;
    say(
      gone
        ? 'Temporal has the history of this review no more'
        : `The history was not read: ${error instanceof Error ? error.message : String(error)}`,
    );
    return null;
  } finally {
    await client.connection.close();
  }
}

/** Checkpoints are believed by the committer keys of this configuration, whatever the registry says. */
function committerKeys(committers: readonly string[]): KeyLookup {
  const byId = new Map(committers.map((publicKey) => [keyIdOf(publicKey), publicKey]));
  return (keyId) => {
    const publicKey = byId.get(keyId);
    const fixed = {
      kind: 'committer',
      subject: { type: 'service', id: 'committer' },
      onBehalfOf: null,
      demo: false,
    } as const;
    return publicKey === undefined
      ? undefined
      : { ...fixed, keyId, publicKey, addedAt: '', operatorKeyId: '', revokedAt: null };
  };
}

/** The chain of one change, and that a checkpoint of a trusted committer holds all its rows, where one covers them. */
async function verifyOne(db: Database, changeId: string, committers: readonly string[]): Promise<LedgerReport> {
  const rows = await createLedger(db).read(changeId);
  if (rows.length === 0) throw new CountersignError('not_found', `The ledger has no review ${changeId}`);
  const chain = verifyChain(rows);
  const problems = chain.ok ? [] : [`row ${chain.n}: ${chain.problem}`];
  const inclusion = await inclusionReader(db).covering(changeId, rows.length);
  if (inclusion !== null) {
    try {
      checkInclusion(rows, inclusion, committers);
    } catch (error) {
      problems.push(error instanceof Error ? error.message : String(error));
    }
  }
  const covered = inclusion === null ? 0 : rows.length;
  return {
    ok: problems.length === 0,
    rows: rows.length,
    changes: 1,
    checkpoints: inclusion === null ? 0 : 1,
    uncovered: rows.length - covered,
    problems,
    problemCount: problems.length,
  };
}

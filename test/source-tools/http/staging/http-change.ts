import { extractHttpPatchFacts } from '../../../../source-tools/http/facts/extract-http-facts';
import type { CommitContext, CommitResult, StageContext } from '../../../../policy/contracts/target-effects';
import type { HttpAccess } from '../../../../source-tools/http/staging/http-access';
import { httpPatchEffects } from '../../../../source-tools/http/staging';
import { startJsonApi, type JsonApi } from '../../../../dev/fixtures/json-api';
import { live } from '../../../support/live';
import { memorySends } from '../../../support/memory-sends';
import { diffOf, newChangeId, recordOf } from '../../../support/staged-change';

export interface More {
  readonly settings?: object;
  readonly http?: Partial<HttpAccess['http']>;
  readonly staged?: object;
}

/** An API for the tests of a file. Before each of them its resource /v1/flags/beta is as it was. */
export function useJsonApi(): JsonApi {
  let started: JsonApi | undefined;
  const api = live(() => started);
  beforeAll(async () => void (started = await startJsonApi()));
  afterAll(() => started?.stop());
  beforeEach(() => {
    api.reset();
    api.documents.set('/v1/flags/beta', { on: false, owners: ['ada'] });
  });
  return api;
}

/** A patch that sets `on` in the resource /v1/flags/beta of the API. */
export function httpChange(api: JsonApi, more: More = {}): StageContext {
  const request = {
    method: 'PATCH',
    url: `${api.url}/flags/beta`,
    contentType: 'application/json-patch+json',
    body: [{ op: 'replace', path: '/on', value: true }],
    ...more.staged,
  };
  const diff = diffOf(JSON.stringify(request), 'HTTPPatch');
  const target: HttpAccess = {
    name: 'api',
    http: {
      ...api.target.http,
      headers: { authorization: 'Bearer secret' },
      ...more.http,
    },
  };
  return {
    changeId: newChangeId(),
    diff,
    facts: extractHttpPatchFacts(diff.raw),
    settings: { timeoutMs: 2_000, ...more.settings },
    target,
  };
}

/** Runs the dry run of the change, and returns a context in which its record is approved. */
export async function approvedChange(
  api: JsonApi,
  more: More = {},
  extra: Partial<CommitContext> = {},
): Promise<CommitContext> {
  const ctx = httpChange(api, more);
  const record = recordOf(await httpPatchEffects.stage(ctx));
  const attempt = { intentAt: '2026-03-01T12:00:00.000Z', sends: memorySends() };
  return { ...ctx, approved: record, idempotency: ctx.changeId, ...attempt, ...extra };
}

/** Retries TARGET_UNAVAILABLE up to four times, as Temporal does. */
export async function retried(ctx: CommitContext): Promise<CommitResult> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await httpPatchEffects.commit(ctx);
    } catch (error) {
      if ((error as { type?: string }).type !== 'TARGET_UNAVAILABLE' || attempt === 5) throw error;
    }
  }
}

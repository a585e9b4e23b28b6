import { StagingRecord } from '../../../policy/contracts/staging-record';
import type { StageContext, Staged, TargetEffects } from '../../../policy/contracts/target-effects';
import { commitPatch } from './http-commit';
import { sealPatch } from './http-seal';
import { httpOf } from './http-access';
import { toHttpRecord, type HttpBase } from './http-record';
import { LONGEST_IN_FLIGHT_MS, toHttpSettings } from '../staging-settings';
import { changesAt, comparedSha, readResource, STRONG_ETAG } from './resource';
import { readRequest } from './staged-request';
import { rejected, rejectedAsStale } from '../../rejected';

/** Stages and commits a request that changes one JSON resource. Staging applies it to a copy. */
export const httpPatchEffects: TargetEffects = {
  stage,
  commit: commitPatch,
  seal: sealPatch,
  lateMs: LONGEST_IN_FLIGHT_MS,
};

async function stage(ctx: StageContext): Promise<Staged> {
  const http = httpOf(ctx.target);
  const settings = toHttpSettings(ctx.settings);
  const read = readRequest(ctx.diff.raw, ctx.facts, http);
  if (!read.ok) return rejected(read.why);
  const { request } = read;
  const found = await readResource(ctx, http, settings, request.url);
  if (!found.ok) return rejected(found.explanation);
  const { document, etag, exact } = found.resource;
  const { 'if-match': expected } = request.headers;
  if (expected !== undefined && expected !== etag)
    return etag !== null && STRONG_ETAG.test(expected)
      ? rejectedAsStale(`its If-Match is of another state of the resource, which has the ETag ${etag} now`)
      : rejected('its If-Match is not the strong ETag of the resource');
  const beforeSha = comparedSha(document, settings.volatile);
  if (request.document !== undefined && comparedSha(request.document, settings.volatile) !== beforeSha)
    return rejectedAsStale('its "document" is not the current state of the resource');
  const after = request.apply(document);
  if (!after.ok) return rejected(after.why);
  const afterSha = comparedSha(after.document, settings.volatile);
  // After a lost response, only the resource shows whether the change was applied.
  if (afterSha === beforeSha)
    return rejected(
      'its effect could not be told from the state before: it changes nothing, or only members that the settings mark as volatile',
    );
  const base: HttpBase = {
    adapter: 'http/1',
    method: request.method,
    url: request.url,
    etag,
    beforeSha,
    afterSha,
    volatile: [...settings.volatile],
  };
  const unshown = after.takesMembers && request.document === undefined;
  const uncaptured = [
    ...(etag === null ? ['the resource has no strong ETag, so concurrent changes cannot be detected reliably'] : []),
    ...(exact ? [] : ['the resource contains a number that loses digits when it is parsed']),
    ...(changesAt(settings.volatile, document, after.document)
      ? ['it changes a volatile member, which is not compared']
      : []),
    ...(unshown ? ['it copies or moves members that it does not show: add the state that was read as "document"'] : []),
  ];
  const { sourceTool, diffSha } = ctx.diff;
  const record = StagingRecord.safeParse(
    toHttpRecord(base, { sourceTool, target: ctx.target.name, diffSha, uncaptured }),
  );
  if (!record.success) return rejected('it does not fit in a staging record: its URL or ETag is too long');
  return { kind: 'staged', record: record.data, preview: { method: base.method, url: base.url } };
}

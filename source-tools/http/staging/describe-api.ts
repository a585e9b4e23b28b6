import type { TargetLine } from '../../target-line';
import type { HttpAccess } from './http-access';
import { sendRequest } from './send-request';

const TIMEOUT_MS = 5_000;

/** Checks an API from the committer's point of view with one GET of its base URL. Reports problems as lines, never throws. */
export async function describeApi({ http }: Pick<HttpAccess, 'http'>): Promise<readonly TargetLine[]> {
  const { host } = new URL(http.baseUrl);
  const answer = await sendRequest({
    method: 'GET',
    url: http.baseUrl,
    headers: { accept: 'application/json', ...http.headers },
    timeoutMs: TIMEOUT_MS,
    maxBytes: null,
  });
  if (answer.kind !== 'answered') return [{ level: 'fail', text: `${host}: ${answer.explanation}` }];
  const { status } = answer;
  if (status === 401 || status === 403)
    return [{ level: 'fail', text: `${host}: status ${status}, the credentials are not accepted` }];
  if (status >= 500) return [{ level: 'fail', text: `${host}: status ${status}` }];
  const lines: TargetLine[] = [{ level: 'ok', text: `${host} answers (status ${status})` }];
  if (http.baseUrl.startsWith('http:'))
    lines.push({ level: 'warn', text: 'plain HTTP: credentials and changes are not encrypted' });
  return lines;
}

import type { HttpAccess } from '../../../policy/contracts/target-effects';
import type { TargetLine } from '../../target-line';
import { sendRequest } from './send-request';

const PATIENCE_MS = 5_000;

/** What an API looks like to the committer: one GET of its base address. Never throws for what is wrong with it: that is a line. */
export async function describeApi({ http }: Pick<HttpAccess, 'http'>): Promise<readonly TargetLine[]> {
  const { host } = new URL(http.baseUrl);
  const answer = await sendRequest({
    method: 'GET',
    url: http.baseUrl,
    headers: { accept: 'application/json', ...http.headers },
    timeoutMs: PATIENCE_MS,
    maxBytes: null,
  });
  if (answer.kind !== 'answered') return [{ level: 'fail', text: `${host}: ${answer.explanation}` }];
  const { status } = answer;
  if (status === 401 || status === 403)
    return [{ level: 'fail', text: `${host}: status ${status}, the credentials are not good` }];
  if (status >= 500) return [{ level: 'fail', text: `${host}: status ${status}` }];
  const lines: TargetLine[] = [{ level: 'ok', text: `${host} answers (status ${status})` }];
  if (http.baseUrl.startsWith('http:'))
    lines.push({ level: 'warn', text: 'plain HTTP: credentials and changes are open on the way' });
  return lines;
}

import { misconfigured } from '../../../policy/contracts/failure';
import type { TargetAccess } from '../../../policy/contracts/target-effects';

/** The resources below one address. */
export interface HttpAccess {
  readonly name: string;
  readonly http: {
    /** Scheme, host, port and path that every request stays under. */
    readonly baseUrl: string;
    /** Sent with every request: credentials. Never log them, never return them. */
    readonly headers: Readonly<Record<string, string>>;
    /** Allowed names of query parameters. */
    readonly queryNames: readonly string[];
    /** True if the server returns the same response for a second request with the same `Idempotency-Key`. */
    readonly replaysIdempotent: boolean;
    /** How a commit is undone after a post validator failed: with a PUT of the previous document, or not at all. */
    readonly undo: 'put' | 'none';
  };
}

/** The API of a target. Throws CONFIGURATION_ERROR if the target is not an HTTP target. */
export function httpOf(target: TargetAccess): HttpAccess['http'] {
  const { http } = target as Partial<HttpAccess>;
  if (http !== undefined) return http;
  throw misconfigured(`target: "${target.name}" is not an HTTP target in this committer's configuration`, {
    target: target.name,
  });
}

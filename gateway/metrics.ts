import { Counter, Histogram, Registry } from 'prom-client';
import { CountersignError } from '../client/errors';
import { Hono } from 'hono';

const REFUSAL_REASONS = [
  'unauthenticated',
  'nonce_reused',
  'nonces_full',
  'other_tenant',
  'no_right',
  'answer_limit',
  'answer',
  'cross_site',
  'login',
] as const;
export type RefusalReason = (typeof REFUSAL_REASONS)[number];

/** Counts and times of requests by route pattern. Never by id, tenant or key: the number of series must be bounded. */
export interface GatewayMetrics {
  readonly registry: Registry;
  readonly observe: (request: {
    readonly method: string;
    readonly route: string;
    readonly status: number;
    readonly seconds: number;
  }) => void;
  readonly refused: (reason: RefusalReason) => void;
  /** Counts a refused request, and returns the error to throw. */
  readonly refusal: (
    reason: RefusalReason,
    ...error: ConstructorParameters<typeof CountersignError>
  ) => CountersignError;
  /** A browser reported a violation of the inbox's content security policy. */
  readonly cspReport: () => void;
}

export function createGatewayMetrics(): GatewayMetrics {
  const registry = new Registry();
  const requests = new Counter({
    name: 'countersign_gateway_requests_total',
    help: 'Requests by route and status',
    labelNames: ['method', 'route', 'status'],
    registers: [registry],
  });
  const seconds = new Histogram({
    name: 'countersign_gateway_request_seconds',
    help: 'Seconds per request, long polls included',
    labelNames: ['method', 'route'],
    buckets: [0.005, 0.02, 0.1, 0.5, 2, 10, 60],
    registers: [registry],
  });
  const refusals = new Counter({
    name: 'countersign_gateway_refused_total',
    help: 'Requests refused before they took effect',
    labelNames: ['why'],
    registers: [registry],
  });
  const cspReports = new Counter({
    name: 'countersign_gateway_csp_reports_total',
    help: 'Violations of the content security policy of the inbox, as browsers report them',
    registers: [registry],
  });
  for (const why of REFUSAL_REASONS) refusals.inc({ why }, 0);
  return {
    registry,
    observe: (request) => {
      requests.inc({ method: request.method, route: request.route, status: request.status });
      seconds.observe({ method: request.method, route: request.route }, request.seconds);
    },
    refused: (reason) => refusals.inc({ why: reason }),
    refusal: (reason, ...error) => {
      refusals.inc({ why: reason });
      return new CountersignError(...error);
    },
    cspReport: () => cspReports.inc(),
  };
}

/**
 * GET /metrics, for a separate port: agents and approvers who can reach the gateway must not read it. `refresh` brings the metrics up to
 * date first.
 */
export function createMetricsApp({ registry }: GatewayMetrics, refresh: () => Promise<void>): Hono {
  const app = new Hono();
  app.get('/metrics', async (c) => {
    await refresh();
    return c.text(await registry.metrics(), 200, { 'Content-Type': registry.contentType });
  });
  return app;
}

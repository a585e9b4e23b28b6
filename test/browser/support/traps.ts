import type { BrowserContext, Request } from 'playwright-core';

/** What must not happen on a page, as it happened. */
export interface Traps {
  /** Code of a string that ran, and dialogs that opened. */
  readonly executions: string[];
  /** Violations of the content security policy, as events of the page and as reports to the server. */
  readonly policyReports: string[];
  /** Requests to any other origin, which are not sent. */
  readonly otherOrigins: string[];
  /** Uncaught errors of the page's code. */
  readonly errors: string[];
}

export const NOTHING: Traps = { executions: [], policyReports: [], otherOrigins: [], errors: [] };

/** The global function that injected code calls, events and reports of the policy, dialogs, other origins and errors. */
export async function setTraps(context: BrowserContext, origin: string): Promise<Traps> {
  const traps: Traps = { executions: [], policyReports: [], otherOrigins: [], errors: [] };
  await context.exposeFunction('trapExecution', (what: string) => void traps.executions.push(what));
  await context.exposeFunction('trapPolicyEvent', (what: string) => void traps.policyReports.push(what));
  await context.addInitScript(watchPage);
  context.on('dialog', (dialog) => {
    traps.executions.push(`dialog ${dialog.type()}: ${dialog.message()}`);
    dialog.dismiss().catch((error: unknown) => traps.errors.push(String(error)));
  });
  context.on('request', (request) => {
    if (new URL(request.url()).pathname === '/inbox/api/csp') traps.policyReports.push(request.postData() ?? 'report');
  });
  context.on('weberror', (error) => void traps.errors.push(error.error().message));
  await context.route(
    (url) => url.origin !== origin,
    async (route) => {
      traps.otherOrigins.push(describeRequest(route.request()));
      await route.abort();
    },
  );
  return traps;
}

function describeRequest(request: Request): string {
  return `${request.method()} ${request.resourceType()} ${request.url().slice(0, 200)}`;
}

/** Runs in each document before its own code. */
function watchPage(): void {
  const page = globalThis as unknown as {
    trapExecution(what: string): void;
    trapPolicyEvent(what: string): void;
    addEventListener(type: string, listener: (event: Record<string, unknown>) => void): void;
    location: unknown;
    xss: unknown;
    open: unknown;
    print: unknown;
  };
  page.xss = () => page.trapExecution(`xss() in ${String(page.location)}`);
  page.open = (url: unknown) => page.trapExecution(`open(${String(url)})`);
  page.print = () => page.trapExecution('print()');
  page.addEventListener('securitypolicyviolation', (event) =>
    page.trapPolicyEvent(`${String(event['violatedDirective'])} ${String(event['blockedURI'])}`),
  );
}

import { startLoopbackServer } from '../../../dev/fixtures/loopback-server';

/** A page of an attacker. */
export interface OtherSite {
  readonly port: number;
  /** What `/` answers. */
  show(html: string): void;
  stop(): Promise<void>;
}

/** Another server of this machine: by its address another site, by its name another origin of the same site, which gets the cookies. */
export async function startOtherSite(): Promise<OtherSite> {
  let page = '';
  const { port, stop } = await startLoopbackServer((request, response) => {
    const to = new URL(request.url ?? '/', 'http://x').searchParams.get('to');
    if (to !== null) response.writeHead(307, { location: to }).end();
    else response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(page);
  });
  return { port, show: (html) => (page = html), stop };
}

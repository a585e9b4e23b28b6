import { CountersignError, messageOf } from '../../client/errors';
import { isDatabaseDown } from '../../storage/database/database-down';
import type { GatewayDeps } from '../deps';
import type { Readiness, ServiceProbes } from '../readiness';
import type { InboxEvent } from './api';
import { EventQueue } from './event-queue';
import { maySee, type Session, type Sessions } from './session';
import type { InboxDeps } from './deps';

const TICK_MS = 500;
/** A page that receives nothing for 20 seconds counts as disconnected. */
const HEARTBEAT_MS = 8_000;
const MAX_CLIENTS = 1_000;
const MAX_OF_SESSION = 5;
const MAX_KNOWN_TENANTS = 10_000;

interface EventHubDeps extends Pick<InboxDeps, 'changes' | 'tenantOf' | 'registryVersion'> {
  readonly readiness: Pick<Readiness<keyof ServiceProbes>, 'check'>;
  readonly sessions: Pick<Sessions, 'find'>;
  readonly now: () => number;
  readonly log: GatewayDeps['log'];
}

interface EventClient {
  readonly session: Session;
  readonly queue: EventQueue;
  /** Time of its last event about the services. */
  beatAt: number;
}

type ServicesEvent = Extract<InboxEvent, { type: 'services' }>;
type Services = Omit<ServicesEvent, 'registry'>;

/**
 * The open event streams of this process.
 *
 * V1 A stream names only changes in tenants that its session may read. An event has no other content than an id.
 * V2 A stream ends with its session: at logout at once, at expiry or revocation of the key with the next heartbeat. It does not keep the
 *    session in use.
 * V3 Streams are bounded, in the process and of one session. A stream whose reader is too slow ends; the page reads everything again when
 *    it reconnects.
 */
export class EventHub {
  readonly #clients = new Set<EventClient>();
  readonly #tenants = new Map<string, string>();
  #timer: NodeJS.Timeout | null = null;
  #unsubscribe: (() => void) | null = null;
  #services: Services | null = null;
  #ticking = false;
  #closed = false;

  constructor(private readonly deps: EventHubDeps) {}

  /** Throws `too_many_requests`. The first event of the queue is about the services. */
  async join(session: Session): Promise<EventQueue> {
    const ofSession = [...this.#clients].filter((client) => client.session.tokenSha === session.tokenSha);
    if (this.#clients.size >= MAX_CLIENTS || ofSession.length >= MAX_OF_SESSION)
      throw new CountersignError('too_many_requests', 'Too many open pages of the inbox; close some');
    const queue = new EventQueue(() => this.#remove(client));
    const client: EventClient = { session, queue, beatAt: this.deps.now() };
    this.#clients.add(client);
    this.#unsubscribe ??= this.deps.changes.subscribe((changeId) => this.#run(this.#changed(changeId)));
    this.#timer ??= setInterval(() => this.#run(this.#tick()), TICK_MS).unref();
    try {
      const services = await this.#readServices();
      this.#services ??= services;
      queue.push({ ...services, registry: await this.#readRegistry(services) });
    } catch (error) {
      queue.close();
      throw error;
    }
    if (this.#closed) queue.close();
    return queue;
  }

  /** Ends the streams of a session that was logged out. */
  end(tokenSha: string): void {
    for (const { session, queue } of this.#clients) if (session.tokenSha === tokenSha) queue.close();
  }

  /** Ends all streams, those that are opened later too. */
  close(): void {
    this.#closed = true;
    this.#endAll();
  }

  #endAll(): void {
    for (const { queue } of this.#clients) queue.close();
  }

  /** An unexpected failure ends all streams, because changes may have been missed: the pages reconnect and read again. */
  #run(work: Promise<void>): void {
    work.catch((error: unknown) => {
      this.deps.log.error({ reason: messageOf(error) }, 'event streams ended');
      this.#endAll();
    });
  }

  #remove(client: EventClient): void {
    this.#clients.delete(client);
    if (this.#clients.size > 0) return;
    this.#unsubscribe?.();
    this.#unsubscribe = null;
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    this.#services = null;
  }

  async #changed(changeId: string): Promise<void> {
    const tenant = await this.#tenantOf(changeId);
    if (tenant === null) return;
    for (const { session, queue } of this.#clients)
      if (maySee(session, tenant)) queue.push({ type: 'changed', changeId });
  }

  /** Null for an unknown review, and if the database is down: pages read again when it is back. */
  async #tenantOf(changeId: string): Promise<string | null> {
    const known = this.#tenants.get(changeId);
    if (known !== undefined) return known;
    try {
      const tenant = await this.deps.tenantOf(changeId);
      if (tenant === null) return null;
      if (this.#tenants.size >= MAX_KNOWN_TENANTS) this.#tenants.clear();
      this.#tenants.set(changeId, tenant);
      return tenant;
    } catch (error) {
      if (isDatabaseDown(error)) return null;
      throw error;
    }
  }

  async #readServices(): Promise<Services> {
    const { database, temporal } = (await this.deps.readiness.check()).parts;
    return {
      type: 'services',
      database: database === 'up',
      temporal: temporal === 'up',
      now: new Date(this.deps.now()).toISOString(),
    };
  }

  /** Null if the database is down. */
  async #readRegistry({ database }: Services): Promise<string | null> {
    if (!database) return null;
    try {
      return await this.deps.registryVersion();
    } catch (error) {
      if (isDatabaseDown(error)) return null;
      throw error;
    }
  }

  async #tick(): Promise<void> {
    if (this.#ticking) return;
    this.#ticking = true;
    try {
      const services = await this.#readServices();
      const before = this.#services;
      const moved = before !== null && (before.database !== services.database || before.temporal !== services.temporal);
      this.#services = services;
      const now = this.deps.now();
      const due = [...this.#clients].filter((client) => moved || Math.abs(now - client.beatAt) >= HEARTBEAT_MS);
      if (due.length === 0) return;
      const event = { ...services, registry: await this.#readRegistry(services) };
      await Promise.all(due.map((client) => this.#beat(client, event)));
    } finally {
      this.#ticking = false;
    }
  }

  async #beat(client: EventClient, services: ServicesEvent): Promise<void> {
    client.beatAt = this.deps.now();
    client.queue.push(services);
    if (!services.database) return; // The session cannot be read, and nothing else is sent.
    try {
      if ((await this.deps.sessions.find(client.session.tokenSha, false)) === null) client.queue.close();
    } catch (error) {
      if (!isDatabaseDown(error)) throw error;
    }
  }
}

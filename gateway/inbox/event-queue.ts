import type { InboxEvent } from './api';

const MAX_WAITING = 1_000;

/** Events that wait for a slow reader. Each change waits once, and of the services only the newest state. */
export class EventQueue {
  readonly #changed = new Set<string>();
  #services: InboxEvent | null = null;
  #closed = false;
  #wake: (() => void) | null = null;

  constructor(private readonly onClose: () => void) {}

  push(event: InboxEvent): void {
    if (this.#closed) return;
    switch (event.type) {
      case 'changed':
        this.#changed.add(event.changeId);
        break;
      case 'services':
        this.#services = event;
        break;
      default:
        event satisfies never;
    }
    if (this.#changed.size > MAX_WAITING) this.close();
    this.#wake?.();
  }

  /** The next event; null if the queue is closed. */
  async next(): Promise<InboxEvent | null> {
    for (;;) {
      if (this.#closed) return null;
      const services = this.#services;
      if (services !== null) {
        this.#services = null;
        return services;
      }
      for (const changeId of this.#changed) {
        this.#changed.delete(changeId);
        return { type: 'changed', changeId };
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = null;
    }
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#wake?.();
    this.onClose();
  }
}

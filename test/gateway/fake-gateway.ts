import { createGateway, type GatewayDeps } from '../../gateway/app';
import type { RefusedBeforeRelay } from '../../gateway/deps';
import { failing } from '../client/fakes';

/** A gateway without an inbox or keys. What is not given fails when it is called. */
export function fakeGateway(given: Partial<GatewayDeps>): ReturnType<typeof createGateway> {
  return createGateway({
    reviews: failing<GatewayDeps['reviews']>({}),
    store: failing<GatewayDeps['store']>({}),
    answers: failing<GatewayDeps['answers']>({}),
    policy: failing<GatewayDeps['policy']>({}),
    keys: async () => ({ find: () => undefined }),
    registration: async () => null,
    probes: { database: async () => 1, temporal: async () => 1 },
    stopping: new AbortController().signal,
    inbox: null,
    now: Date.now,
    log: { error: () => undefined },
    ...given,
  });
}

/** Adds the answers that the gateway refuses to `recorded`. */
export function recordingRefused(recorded: RefusedBeforeRelay[]): GatewayDeps['answers']['recordRefused'] {
  return async (_id, refused) => {
    recorded.push(...refused);
    return Object.fromEntries(
      refused.map(({ violationId, code, message }) => [violationId ?? '#0', { code, message }]),
    );
  };
}

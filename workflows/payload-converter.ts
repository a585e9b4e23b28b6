/**
 * Decodes what comes into the workflow. Anybody who can write to the namespace may send bytes that no converter reads; the
 * default one then throws inside the workflow task, which is retried for ever: one bad signal would hold a review open
 * past its deadline (P9, P11). Here such bytes become a value that no schema accepts, so its handler refuses it.
 */
import { defaultPayloadConverter, type Payload, type PayloadConverter } from '@temporalio/common';

/** What stands in for a payload that could not be decoded. */
export interface Undecodable {
  readonly undecodable: string;
}

// The loader wants exactly this name.
export const payloadConverter: PayloadConverter = {
  toPayload: (value) => defaultPayloadConverter.toPayload(value),
  fromPayload<T>(payload: Payload): T {
    try {
      return defaultPayloadConverter.fromPayload<T>(payload);
    } catch (error) {
      const undecodable: Undecodable = { undecodable: error instanceof Error ? error.name : 'unknown' };
      return undecodable as T;
    }
  },
};

/**
 * Decodes payloads for the workflow. A namespace writer can send bytes that no converter can decode. The default converter then
 * throws inside the workflow task, which is retried forever, so one bad signal would block a review past its deadline. This
 * converter returns a value that no schema accepts, so the handler rejects it.
 */
import { defaultPayloadConverter, type Payload, type PayloadConverter } from '@temporalio/common';

/** Replaces a payload that could not be decoded. */
interface Undecodable {
  readonly undecodable: string;
}

// Temporal's loader requires this exact name.
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

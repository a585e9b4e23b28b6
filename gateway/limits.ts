/** A JSON body: a submission with metadata and envelope, or 50 signed answers. */
export const MAX_JSON_BYTES = 1024 * 1024;
/** How long a request may wait for the end of a review. */
export const MAX_WAIT_MS = 60_000;

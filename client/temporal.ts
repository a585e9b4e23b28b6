/** Public API of `@countersign/client/temporal`: the client that calls reviews through Temporal. Needs the peer dependency `@temporalio/client`. */
import type { SignalDefinition } from '@temporalio/common';
import { REPLY_MESSAGES, type DecidedMessage } from '../policy/contracts/messages';

export { Countersign, type CountersignOptions } from './countersign';
export { ReviewClient, type ReviewClientOptions } from './review-client';
export { type ByteSink, type ClientLedger, type Watch } from './ports';

/** Signals to the workflow in `replyTo`. Pass them to `setHandler`. */
export const commitSignal = { type: 'signal', name: REPLY_MESSAGES.commit } as SignalDefinition<[DecidedMessage]>;
export const rollbackSignal = { type: 'signal', name: REPLY_MESSAGES.rollback } as SignalDefinition<[DecidedMessage]>;

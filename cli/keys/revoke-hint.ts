import { shellQuote } from '../shell-quote';

/** The command that revokes an enrolment link, and the passkey made with it. */
export function revokeLink(keyId: string, operatorKey: string): string {
  return `countersign keys revoke ${keyId} --reason 'the link is lost' --operator-key ${shellQuote(operatorKey)}`;
}

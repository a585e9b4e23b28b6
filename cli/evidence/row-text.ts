import { isJsonObject, type JsonValue } from '../../policy/contracts/canonical-json';
import type { LedgerRow } from '../../policy/contracts/ledger';
import { fromBase64 } from '../../policy/evidence/base64';
import { counted } from '../../policy/text/counted';
import { jsonOf } from '../../policy/text/json-of';
import { isHex64 } from '../options';
import { shortId } from '../reviews/change-id';

type Members = Readonly<Record<string, unknown>>;

/** What a row of the ledger says, in one line. Signed statements are decoded; their signatures are not checked here. */
export function rowText({ kind, body }: LedgerRow): string {
  switch (kind) {
    case 'submitted':
      return submittedText(body);
    case 'planned':
      return `plan ${digest(body['planHash'])}, revision ${text(body['revision'])} of the policy, ${text(body['mode'])}`;
    case 'findings':
      return findingsText(body['findings']);
    case 'staged':
      return stagedText(body);
    case 'attested':
      return attestedText(statementOf(body['envelope']));
    case 'disclosed':
      return `${count(body['violations'], 'violation')}, ${count(body['findings'], 'finding')}, fingerprint ${digest(body['fingerprint'])}`;
    case 'answer_accepted':
    case 'retracted':
      return colon(
        `${text(body['person'])} ${text(body['decision'])} ${digest(body['violationId'])}${body['signed'] === false ? ', unsigned' : ''}`,
        text(body['reason']),
      );
    case 'answer_refused':
      return colon(`${text(body['code'])} ${digest(body['violationId'])}`, text(body['message']));
    case 'receipt':
      return receiptText(statementOf(body['envelope']));
    case 'head':
      return headText(statementOf(body['envelope']));
    case 'withdrawn':
    case 'superseded':
    case 'resolved':
      return stopText(body);
    case 'decided':
      return colon(text(body['reason']), text(body['explanation']));
    case 'effect':
      return colon(text(body['state']), text(body['effect'] ?? body['explanation']));
    case 'closed':
      return `${text(body['state'])}${body['reason'] == null ? '' : ` ${text(body['reason'])}`}`;
    case 'refused':
      return colon(text(body['check']), text(body['explanation']));
    case 'repaired':
    case 'intent':
    case 'spent':
      return membersText(body);
    default:
      return kind satisfies never;
  }
}

function submittedText(body: Members): string {
  const submission = membersOf(body['submission']);
  const { sourceTool, tenant, target, diffSha } = submission;
  const by = body['requester'] === null ? 'not signed' : `asked by ${text(body['requester'])}`;
  return `${text(sourceTool)} on ${text(tenant)}/${text(target)}, diff ${digest(diffSha)}, ${by}`;
}

/** How many findings there are, and those that fired. */
function findingsText(findings: unknown): string {
  const fired = (Array.isArray(findings) ? findings : [])
    .map(membersOf)
    .filter(({ status }) => status !== 'ALLOW')
    .map(({ status, validator_id, reason }) => colon(`${text(status)} ${text(validator_id)}`, text(reason)));
  return colon(count(findings, 'finding'), fired.join('; '));
}

function stagedText(body: Members): string {
  if (body['rejected'] === true)
    return colon(
      body['stale'] === true ? 'the target had changed' : 'rejected by the target',
      text(body['explanation']),
    );
  const record = membersOf(body['record']);
  const tables = Array.isArray(record['tables']) ? record['tables'].map(membersOf) : [];
  const counts = tables.map(
    ({ table, inserted, updated, deleted }) =>
      `${text(table)} +${text(inserted)} ~${text(updated)} -${text(deleted)} rows`,
  );
  const how = record['reason'] === 'not_rehearsed' ? 'not rehearsed' : text(record['origin']);
  return colon(`dry run ${digest(body['stagingSha'])}, ${how}`, counts.join(', '));
}

function attestedText(predicate: Members): string {
  const result = membersOf(predicate['result']);
  const short = 'status' in result ? colon(text(result['status']), text(result['reason'])) : text(predicate['result']);
  return colon(`${text(predicate['kind'])} ${text(predicate['subject'])}`, short);
}

function receiptText(predicate: Members): string {
  const { state, reason, mode, effect, keyId } = predicate;
  const why = reason == null ? '' : ` ${text(reason)}`;
  return colon(`${text(state)}${why}, ${text(mode)}, signed by ${digest(keyId)}`, effect == null ? '' : text(effect));
}

function headText(predicate: Members): string {
  return `${text(predicate['rows'])} rows end with ${digest(predicate['hash'])}, signed by ${digest(predicate['keyId'])}`;
}

/** A statement of a person or an operator, with what was signed if it was signed. */
function stopText(body: Members): string {
  const signed = statementOf(body['envelope'] ?? body['statement']);
  return membersText({ ...body, ...signed });
}

/** Digests short, without the members that only bind the row to the change. */
function membersText(body: Members): string {
  return Object.entries(body)
    .filter(([name, value]) => value !== null && !LEFT_OUT.has(name))
    .map(([name, value]) => `${name} ${digest(value)}`)
    .join(', ');
}

const LEFT_OUT: ReadonlySet<string> = new Set(['envelope', 'statement', 'changeId', 'samples', 'nonce', 'input']);

/** The predicate of a signed envelope; empty if it cannot be decoded. `--json` prints the envelope unchanged. */
function statementOf(envelope: unknown): Members {
  const payload = fromBase64(String(membersOf(envelope)['payload'] ?? ''));
  return payload === null ? {} : membersOf(membersOf(jsonOf(new TextDecoder().decode(payload)))['predicate']);
}

function membersOf(value: unknown): Members {
  return isJsonObject(value) ? value : {};
}

/** On one line: lines of a text are joined by slashes. */
function text(value: unknown): string {
  return typeof value === 'string'
    ? value.replaceAll('\n', ' / ')
    : (JSON.stringify(value as JsonValue | undefined) ?? '?').replaceAll(/\b([0-9a-f]{8})[0-9a-f]{56}\b/g, '$1');
}

/** Short, if it is a digest. */
function digest(value: unknown): string {
  return typeof value === 'string' && isHex64(value) ? shortId(value) : text(value);
}

function count(value: unknown, one: string): string {
  return counted(Array.isArray(value) ? value.length : 0, one);
}

function colon(what: string, more: string): string {
  return more === '' ? what : `${what}: ${more}`;
}

import { isJsonObject, type JsonObject, type JsonValue } from '../../../../policy/contracts/canonical-json';
import { readJson } from '../../../../policy/text/json-text';
import { wordList } from '../../../../policy/text/word-list';
import { sameJson } from '../../facts/masks';
import { rangeOf } from '../address-ranges';
import { itemsOf, member, stepsOf, textsOf } from '../values';
import type { Condition, OwnPlaces, Setting } from './conditions';
import { regionOf } from './own-places';
import { isNextSize } from './sizes';

/** The check that a word such as `alarm_actions:own_topics` names. All but `unknown` and `one_port` need the complete value. */
export const CHECKS: ReadonlyMap<string, Condition> = new Map<string, Condition>([
  ['own_topics', known(({ after, own }) => allTexts(after, (text) => isOwnArn(text, 'sns', own)))],
  ['own_queue', known(({ after, own }) => sendsToOwnQueue(after, own))],
  ['own_key', known(({ creates, after, own }) => creates && isOwnKey(after, own))],
  [
    'new_alias',
    known(({ before, after }) => isAbsent(before) && typeof after === 'string' && after.startsWith('alias/')),
  ],
  ['unknown', ({ creates, unknown }) => creates && unknown],
  ['own_region', known(({ after, own }) => typeof after === 'string' && own.regions.has(regionOf(after)))],
  ['known_project', known(({ after, own }) => typeof after === 'string' && own.projects.has(after))],
  ['own_project', known(isOfOwnProject)],
  ['private_range', known(({ after, block }) => admitsOwnSources(block) && allTexts(after, isPrivateRange))],
  ['own_group', known(({ after, block }) => admitsOwnSources(block) && allTexts(after, isOwnGroup))],
  ['one_port', ({ block }) => admitsOwnSources(block)],
  [
    'private_prefix',
    known(({ after }) => allTexts(after, (text) => isPrivateRange(text) || text === 'VirtualNetwork')),
  ],
  ['with_ports', known(({ after, block }) => isTransport(after) && itemsOf(member(block, 'ports')).length > 0)],
  ['descriptive_keys', changesDescriptiveKeys],
  ['plain_widgets', known(({ after }) => hasPlainWidgets(after))],
  ['next_size', known(({ before, after }) => isNextSize(before, after))],
]);

/** A condition that a value does not fulfil if a part of it is not known before apply: a plan leaves that part out of a set. */
function known(condition: Condition): Condition {
  return (setting) => !setting.unknown && condition(setting);
}

function allTexts(value: JsonValue, test: (text: string) => boolean): boolean {
  const items = itemsOf(value);
  const texts = textsOf(value);
  return texts.length > 0 && texts.length === items.length && texts.every(test);
}

/** Whether an ARN is of a service, and of an account in which the plan has resources already. */
function isOwnArn(text: string, service: string, { accounts }: OwnPlaces): boolean {
  const [arn, partition = '', of, , account = '', ...rest] = text.split(':');
  return arn === 'arn' && partition.startsWith('aws') && of === service && rest.length === 1 && accounts.has(account);
}

/** Whether a `redrive_policy` moves messages that failed more than once to a queue of the own account. */
function sendsToOwnQueue(policy: JsonValue, own: OwnPlaces): boolean {
  const document = jsonObjectOf(policy);
  if (document === null || stepsOf(document).some((step) => step !== TARGET && step !== COUNT)) return false;
  const [target, count] = [member(document, TARGET), Number(member(document, COUNT))];
  return typeof target === 'string' && isOwnArn(target, 'sqs', own) && count >= 2 && count <= 1000;
}
const TARGET = 'deadLetterTargetArn';
const COUNT = 'maxReceiveCount';

/** Whether a key is named by its id, which is of the own account, or by an ARN of the own account. */
function isOwnKey(key: JsonValue, own: OwnPlaces): boolean {
  return typeof key === 'string' && (/^(?:mrk-)?[0-9a-f-]{32,36}$/.test(key) || isOwnArn(key, 'kms', own));
}

/** Another key can be one that those who read and write the data may not use. */
function isAbsent(key: JsonValue): boolean {
  return key === null || key === '';
}

/** Whether `projects/shop/topics/orders` is of the project of the resource. A name alone always is. */
function isOfOwnProject({ after, block }: Setting): boolean {
  if (typeof after !== 'string') return false;
  const [projects, project = '', ...rest] = after.split('/');
  if (project === '' && rest.length === 0) return /^[\w.~+%-]+$/.test(after);
  return projects === 'projects' && rest.length === 2 && project === member(block, 'project');
}

/** Private ranges of RFC 1918 and RFC 4193. */
const PRIVATE = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'].flatMap((text) => rangeOf(text) ?? []);

function isPrivateRange(text: string): boolean {
  const range = rangeOf(text);
  return (
    range !== null &&
    PRIVATE.some(({ bits, first, last }) => bits === range.bits && first <= range.first && range.last <= last)
  );
}

/** The id of a group of another account starts with the account and a slash. */
function isOwnGroup(text: string): boolean {
  return !text.includes('/');
}

/**
 * Whether a rule of a security group names TCP or UDP and one port, and only private ranges and groups of the own account. An
 * update of the port alone must not open it to a source that was there before. What is not known is read with its own attribute.
 */
function admitsOwnSources(block: JsonValue): boolean {
  const all = (names: readonly string[], test: (text: string) => boolean): boolean =>
    names.every((name) => itemsOf(member(block, name)).every((item) => typeof item === 'string' && test(item)));
  return (
    admitsOnePort(block) && all(RANGES, isPrivateRange) && all(GROUPS, isOwnGroup) && all(PREFIX_LISTS, () => false)
  );
}
const RANGES = ['cidr_blocks', 'ipv6_cidr_blocks', 'cidr_ipv4', 'cidr_ipv6'];
const GROUPS = ['security_groups', 'source_security_group_id', 'referenced_security_group_id'];
const PREFIX_LISTS = ['prefix_list_ids', 'prefix_list_id'];

/** Whether a rule of a security group names TCP or UDP and one port. */
function admitsOnePort(block: JsonValue): boolean {
  const from = Number(member(block, 'from_port') ?? 0);
  const protocol = member(block, 'ip_protocol') ?? member(block, 'protocol');
  return from >= 1 && from <= 65535 && from === Number(member(block, 'to_port')) && isTransport(protocol);
}

function isTransport(protocol: JsonValue): boolean {
  return typeof protocol === 'string' && /^(?:tcp|udp|6|17)$/i.test(protocol);
}

/** Keys of tags that describe a resource. Others may select it for backups, or give rights to who has it. */
const DESCRIPTIVE = new Set(
  wordList(`app application billing component contact costcenter costcentre createdby department description env
    environment managedby name owner product project purpose repo repository runbook service source squad team version`),
);

/** Whether only descriptive keys change. A new resource may have any tags, because nothing relies on it yet. */
function changesDescriptiveKeys({ creates, before, after, unknown }: Setting): boolean {
  if (creates) return true;
  if (unknown || !isJsonObject(after)) return false;
  return [...stepsOf(before), ...stepsOf(after)].every(
    (key) =>
      sameJson(member(before, key), member(after, key)) ||
      DESCRIPTIVE.has(String(key).toLowerCase().replace(/[-_ ]/g, '')),
  );
}

/** Whether a dashboard of CloudWatch only shows data: a custom widget calls a function with the rights of who looks at it. */
function hasPlainWidgets(body: JsonValue): boolean {
  const widgets = member(jsonObjectOf(body), 'widgets');
  return Array.isArray(widgets) && widgets.every((widget: JsonValue) => PLAIN_WIDGETS.has(member(widget, 'type')));
}
const PLAIN_WIDGETS: ReadonlySet<JsonValue> = new Set(['alarm', 'explorer', 'log', 'metric', 'text']);

function jsonObjectOf(text: JsonValue): JsonObject | null {
  if (typeof text !== 'string') return null;
  const read = readJson(text, 64);
  return read.ok && isJsonObject(read.value as JsonValue) ? (read.value as JsonObject) : null;
}

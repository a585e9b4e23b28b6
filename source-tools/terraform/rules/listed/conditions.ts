import type { JsonValue } from '../../../../policy/contracts/canonical-json';
import { globCovers } from '../../../../policy/text/glob';
import { textsOf } from '../values';

/** An attribute that a change sets. `before` and `after` are null if the value is missing or the plan hides it. */
export interface Setting {
  readonly creates: boolean;
  readonly leftToProvider: boolean;
  readonly before: JsonValue;
  readonly after: JsonValue;
  /** Whether the plan does not show the value, or a part of it, before apply. */
  readonly unknown: boolean;
  /** The block, or the resource, that the attribute belongs to, after the change. */
  readonly block: JsonValue;
  readonly own: OwnPlaces;
}

/** Where the resources are that the state of the plan contains. Regions as `regionOf` returns them. */
export interface OwnPlaces {
  readonly accounts: ReadonlySet<string>;
  readonly projects: ReadonlySet<string>;
  readonly regions: ReadonlySet<string>;
}

export type Condition = (setting: Setting) => boolean;

export function oneOf(values: readonly string[]): Condition {
  const tests = values.map(valueTest);
  return ({ before, after, unknown }) => {
    if (unknown) return false;
    const items = Array.isArray(after) ? textsOf(after) : [after];
    const isComplete = !Array.isArray(after) || items.length === after.length;
    return isComplete && items.length > 0 && items.every((item) => tests.some((test) => test(item, before)));
  };
}

function valueTest(text: string): (value: JsonValue, before: JsonValue) => boolean {
  const [from = '', to] = text.split('..');
  if (to !== undefined) {
    const most = to === '' ? Number.MAX_VALUE : Number(to);
    return (value, before) =>
      isNumber(value) && Number(value) >= Number(from) && Number(value) <= most && !isHalved(before, Number(value));
  }
  if (text.includes('*')) return (value) => typeof value === 'string' && globCovers(text, value);
  return (value) => value !== null && typeof value !== 'object' && String(value) === text;
}

/** A number below zero, such as -1, means that there was no limit. What cannot be read may have been any number. */
function isHalved(before: JsonValue, value: number): boolean {
  if (before === null || before === '') return false;
  return !isNumber(before) || Number(before) < 0 || value < Number(before) / 2;
}

/** Whether a value is a number, or the text of one, as some providers write them. */
function isNumber(value: JsonValue): boolean {
  return typeof value === 'number' || (typeof value === 'string' && /^-?\d{1,15}(?:\.\d{1,15})?$/.test(value));
}

/** Tags that name one build. Others, such as `latest`, `stable` or `main`, are moved to other images. */
const VERSION = /^v?\d[\w.-]*$|^(?:sha-|git-)?[0-9a-f]{7,64}$/;

/** Whether an image keeps its repository, and its digest if it had one, and gets a version or a digest. */
export function hasNextVersion({ before, after, unknown }: Setting): boolean {
  if (unknown || typeof before !== 'string' || typeof after !== 'string') return false;
  const [old, next] = [imageOf(before), imageOf(after)];
  if (old.repository !== next.repository) return false;
  return next.digest === ''
    ? old.digest === '' && VERSION.test(next.tag)
    : /^sha(?:256|512):[0-9a-f]+$/.test(next.digest);
}

/** The parts of an image. A colon before a slash belongs to the port of a registry. */
function imageOf(image: string): { readonly repository: string; readonly tag: string; readonly digest: string } {
  const [name = '', ...digests] = image.split('@');
  const digest = digests.join('@');
  const colon = name.lastIndexOf(':');
  return colon > name.lastIndexOf('/')
    ? { repository: name.slice(0, colon), tag: name.slice(colon + 1), digest }
    : { repository: name, tag: '', digest };
}

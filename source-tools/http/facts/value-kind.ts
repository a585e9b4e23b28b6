import type { JsonValue } from '../../../policy/contracts/canonical-json';
import type { WrittenValue } from './http-facts';

/**
 * What a server, a page or a spreadsheet may act on in a text: markup, the template of an expression, a formula, the mention of a
 * person, or a command at the start of a line.
 */
const ACTIVE = /<[a-z/!?%]|\{[{%#]|[$#][{(]|(?:^|\s)[@/][\p{L}\d]|^\s?[=@]/iu;

/** What a value without members is; null if it has members or items. */
export function valueKind(value: JsonValue): WrittenValue['kind'] | null {
  switch (typeof value) {
    case 'string':
      return ACTIVE.test(value) ? 'active-text' : 'text';
    case 'number':
      return 'number';
    case 'boolean':
      return 'boolean';
    default:
      if (value === null) return 'null';
      return Object.keys(value).length === 0 ? 'empty' : null;
  }
}

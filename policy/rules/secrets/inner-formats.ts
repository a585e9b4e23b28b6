import type { RE2JS } from 're2js';
import { lazyPattern } from '../../text/lazy-pattern';
import { ALNUM, BASE64, END, URL_SAFE } from './formats';

/** A kind of token that is recognizable by a literal inside it. `before` and `after`: how many characters around it are matched. */
interface InnerFormat {
  readonly kind: string;
  readonly literal: string;
  readonly before: number;
  readonly after: number;
  /** Number of digits directly before the literal. Checked before the pattern is tried. */
  readonly digits: number;
  readonly pattern: () => RE2JS;
  readonly entropy: number;
}

export const INNER_FORMATS: readonly InnerFormat[] = [
  {
    kind: 'azure_client_secret',
    literal: 'Q~',
    before: 5,
    after: 38,
    digits: 1,
    pattern: lazyPattern(`(?:^|[^\\w.~-])([A-Za-z0-9_~.-]{3}\\dQ~[A-Za-z0-9_~.-]{31,34})(?:[^\\w.~-]|$)`),
    entropy: 3.5,
  },
  {
    kind: 'telegram',
    literal: ':AA',
    before: 17,
    after: 37,
    digits: 8,
    pattern: lazyPattern(`(?:^|\\W)(\\d{8,10}:AA${URL_SAFE}{33})${END}`),
    entropy: 3.5,
  },
  {
    kind: 'maxmind',
    literal: '_mmk',
    before: 37,
    after: 5,
    digits: 0,
    pattern: lazyPattern(`(?:^|\\W)(${ALNUM}{6}_${ALNUM}{29}_mmk)${END}`),
    entropy: 3.5,
  },
  {
    kind: 'facebook',
    literal: '|',
    before: 17,
    after: 42,
    digits: 15,
    pattern: lazyPattern(`(?:^|[^\\w])(\\d{15,16}\\|${URL_SAFE}{27,40})${END}`),
    entropy: 3,
  },
  {
    kind: 'asana',
    literal: ':',
    before: 38,
    after: 34,
    digits: 13,
    pattern: lazyPattern(`(?:^|[^\\w/])([12]/(?:\\d{13,16}/)?\\d{13,16}:[a-f0-9]{32})${END}`),
    entropy: 3,
  },
  {
    kind: 'mailchimp',
    literal: '-us',
    before: 33,
    after: 6,
    digits: 0,
    pattern: lazyPattern(`(?:^|[^\\w-])([a-f0-9]{32}-us\\d{1,2})${END}`),
    entropy: 3,
  },
  {
    kind: 'azure_key',
    literal: 'JQQJ99',
    before: 53,
    after: 33,
    digits: 0,
    pattern: lazyPattern(`(?:^|\\W)(${ALNUM}{52}JQQJ99${ALNUM}{26})${END}`),
    entropy: 4,
  },
  {
    kind: 'azure_devops',
    literal: 'AZDO',
    before: 77,
    after: 9,
    digits: 0,
    pattern: lazyPattern(`(?:^|\\W)(${ALNUM}{76}AZDO${ALNUM}{4})${END}`),
    entropy: 4,
  },
  {
    kind: 'azure_storage',
    literal: '+ASt',
    before: 77,
    after: 13,
    digits: 0,
    pattern: lazyPattern(`(?:^|[^\\w+/])(${BASE64}{76}\\+ASt${BASE64}{6}==)`),
    entropy: 4,
  },
];

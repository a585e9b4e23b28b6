import type { RE2JS } from 're2js';
import { lazyPattern } from '../../text/lazy-pattern';

/** A service whose keys have no distinctive prefix. They are recognized by the name of the service and this pattern. */
export interface Service {
  readonly kind: string;
  /** Lower case; the name that the value is assigned to contains one of them as whole words. */
  readonly words: readonly string[];
  readonly pattern: () => RE2JS;
}

function service(words: readonly string[], pattern: string): Service {
  return { kind: words[0] as string, words, pattern: lazyPattern(`^(?:${pattern})$`) };
}

const ALNUM = '[A-Za-z0-9]';
const LOWER = '[a-z0-9]';
const HEX = '[a-f0-9]';
const UUID = `${HEX}{8}-${HEX}{4}-${HEX}{4}-${HEX}{4}-${HEX}{12}`;
const WIDE = '[A-Za-z0-9_=-]';

export const SERVICES: readonly Service[] = [
  service(['adafruit'], `${WIDE}{32}`),
  service(['adobe'], `${HEX}{32}`),
  service(['airtable'], `key${ALNUM}{14}`),
  service(['algolia'], `${LOWER}{32}`),
  service(['asana'], `${LOWER}{32}`),
  service(['atlassian', 'confluence', 'jira'], `${ALNUM}{20}${HEX}{4}`),
  service(['beamer'], `b_${WIDE}{44}`),
  service(['bitbucket'], `${LOWER}{32}|${WIDE}{64}`),
  service(['bittrex'], `${LOWER}{32}`),
  service(['cloudflare'], `${WIDE}{40}|${HEX}{37}`),
  service(['codecov'], `${LOWER}{32}|${UUID}`),
  service(['cohere', 'co_api_key'], `${ALNUM}{40}`),
  service(['coinbase'], `${WIDE}{64}`),
  service(['contentful'], `${WIDE}{43}`),
  service(['datadog', 'dd_api', 'dd_app'], `${LOWER}{32}|${LOWER}{40}`),
  service(['discord'], `${HEX}{64}|${WIDE}{32}|${ALNUM}{24,28}\\.${WIDE}{6}\\.${WIDE}{27,40}`),
  service(['droneci', 'drone'], `${LOWER}{32}`),
  service(['dropbox'], `${LOWER}{15}`),
  service(['etsy'], `${LOWER}{24}`),
  service(['facebook'], `${HEX}{32}`),
  service(['fastly'], `${WIDE}{32}`),
  service(['finicity'], `${HEX}{32}|${LOWER}{20}`),
  service(['finnhub'], `${LOWER}{20}`),
  service(['flickr'], `${LOWER}{32}`),
  service(['freemius'], 'sk_[^\\s"]{29}'),
  service(['freshbooks'], `${LOWER}{64}`),
  service(['gitter'], `${WIDE}{40}`),
  service(['heroku'], UUID),
  service(['hubspot'], UUID),
  service(['intercom'], `${WIDE}{60}`),
  service(['jfrog', 'artifactory', 'bintray', 'xray'], `${ALNUM}{73}|${ALNUM}{64}`),
  service(['kraken'], `[A-Za-z0-9/=_+-]{80,90}`),
  service(['kucoin'], `${HEX}{24}|${UUID}`),
  service(['launchdarkly'], `${WIDE}{40}`),
  service(['linear'], `${HEX}{32}`),
  service(['linkedin', 'linked_in', 'linked-in'], `${ALNUM}{14}|${ALNUM}{16}`),
  service(['lob'], `(?:live|test)_${HEX}{35}|(?:live|test)_pub_${HEX}{31}`),
  service(['looker'], `${LOWER}{20}|${LOWER}{24}`),
  service(['mailchimp'], `${HEX}{32}-us\\d{1,2}`),
  service(['mailgun'], `(?:pub)?key-${HEX}{32}|${LOWER}{32}-${LOWER}{8}-${LOWER}{8}`),
  service(['mapbox'], `[ps]k\\.${ALNUM}{60}\\.${WIDE}{22}`),
  service(['mattermost'], `${LOWER}{26}`),
  service(['meraki'], `${HEX}{40}`),
  service(['messagebird', 'message-bird', 'message_bird'], `${ALNUM}{25}|${UUID}`),
  service(['netlify'], `${WIDE}{40,46}`),
  service(['newrelic', 'new-relic', 'new_relic'], `${LOWER}{64}`),
  service(['nytimes', 'new-york-times', 'newyorktimes'], `${WIDE}{32}`),
  service(['okta'], `00[\\w=-]{40}`),
  service(['plaid'], `access-(?:sandbox|development|production)-${UUID}|${LOWER}{30}|${LOWER}{24}`),
  service(['privateai', 'private_ai', 'private-ai'], `${LOWER}{32}`),
  service(['rapidapi'], `${WIDE}{50}`),
  service(['sendbird'], `${HEX}{40}|${UUID}`),
  service(['sentry'], `${HEX}{64}`),
  service(['contribsys'], `${HEX}{8}:${HEX}{8}`),
  service(['snyk'], UUID),
  service(['sonar', 'sonarqube', 'sonarcloud'], `${WIDE}{40}`),
  service(['sourcegraph'], `[A-Fa-f0-9]{40}`),
  service(['squarespace'], UUID),
  service(['sumologic', 'sumo'], `su${ALNUM}{12}|${ALNUM}{64}`),
  service(['telegram', 'telegr'], `\\d{5,16}:A${WIDE}{34}`),
  service(['travis', 'travisci'], `${ALNUM}{22}`),
  service(['trello'], `${ALNUM}{32}`),
  service(['twitch'], `${LOWER}{30}`),
  service(['twitter'], `${ALNUM}{25}|${ALNUM}{50}|\\d{15,25}-${ALNUM}{20,40}|A{22}[A-Za-z0-9%]{80,100}`),
  service(['typeform'], `tfp_[A-Za-z0-9_.=-]{59}`),
  service(
    ['yandex'],
    `AQVN[A-Za-z0-9_-]{35,38}|t1\\.[A-Z0-9a-z_-]+={0,2}\\.[A-Z0-9a-z_-]{86}={0,2}|YC[A-Za-z0-9_-]{38}`,
  ),
  service(['zendesk'], `${LOWER}{40}`),
];

export const SERVICE_WORDS: readonly string[] = [...new Set(SERVICES.flatMap(({ words }) => words))];

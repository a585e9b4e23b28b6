import { RE2JS } from 're2js';
import { lazyPattern } from '../../text/lazy-pattern';

/** A kind of token that is recognizable by its prefix and pattern. */
export interface TokenFormat {
  readonly kind: string;
  /** Start of the token; case-sensitive. */
  readonly prefix: string;
  /** Matched from the first character of the token. */
  readonly pattern: () => RE2JS;
  /** Minimum length of the leading run of letters, digits, `_` and `-`. Checked before the pattern is tried. */
  readonly min: number;
  /** Minimum entropy of the match in bits per character. */
  readonly entropy: number;
}

/** End of a token: a longer run is not this kind of token. */
const END = String.raw`(?:[^\w-]|$)`;

function format(kind: string, prefix: string, rest: string, min: number, entropy = 2.5): TokenFormat {
  return { kind, prefix, pattern: lazyPattern(`^(${RE2JS.quote(prefix)}${rest})${END}`), min, entropy };
}

/** One format for each prefix. */
function formats(kind: string, prefixes: readonly string[], rest: string, min: number, entropy = 2.5): TokenFormat[] {
  return prefixes.map((prefix) => format(kind, prefix, rest, min, entropy));
}

const HEX = '[a-fA-F0-9]';
const ALNUM = '[A-Za-z0-9]';
const URL_SAFE = '[A-Za-z0-9_-]';
const BASE64 = '[A-Za-z0-9+/]';

/**
 * Token formats as the issuers document them, or as issued tokens show them. A token of another format is still found if it is
 * assigned to a sensitive name.
 */
export const FORMATS: readonly TokenFormat[] = [
  ...formats('aws_key_id', ['AKIA', 'ASIA', 'ABIA', 'ACCA'], '[A-Z2-7]{16}', 20, 3),
  format('aws_key_id', 'A3T', '[A-Z0-9][A-Z2-7]{16}', 20, 3),
  format('aws_bedrock', 'ABSK', `${BASE64}{109,269}={0,2}`, 4, 3),
  format('aws_bedrock', 'bedrock-api-key-', `YmVkcm9jay5hbWF6b25hd3MuY29t${BASE64}*={0,2}`, 40),
  format('anthropic', 'sk-ant-', `(?:api|admin|oat|ort)\\d\\d-${URL_SAFE}{80,120}AA`, 90, 3),
  format('openai', 'sk-', `${ALNUM}{20}T3BlbkFJ${ALNUM}{20}`, 50, 3),
  ...formats(
    'openai',
    ['sk-proj-', 'sk-svcacct-', 'sk-admin-'],
    `${URL_SAFE}{40,110}T3BlbkFJ${URL_SAFE}{40,110}`,
    90,
    3,
  ),
  format('openrouter', 'sk-or-v1-', '[a-f0-9]{64}', 70, 3),
  ...formats('github', ['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'], `${ALNUM}{36,255}`, 40, 3),
  format('github', 'ghs_', `${ALNUM}{1,40}_eyJ${URL_SAFE}{10,}\\.eyJ${URL_SAFE}{10,}\\.${URL_SAFE}{20,}`, 20, 3),
  format('github', 'github_pat_', '\\w{82}', 90, 3),
  ...formats(
    'gitlab',
    [
      'glpat-',
      'gldt-',
      'glft-',
      'glrt-',
      'glsoat-',
      'glimt-',
      'glagent-',
      'gloas-',
      'glcbt-',
      'glffct-',
      'glwt-',
      'glrtr-',
    ],
    `[A-Za-z0-9_.-]{20,80}`,
    24,
    3,
  ),
  format('gitlab', 'glptt-', '[a-f0-9]{40}', 46, 3),
  format('gitlab', 'GR1348941', `${URL_SAFE}{20}`, 29, 3),
  format('slack', 'xoxb-', `\\d{8,14}-(?:\\d{10,13}[A-Za-z0-9-]*|${ALNUM}{18,26})`, 18),
  format('slack', 'xoxp-', `(?:\\d{9,13}-){3}[A-Za-z0-9-]{24,70}`, 40),
  ...formats('slack', ['xoxa-', 'xoxr-'], `(?:\\d-)?\\d${ALNUM}{7,47}(?:-${URL_SAFE}+)?`, 13),
  ...formats('slack', ['xoxo-', 'xoxs-'], `\\d{6,14}-\\d{6,14}(?:-${URL_SAFE}+)?`, 18),
  format('slack', 'xoxe-', `\\d-[A-Za-z0-9]{140,150}`, 140),
  ...formats('slack', ['xoxe.xoxb-', 'xoxe.xoxp-'], `\\d-[A-Za-z0-9]{150,180}`, 4),
  format('slack', 'xapp-', `\\d-[A-Za-z0-9]+-\\d+-[A-Za-z0-9]+`, 24),
  ...formats(
    'stripe',
    ['sk_live_', 'sk_test_', 'sk_prod_', 'rk_live_', 'rk_test_', 'rk_prod_'],
    `${ALNUM}{10,247}`,
    18,
  ),
  format('stripe', 'whsec_', `[A-Za-z0-9+/]{32,}={0,2}`, 20, 3),
  format('google', 'AIza', `${URL_SAFE}{35}`, 39, 3.5),
  format('google', 'GOCSPX-', `${URL_SAFE}{28}`, 35, 3),
  format('google', 'ya29.', `[A-Za-z0-9_.-]{30,}`, 4, 3),
  format('npm', 'npm_', `${ALNUM}{36}`, 40),
  format('pypi', 'pypi-AgEIcHlwaS5vcmc', `${URL_SAFE}{50,1000}`, 60, 3),
  format('pypi', 'pypi-AgENdGVzdC5weXBpLm9yZw', `${URL_SAFE}{50,1000}`, 60, 3),
  format('rubygems', 'rubygems_', '[a-f0-9]{48}', 56),
  format('docker', 'dckr_pat_', `${URL_SAFE}{27,}`, 36, 3),
  format('docker', 'dckr_oat_', `${URL_SAFE}{27,}`, 36, 3),
  format('huggingface', 'hf_', `${ALNUM}{34}`, 37, 3.5),
  ...formats('tavily', ['tvly-', 'tvly-dev-', 'tvly-prod-'], `${ALNUM}{32}`, 37, 3.5),
  format('pinecone', 'pcsk_', `${ALNUM}{5,6}_${ALNUM}{60,70}`, 66, 3.5),
  format('huggingface', 'api_org_', '[A-Za-z]{34}', 42, 3),
  format('groq', 'gsk_', `${ALNUM}{52}`, 56, 3),
  format('xai', 'xai-', `${ALNUM}{80}`, 84, 3),
  format('perplexity', 'pplx-', `${ALNUM}{48}`, 53, 3.5),
  format('replicate', 'r8_', `${ALNUM}{37}`, 40, 3),
  format('langsmith', 'lsv2_pt_', '[a-f0-9]{32}_[a-f0-9]{10}', 50, 3),
  format('langsmith', 'lsv2_sk_', '[a-f0-9]{32}_[a-f0-9]{10}', 50, 3),
  format('sendgrid', 'SG.', `[A-Za-z0-9=_.-]{66}`, 2, 3),
  format('sendinblue', 'xkeysib-', `[a-f0-9]{64}-${ALNUM}{16}`, 88, 3),
  format('mailgun', 'key-', '[a-f0-9]{32}', 36, 3),
  format('mailgun', 'pubkey-', '[a-f0-9]{32}', 39, 3),
  ...formats('twilio', ['SK', 'AC'], '[0-9a-f]{32}', 34, 3),
  format('telegram', 'bot', `\\d{5,16}:A${URL_SAFE}{34}`, 8, 3),
  ...formats('shopify', ['shpat_', 'shpca_', 'shppa_', 'shpss_'], `${ALNUM}{32,}`, 38),
  ...formats('digitalocean', ['dop_v1_', 'doo_v1_', 'dor_v1_'], '[a-f0-9]{64}', 71, 3),
  ...formats('vault', ['hvs.', 'hvb.', 'hvr.'], `${URL_SAFE}{24,}`, 3, 3),
  format('vault', 's.', `${ALNUM}{24}`, 1, 3.5),
  format('terraform_cloud', 'atlasv1.', `[A-Za-z0-9_=-]{60,70}`, 4, 3),
  format('databricks', 'dapi', `${HEX}{32}(?:-\\d)?`, 36, 3),
  format('linear', 'lin_api_', `${ALNUM}{40,}`, 48),
  format('linear', 'lin_oauth_', `${ALNUM}{40,}`, 48),
  format('notion', 'ntn_', `\\d{11}${ALNUM}{35}`, 50, 3.5),
  format('notion', 'secret_', `${ALNUM}{43}`, 50, 3.5),
  ...formats('facebook', ['EAAM', 'EAAC'], `${ALNUM}{100,}`, 104, 4),
  format('square', 'EAAA', `${URL_SAFE}{56,60}`, 60, 3),
  ...formats('square', ['sq0atp-', 'sq0csp-'], `${URL_SAFE}{22,60}`, 28),
  format('sourcegraph', 'sgp_', `(?:(?:${HEX}{16}|local)_)?${HEX}{40}`, 44, 3),
  format('onepassword', 'ops_eyJ', `${BASE64}{250,}={0,3}`, 7, 4),
  format('onepassword', 'A3-', '[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}', 30, 3.5),
  format('octopus', 'API-', '[A-Z0-9]{26}', 30, 3),
  ...formats('intra42', ['s-s4t2ud-', 's-s4t2af-'], `${HEX}{64}`, 72, 3),
  format('age', 'AGE-SECRET-KEY-1', '[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}', 74),
  format('atlassian', 'ATATT3', `[A-Za-z0-9_=-]{180,200}`, 6, 3),
  format('atlassian', 'ATCTT3', `[A-Za-z0-9_=-]{180,200}`, 6, 3),
  format('bitbucket', 'ATBB', `${ALNUM}{32}`, 36, 3),
  format('figma', 'figd_', `${URL_SAFE}{38,}`, 43, 3),
  format('grafana', 'glsa_', `${ALNUM}{32}_${HEX}{8}`, 46, 3),
  format('grafana', 'glc_', `${BASE64}{32,400}={0,3}`, 4, 3),
  format('postman', 'PMAK-', `${HEX}{24}-${HEX}{34}`, 64, 3),
  format('pulumi', 'pul-', '[a-f0-9]{40}', 44),
  ...formats(
    'doppler',
    ['dp.pt.', 'dp.st.', 'dp.ct.', 'dp.sa.', 'dp.scim.', 'dp.audit.'],
    `(?:[a-z0-9_-]{2,35}\\.)?${ALNUM}{40,44}`,
    2,
  ),
  ...formats('planetscale', ['pscale_tkn_', 'pscale_oauth_', 'pscale_pw_'], `[\\w=.-]{32,64}`, 10, 3),
  format('tailscale', 'tskey-', `[a-z]+-${ALNUM}+-${ALNUM}{16,}`, 24, 2),
  ...formats('cloudflare', ['cfut_', 'cfat_', 'cfk_'], `${ALNUM}{40}[a-f0-9]{8}`, 50, 3),
  format('cloudflare', 'v1.0-', '[a-f0-9]{24}-[a-f0-9]{146}', 2, 3),
  ...formats('vercel', ['vcp_', 'vci_', 'vca_', 'vcr_', 'vck_'], `${ALNUM}{24,}`, 28, 3),
  format('netlify', 'nfp_', `${ALNUM}{36,}`, 40, 3),
  format('supabase', 'sbp_', '[a-f0-9]{40}', 44, 3),
  format('supabase', 'sb_secret_', `${URL_SAFE}{20,}`, 30, 3),
  ...formats('heroku', ['HRKU-AA'], `${URL_SAFE}{58}`, 60, 3),
  ...formats('newrelic', ['NRAK-', 'NRII-', 'NRJS-', 'NRIQ-'], `${URL_SAFE}{19,40}`, 24, 3),
  format('sentry', 'sntryu_', '[a-f0-9]{64}', 70, 3),
  format('sentry', 'sntrys_eyJ', `[A-Za-z0-9+/=_]{60,}`, 10, 3.5),
  format('dynatrace', 'dt0c01.', `${ALNUM}{24}\\.${ALNUM}{64}`, 6, 3.5),
  format('easypost', 'EZAK', `${ALNUM}{54}`, 58, 3),
  format('easypost', 'EZTK', `${ALNUM}{54}`, 58, 3),
  format('artifactory', 'AKCp', `${ALNUM}{69}`, 73, 4),
  format('artifactory', 'cmVmd', `${ALNUM}{59}`, 64, 4),
  format('alibaba', 'LTAI', `${ALNUM}{20}`, 24, 3),
  format('tencent', 'AKID', `${ALNUM}{32}`, 36, 3.5),
  format('adobe', 'p8e-', `${ALNUM}{32}`, 36, 3),
  format('clojars', 'CLOJARS_', '[a-z0-9]{60}', 68, 3),
  format('clickhouse', '4b1d', `${ALNUM}{38}`, 42, 3),
  format('duffel', 'duffel_test_', `${URL_SAFE}{43}`, 50, 3),
  format('duffel', 'duffel_live_', `${URL_SAFE}{43}`, 50, 3),
  format('flutterwave', 'FLWSECK-', `${ALNUM}{32}-X`, 40, 3),
  format('flutterwave', 'FLWSECK_TEST-', `${ALNUM}{12,32}(?:-X)?`, 24, 2.5),
  format('flutterwave', 'FLWPUBK_TEST-', `${ALNUM}{32}-X`, 40, 2.5),
  format('flyio', 'fo1_', `${URL_SAFE}{43}`, 47, 3.5),
  ...formats('flyio', ['fm1r_', 'fm1a_', 'fm2_'], `${BASE64}{100,}={0,3}`, 4, 4),
  format('frameio', 'fio-u-', `[A-Za-z0-9=_-]{64}`, 6, 3),
  format('gocardless', 'live_', `[A-Za-z0-9=_-]{40}`, 45, 3.5),
  format('harness', 'pat.', `${URL_SAFE}{22}\\.${HEX}{24}\\.${ALNUM}{20}`, 3, 3),
  format('harness', 'sat.', `${URL_SAFE}{22}\\.${HEX}{24}\\.${ALNUM}{20}`, 3, 3),
  format('infracost', 'ico-', `${ALNUM}{32}`, 36, 3),
  format('openshift', 'sha256~', `${URL_SAFE}{43}`, 6, 3.5),
  format('prefect', 'pnu_', `${ALNUM}{36}`, 40, 3),
  format('readme', 'rdme_', '[a-z0-9]{70}', 75, 3),
  format('scalingo', 'tk-us-', `${URL_SAFE}{48}`, 54, 3),
  ...formats('settlemint', ['sm_aat_', 'sm_pat_', 'sm_sat_'], `${ALNUM}{16}`, 23, 3),
  ...formats('shippo', ['shippo_live_', 'shippo_test_'], `${HEX}{40}`, 50, 3),
  ...formats('sonar', ['squ_', 'sqp_', 'sqa_'], '[a-f0-9]{40}', 44, 3),
  ...formats('buildkite', ['bkua_', 'bkct_'], `${ALNUM}{40,}`, 44, 3),
  format('circleci', 'CCIPAT_', `${ALNUM}{22}_${HEX}{40}`, 60, 3),
  format('contentful', 'CFPAT-', `${URL_SAFE}{43}`, 49, 3),
  format('confluent', 'cflt', `${ALNUM}{60}`, 64, 3.5),
  format('typeform', 'tfp_', `[A-Za-z0-9_.=-]{59}`, 20, 3),
  format('airtable', 'pat', `${ALNUM}{14}\\.[a-f0-9]{64}`, 17, 3.5),
  format('dropbox', 'sl.', `[A-Za-z0-9_=-]{130,}`, 2, 3.5),
  format('hubspot', 'pat-na1-', '[a-f0-9]{8}(?:-[a-f0-9]{4}){3}-[a-f0-9]{12}', 40, 3),
  format('hubspot', 'pat-eu1-', '[a-f0-9]{8}(?:-[a-f0-9]{4}){3}-[a-f0-9]{12}', 40, 3),
  format('okta', 'SSWS', `\\s00[\\w-]{40}`, 4, 3.5),
  format('paypal', 'access_token$production$', `[a-z0-9]{16}\\$[a-f0-9]{32}`, 10, 3),
  format('defined_networking', 'dnkey-', `[A-Za-z0-9=_-]{26}-[A-Za-z0-9=_-]{52}`, 6, 3),
  ...formats(
    'authress',
    ['sc_', 'ext_', 'scauth_', 'authress_'],
    `[a-z0-9]{5,30}\\.[a-z0-9]{4,6}\\.acc[_-][a-z0-9-]{10,32}\\.[A-Za-z0-9+/_=-]{30,120}`,
    7,
    3,
  ),
  format('yandex', 't1.', `[A-Za-z0-9_-]{10,}={0,2}\\.[A-Za-z0-9_-]{86}={0,2}`, 2, 3.5),
  format('yandex', 'AQVN', `${URL_SAFE}{35,38}`, 39, 3.5),
  format('yandex', 'YC', `${URL_SAFE}{38}`, 40, 4),
  format('grafana', 'eyJrIjoi', `${BASE64}{70,400}={0,3}`, 8, 3.5),
  format('azure_sas', 'sig=', '[A-Za-z0-9%+/]{43,70}(?:%3[Dd]|=)', 3, 3.5),
  format('jwt', 'eyJ', `${URL_SAFE}{14,}\\.eyJ?${URL_SAFE}{14,}\\.(?:${URL_SAFE}{10,}={0,2})?`, 17, 3),
];

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
];

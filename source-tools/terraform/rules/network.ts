import { z } from 'zod';
import { canonicalJson, isJsonObject, type JsonObject, type JsonValue } from '../../../policy/contracts/canonical-json';
import type { Hit } from '../../../policy/rules/hit';
import { memoizeByObject } from '../../../policy/text/memoize';
import type { TerraformResource } from '../facts/terraform-facts';
import { coverInternet } from './address-ranges';
import { atResource, planOf, terraformRule, undecided } from './define-terraform-rule';
import { PING, type PortRange } from './firewall-reader';
import { openingsOf, type Direction } from './firewalls';
import { createdOrChanged, DESCRIPTIVE, hidesBelow, memberAt, textsOf, valueAt, type Path } from './values';

/** The text of a firewall rule without what only describes it. */
const ruleText = memoizeByObject((rule: JsonObject): string =>
  canonicalJson(Object.fromEntries(Object.entries(rule).filter(([name]) => !DESCRIPTIVE.has(name)))),
);
const ruleTexts = memoizeByObject(
  (rules: readonly JsonValue[]): ReadonlySet<string> =>
    new Set(rules.flatMap((rule) => (isJsonObject(rule) ? [ruleText(rule)] : []))),
);

/** Whether an update leaves a firewall rule as it was, apart from its position and what only describes it. */
function isOldRule(r: TerraformResource, path: Path): boolean {
  const after = memberAt(r.after, path);
  if (r.action !== 'update' || !isJsonObject(after) || hidesBelow(r, path)) return false;
  if (path.length === 0) return isJsonObject(r.before) && ruleText(r.before) === ruleText(after);
  const before = memberAt(r.before, path.slice(0, -1));
  return Array.isArray(before) && ruleTexts(before as readonly JsonValue[]).has(ruleText(after));
}

/** Whether the address ranges of a list cover the internet. Several rules can share one list. */
const listCoversInternet = memoizeByObject((list: readonly JsonValue[]) => coverInternet(textsOf(list)));

function opensTo(value: JsonValue): boolean {
  return Array.isArray(value) ? listCoversInternet(value as readonly JsonValue[]) : coverInternet(textsOf(value));
}

const Ports = z.array(z.int().min(0).max(65535)).max(200);

function find(
  resources: readonly TerraformResource[],
  direction: Direction,
  concerns: (range: PortRange) => boolean,
): readonly Hit[] {
  return createdOrChanged(resources).flatMap((r) =>
    openingsOf(r, direction).flatMap((opening): readonly Hit[] => {
      if (!opening.ports.some(concerns) || isOldRule(r, opening.rule)) return [];
      const open = opening.ranges.filter((path) => {
        const value = valueAt(r, path);
        return value.state === 'known' && opensTo(value.value);
      });
      if (open.length > 0 || opening.everyone) {
        const ports = opening.ports.map(portText);
        const way = direction === 'ingress' ? 'is open to the internet on' : 'may reach any address on';
        const paths = open.length > 0 ? open : [opening.rule];
        return paths.map((path) => atResource(r, `${way} ${ports.slice(0, 5).join(', ')}`, path));
      }
      if (opening.hidden === null) return [];
      const what = direction === 'ingress' ? 'the source of its traffic' : 'the destination of its traffic';
      return [atResource(r, undecided(what, opening.hidden), opening.path)];
    }),
  );
}

function portText([from, to]: PortRange): string {
  if (from === PING[0]) return 'ICMP';
  if (from === to) return `port ${from}`;
  return from === 0 && to === 65535 ? 'all ports' : `ports ${from} to ${to}`;
}

const RULE = { type: 'ingress', protocol: 'tcp', from_port: 22, to_port: 22 };

export const openIngress = terraformRule({
  name: 'terraform_open_ingress',
  logicRevision: 9,
  defaultLevel: 'confirm',
  why: 'Internet scanners find an open port within minutes.',
  config: z.strictObject({
    ports: Ports.nullable().default(null).describe('Ports to check; null for all.'),
    except: Ports.default([80, 443]).describe(
      'Ports that may be open to the internet, if the rule opens no other port.',
    ),
  }),
  examples: {
    bad: planOf([
      {
        address: 'aws_security_group_rule.ssh',
        actions: ['create'],
        after: { ...RULE, cidr_blocks: ['0.0.0.0/1', '128.0.0.0/1'] },
      },
    ]),
    good: planOf([
      { address: 'aws_security_group_rule.ssh', actions: ['create'], after: { ...RULE, cidr_blocks: ['10.0.0.0/8'] } },
    ]),
  },
  find: ({ resources }, { ports, except }) =>
    find(resources, 'ingress', ([from, to]) => {
      if (ports !== null) return ports.some((port) => port >= from && port <= to);
      return isMore(from, to, except);
    }),
});

export const openEgress = terraformRule({
  name: 'terraform_open_egress',
  logicRevision: 9,
  defaultLevel: 'advise',
  status: 'WARN',
  why: 'A resource with unrestricted egress can exfiltrate data.',
  config: z.strictObject({
    except: Ports.default([443]).describe(
      'Ports on which any address may be reached, if the rule opens no other port.',
    ),
  }),
  examples: {
    bad: planOf([
      {
        address: 'aws_security_group_rule.out',
        actions: ['create'],
        after: { ...RULE, type: 'egress', protocol: '-1', cidr_blocks: ['0.0.0.0/0'] },
      },
    ]),
    good: planOf([
      {
        address: 'aws_security_group_rule.out',
        actions: ['create'],
        after: { ...RULE, type: 'egress', cidr_blocks: ['10.0.0.0/8'] },
      },
    ]),
  },
  find: ({ resources }, { except }) => find(resources, 'egress', ([from, to]) => isMore(from, to, except)),
});

/** Whether the range opens more than one excepted port. ICMP counts only if no port is excepted. */
function isMore(from: number, to: number, except: readonly number[]): boolean {
  return from === PING[0] ? except.length === 0 : !(from === to && except.includes(from));
}

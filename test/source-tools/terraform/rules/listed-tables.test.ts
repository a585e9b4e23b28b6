import { LISTED_DATA, LISTED_PROVIDERS, PROVIDER_TABLES } from '../../../../source-tools/terraform/rules/listed';
import { listedType } from '../../../../source-tools/terraform/rules/listed/entries';
import { wordList } from '../../../../policy/text/word-list';

const allTypes = PROVIDER_TABLES.flatMap(({ types }) => Object.entries(types));
const nameOf = (word: string): string => (/^[a-z0-9_.]+/.exec(word) ?? [''])[0];
const isSorted = (words: readonly string[]): boolean => JSON.stringify(words) === JSON.stringify([...words].sort());

describe.each(PROVIDER_TABLES.map((table) => [table.names.join(', '), table] as const))(
  'the list of %s',
  (_, table) => {
    const data = table.data === '' ? [] : wordList(table.data);

    it('is sorted, and has each type and data source once', () => {
      expect(isSorted(Object.keys(table.types))).toBe(true);
      expect(isSorted(data)).toBe(true);
      expect(new Set(data).size).toBe(data.length);
    });

    it('has no type or data source of another provider', () => {
      const own = new RegExp(`^(?:${table.names.join('|')})_|^(?:cloudinit_config|template_file)$`);
      expect([...Object.keys(table.types), ...data].filter((type) => !own.test(type))).toEqual([]);
    });

    it('is found under both public registries, and under no short name', () => {
      for (const name of table.names) {
        for (const host of ['registry.terraform.io', 'registry.opentofu.org'])
          expect([...(LISTED_PROVIDERS.get(`${host}/hashicorp/${name}`)?.types.keys() ?? [])]).toEqual(
            Object.keys(table.types),
          );
        expect(LISTED_PROVIDERS.has(name)).toBe(false);
      }
    });
  },
);

it('no type is listed twice', () => {
  expect(new Set(allTypes.map(([type]) => type)).size).toBe(allTypes.length);
});

it.each(allTypes)('the attributes of %s are listed once, and none is below another that has any value', (_, text) => {
  const words = text === '' ? [] : wordList(text);
  expect(new Set(words).size).toBe(words.length);
  const free = new Set(words.filter((word) => word === nameOf(word)));
  expect(words.filter((word) => [...free].some((name) => word.startsWith(`${name}.`)))).toEqual([]);
});

it('no listed data source runs a program or calls a service that it names', () => {
  for (const type of ['external', 'http', 'aws_lambda_invocation', 'terraform_remote_state', 'shell_script'])
    expect(LISTED_DATA.has(type)).toBe(false);
});

/** What a listed attribute could do that no rule reads. */
it.each([
  [
    'runs a program',
    /user_data|startup_script|custom_data|command|(?:^|\.)(?:handler|runtime|filename|code|zip_file)$/,
  ],
  [
    'gives a workload rights',
    /(?:^|\.)service_account$|iam_instance_profile|security_context|host_(?:network|pid|ipc|path)/,
  ],
  ['shares a resource by its own policy', /^(?:resource_)?policy$|^access_policies$|^assume_role_policy$/],
  ['copies data to another place', /replica(?:tion)?(?:_configuration)?$|destination|forward_to|push_config/],
  ['attaches a firewall', /^(?:vpc_)?security_group_ids$|^security_groups$/],
])('no attribute is listed for any value that %s', (_, pattern) => {
  const read = new Set([
    // What a registry deletes, which terraform_expiry reads.
    'aws_ecr_lifecycle_policy policy',
    // Whether the versions of a secret are kept in one region or several, chosen when it is created.
    'google_secret_manager_secret replication+',
    // Which machines of the own network a firewall rule is for.
    ...['address_prefix+', 'address_prefixes+', 'application_security_group_ids+', 'port_range+', 'port_ranges+'].map(
      (name) => `azurerm_network_security_rule destination_${name}`,
    ),
  ]);
  const found = allTypes.flatMap(([type, text]) =>
    (text === '' ? [] : wordList(text))
      .filter((word) => !/[?=~:!]/.test(word) && pattern.test(nameOf(word)))
      .map((word) => `${type} ${word}`),
  );
  expect(found.filter((one) => !read.has(one))).toEqual([]);
});

it.each(['Name', 'a=', 'a.', '.a', 'a??', 'a?=b', 'a:', 'a.b!', ''])('refuses a word of another form: %j', (word) => {
  expect(() => listedType(word)).toThrow(/Expected name, name\+, name\?, name~, name!, name=values or name:check/);
});

it('refuses a check that is not defined', () => {
  expect(() => listedType('a:harmless')).toThrow(/Expected a check of checks\.ts, got a:harmless/);
});

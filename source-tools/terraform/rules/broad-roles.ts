import type { JsonValue } from '../../../policy/contracts/canonical-json';
import { readJson } from '../../../policy/text/json-text';
import type { Hit } from '../../../policy/rules/hit';
import { shown } from '../../../policy/text/shown-name';
import { wordList } from '../../../policy/text/word-list';
import type { TerraformResource } from '../facts/terraform-facts';
import { administratorHits } from './admin-words';
import { atResource, undecided } from './define-terraform-rule';
import { kubernetesHits } from './kubernetes-roles';
import { hiddenBelow, itemsAt, itemsNotIn, itemsOf, member, memberAt, textsOf, valueAt, type Path } from './values';

type Test = (text: string) => boolean;

/** A member that names a well-known broad role or permission, or someone who must not get one. */
interface Grant {
  readonly types: RegExp;
  readonly path: Path;
  /** Whether a text, in lower case, is such a name. */
  readonly isBroad: Test;
  readonly what: string;
  /** Members that say who gets it. An update that adds someone is found, too. */
  readonly to?: readonly string[];
}

const oneOf = (words: string): Test => {
  const set = new Set(wordList(words));
  return (text) => set.has(text);
};

const isManagedPolicy: Test = (text) =>
  /fullaccess|administrator|poweruseraccess|awskeymanagementservicepoweruser/.test(text.slice(text.lastIndexOf('/')));

const BROAD_GOOGLE = oneOf(`
  roles/owner roles/editor roles/storage.admin roles/cloudkms.admin roles/secretmanager.admin roles/compute.admin
`);
const isGoogleRole: Test = (text) => BROAD_GOOGLE(text) || /^roles\/(?:iam|resourcemanager)\..*admin/.test(text);
/** Roles that allow acting as every service account of a project; for one service account they are narrow. */
const isImpersonation = oneOf('roles/iam.serviceaccounttokencreator roles/iam.serviceaccountuser');
/** Everyone on the internet, or every identity of a pool that maps identities of another provider. */
const isEveryone: Test = (text) =>
  text === 'allusers' || text === 'allauthenticatedusers' || /^principalset:.*\/\*$/.test(text);
const isGooglePermission: Test = (text) =>
  /\.setiampolicy$|^iam\.(?:serviceaccounts\.(?:actas|getaccesstoken|sign)|serviceaccountkeys\.create|roles\.update)/.test(
    text,
  );

const AZURE_ROLES = new Set([
  'owner',
  'contributor',
  'user access administrator',
  'role based access control administrator',
  'key vault administrator',
]);
/** The same roles by the end of their ids, which are equal in every subscription. */
const isAzureRole = oneOf(`
  8e3af657-a8ff-443c-a75c-2fe8c4bcb635 b24988ac-6180-42a0-ab88-20f7382dd24c 18d7d88d-d35e-4fb5-a5c3-7773c20a72d9
  f58310d9-a9f6-439a-9e8d-f62e7b41a168 00482a5a-887f-4fb3-b363-3b7fe8e74483
`);
const isAzureRoleId: Test = (text) => isAzureRole(text.slice(text.lastIndexOf('/') + 1));
const isAzureAction: Test = (text) => /^\*|^microsoft\.authorization\/(?:\*|role.*\/(?:\*|write))/.test(text);

const ATTACHED_TO = ['users', 'groups', 'roles', 'user', 'group', 'role'];
const MEMBERS = ['member', 'members'];

const GRANTS: readonly Grant[] = [
  ...['policy_arn', 'policy_arns', 'managed_policy_arn', 'managed_policy_arns'].map((name) => ({
    types:
      /^aws_(?:iam_(?:role|.*policy_attachment|.*policy_attachments_exclusive)|ssoadmin_managed_policy_attachment)$|^awscc_iam_(?:role|user|group)$/,
    path: [name],
    isBroad: isManagedPolicy,
    what: 'attaches',
    to: ATTACHED_TO,
  })),
  {
    types: /^aws_eks_access_policy_association$/,
    path: ['policy_arn'],
    isBroad: (text) => text.includes('admin'),
    what: 'grants',
  },
  {
    types: /^aws_eks_access_entry$/,
    path: ['kubernetes_groups'],
    isBroad: oneOf('system:masters'),
    what: 'adds to',
  },
  { types: /^aws_vpc_endpoint_service$/, path: ['allowed_principals'], isBroad: oneOf('*'), what: 'allows' },
  {
    types: /^aws_cloudformation_stack(?:_set)?$/,
    path: ['capabilities'],
    isBroad: (text) => text.includes('iam'),
    what: 'creates what its template says, with',
    to: ['template_body', 'template_url', 'parameters'],
  },
  { types: /^google_.*_iam_(?:member|binding)$/, path: ['role'], isBroad: isGoogleRole, what: 'grants', to: MEMBERS },
  {
    types: /^google_(?:project|folder|organization)_iam_(?:member|binding)$/,
    path: ['role'],
    isBroad: isImpersonation,
    what: 'grants',
    to: MEMBERS,
  },
  ...MEMBERS.map((name) => ({
    types: /^google_.*_iam_(?:member|binding)$/,
    path: [name],
    isBroad: isEveryone,
    what: 'grants access to',
  })),
  {
    types: /^google_(?:project|organization)_iam_custom_role$/,
    path: ['permissions'],
    isBroad: isGooglePermission,
    what: 'contains',
  },
  {
    types: /^azurerm_role_assignment$/,
    path: ['role_definition_name'],
    isBroad: (text) => AZURE_ROLES.has(text),
    what: 'assigns',
  },
  ...[
    { types: /^azapi_/, path: ['type'], to: ['body'] },
    { types: /^azurerm_.*template_deployment$/, path: ['template_content'] },
  ].map((where) => ({
    ...where,
    isBroad: (text: string) => text.includes('microsoft.authorization/'),
    what: 'writes',
  })),
  ...['actions', 'data_actions'].map((name) => ({
    types: /^azurerm_role_definition$/,
    path: ['permissions', 0, name],
    isBroad: isAzureAction,
    what: 'allows',
  })),
  {
    types: /^kubernetes_(?:cluster_)?role_binding(?:_v1)?$/,
    path: ['role_ref', 0, 'name'],
    isBroad: oneOf('cluster-admin admin'),
    what: 'binds',
    to: ['subject'],
  },
  ...['mapRoles', 'mapUsers'].map((name) => ({
    types: /^kubernetes_config_map(?:_v1)?(?:_data)?$/,
    path: ['data', name],
    isBroad: (text: string) => text.includes('system:masters'),
    what: 'makes administrators by',
  })),
  {
    types: /^vault_policy$/,
    path: ['policy'],
    isBroad: (text) => /\bpath\s+"(?:[^"/*+]+\/)?(?:(?:data|metadata)\/)?[*+/]*[*+]"|"sudo"/.test(text),
    what: 'contains',
  },
  ...['bound_service_account_names', 'bound_service_account_namespaces'].map((name) => ({
    types: /^vault_kubernetes_auth_backend_role$/,
    path: [name],
    isBroad: oneOf('*'),
    what: 'admits',
  })),
];

/** Types whose creation assigns a role that cannot be judged by its name. */
const ASSIGNMENTS = new Set(
  wordList(`
  azuread_directory_role_assignment azuread_directory_role_member azuread_app_role_assignment azuread_group_member
  okta_user_admin_roles okta_group_role okta_group_memberships aws_iam_group_membership aws_iam_user_group_membership
  aws_ssoadmin_account_assignment aws_identitystore_group_membership
`),
);

/** Hits for well-known broad roles, attached or bound by name. */
export function broadRoles(r: TerraformResource): readonly Hit[] {
  if (ASSIGNMENTS.has(r.type)) return [atResource(r, 'assigns a role or a group, whose rights the plan does not show')];
  return [
    ...GRANTS.filter(({ types }) => types.test(r.type)).flatMap((grant) => grantHits(r, grant)),
    ...googlePolicyHits(r),
    ...azureRoleIdHits(r),
    ...kubernetesHits(r),
    ...administratorHits(r),
  ];
}

function grantHits(r: TerraformResource, { path, isBroad, what, to = [] }: Omit<Grant, 'types'>): readonly Hit[] {
  const name = String(path[0]);
  const why = hiddenBelow(r, path);
  if (why !== null) return r.leftToProvider.includes(name) ? [] : [atResource(r, undecided(`its ${name}`, why))];
  const broad = textsOf(itemsAt(r, path)).find((text) => isBroad(text.toLowerCase()));
  if (broad === undefined || !(isGained(r, path) || to.some((member) => isGained(r, [member])))) return [];
  return [atResource(r, `${what} ${shown(broad.slice(0, 200))}`, path)];
}

/** Whether the value at a path has an item that it did not have before, or hides one. */
function isGained(r: TerraformResource, path: Path): boolean {
  if (r.action !== 'update' || hiddenBelow(r, path) !== null) return true;
  return itemsNotIn(itemsOf(memberAt(r.after, path)), itemsOf(memberAt(r.before, path))).length > 0;
}

/** Hits for the bindings of a Google policy, which replaces all others. */
function googlePolicyHits(r: TerraformResource): readonly Hit[] {
  const path = ['policy_data'];
  if (!/^google_.*_iam_policy$/.test(r.type) || !isGained(r, path)) return [];
  const why = hiddenBelow(r, path);
  if (why !== null) return [atResource(r, undecided('its policy_data', why))];
  return textsOf(itemsAt(r, path)).flatMap((text): readonly Hit[] => {
    const read = readJson(text, 32);
    if (!read.ok) return [atResource(r, 'its policy_data is not JSON, so it cannot be checked', path)];
    return itemsOf(member(read.value as JsonValue, 'bindings')).flatMap((binding) =>
      [
        ...textsOf(member(binding, 'role')).filter((role) => isGoogleRole(role.toLowerCase())),
        ...textsOf(member(binding, 'members')).filter((name) => isEveryone(name.toLowerCase())),
      ].map((found) => atResource(r, `grants ${shown(found.slice(0, 200))}`, path)),
    );
  });
}

/** Hits for a role of Azure that is assigned by its id alone. */
function azureRoleIdHits(r: TerraformResource): readonly Hit[] {
  if (
    !/^azurerm_(?:pim_(?:active|eligible)_)?role_assignment$/.test(r.type) ||
    valueAt(r, ['role_definition_name']).state === 'known'
  )
    return [];
  return grantHits(r, { path: ['role_definition_id'], isBroad: isAzureRoleId, what: 'assigns' });
}

import { isHeld as isHeldBy } from './is-held';

const isHeld = (address: string, before: object | null, after: object, unknown: object = {}): boolean =>
  isHeldBy('terraform_iam_widening', address, before, after, { after_unknown: unknown });

const isBroad = (statement: object, member = 'policy'): boolean =>
  isHeld(member === 'policy' ? 'aws_sqs_queue.q' : 'aws_iam_role.r', null, {
    [member]: JSON.stringify({ Version: '2012-10-17', Statement: [{ Effect: 'Allow', ...statement }] }),
  });

const ARN = 'arn:aws:iam::111122223333';

describe('the permissions of a policy', () => {
  it.each([
    { Action: '**', Resource: `${ARN}:user/a` },
    { Action: 'i?m:*', Resource: `${ARN}:user/a` },
    { Action: 'iam:**', Resource: `${ARN}:user/a` },
    { Action: 'iam:Pass?ole', Resource: `${ARN}:role/*` },
    { Action: 'iam:PutUserPolicy', Resource: `${ARN}:*/*` },
    { Action: 'iam:PutUserPolicy', Resource: `${ARN}:u*` },
    { Action: 'iam:PutUserPolicy', Resource: 'arn*' },
    { Action: 's3:Get*', Resource: 'arn:aws:*:*:*:*' },
    { Action: 's3:DeleteObject', Resource: 'arn:aws:s3:::*' },
    { Action: ['secretsmanager:GetSecretValue'], Resource: '*' },
    { Action: ['iam:AttachUserPolicy'], Resource: `${ARN}:user/me` },
  ])('are broad however the wildcard is written: %j', (statement) => {
    expect(isBroad(statement)).toBe(true);
  });

  it.each([
    { Action: ['ec2:Describe*', 'iam:List*'], Resource: '*' },
    { Action: 'logs:*', Resource: 'arn:aws:logs:*:*:*' },
    { Action: 'sts:AssumeRole', Resource: `${ARN}:role/ci-*` },
    {
      Action: ['ecs:RunTask', 'iam:PassRole'],
      Resource: ['arn:aws:ecs:*:111122223333:task-definition/*', `${ARN}:role/exec`],
    },
    { Action: 's3:GetObject', Resource: 'arn:aws:s3:::logs/*' },
    { Effect: 'Deny', Action: '*', Resource: '*' },
  ])('are not broad if they only describe, or name a service or what it starts with: %j', (statement) => {
    expect(isBroad(statement)).toBe(false);
  });

  it('are wider if an update removes or narrows a denial', () => {
    const allow = { Effect: 'Allow', Action: 's3:GetObject', Resource: 'arn:aws:s3:::logs/*' };
    const deny = { Effect: 'Deny', Action: ['s3:Put*', 's3:Delete*'], Resource: '*' };
    const of = (...Statement: object[]) => ({ policy: JSON.stringify({ Statement }) });
    expect(isHeld('aws_iam_policy.p', of(allow, deny), of(allow))).toBe(true);
    expect(isHeld('aws_iam_policy.p', of(allow, deny), of(allow, { ...deny, Action: ['s3:Put*'] }))).toBe(true);
    expect(isHeld('aws_iam_policy.p', of(allow), of(deny, allow))).toBe(false);
    const control = (statement: object) => ({ content: JSON.stringify({ Statement: [statement] }) });
    expect(isHeld('aws_organizations_policy.p', control(deny), control(allow))).toBe(true);
    expect(isHeld('aws_organizations_policy.p', control(allow), control(deny))).toBe(false);
  });

  it('are read whatever the case of the names of its members', () => {
    const policy = JSON.stringify({ statement: { effect: 'Allow', action: '*', resource: '*' } });
    expect(isHeld('aws_iam_policy.p', null, { policy })).toBe(true);
  });
});

describe('a condition', () => {
  const forEveryone = (Condition: object): boolean =>
    isBroad({ Principal: { AWS: '*' }, Action: 'sqs:SendMessage', Resource: '*', Condition });

  it.each([
    { Bool: { 'aws:SecureTransport': 'true' } },
    { IpAddress: { 'aws:SourceIp': ['0.0.0.0/1', '128.0.0.0/1'] } },
    { NotIpAddress: { 'aws:SourceIp': '203.0.113.7' } },
    { StringLike: { 'aws:PrincipalArn': '*' } },
    { ArnLike: { 'aws:SourceArn': 'arn:aws:sns:*:*:*' } },
    { StringEqualsIfExists: { 'aws:SourceAccount': '111122223333' } },
    { 'ForAllValues:StringEquals': { 'aws:PrincipalOrgID': 'o-a1b2c3d4e5' } },
    { StringNotEquals: { 'aws:SourceAccount': '111122223333' } },
    { StringEquals: { 'aws:SourceAccount': [] } },
  ])('that everyone or almost everyone meets does not limit who may call: %j', (condition) => {
    expect(forEveryone(condition)).toBe(true);
  });

  it.each([
    { StringEquals: { 'AWS:SourceOwner': '111122223333' } },
    { ArnLike: { 'aws:SourceArn': 'arn:aws:sns:*:111122223333:*' } },
    { StringEquals: { 'aws:PrincipalOrgID': 'o-a1b2c3d4e5' }, Bool: { 'aws:SecureTransport': 'true' } },
    { IpAddress: { 'aws:SourceIp': '203.0.113.0/24' } },
  ])('that names the callers limits who may call: %j', (condition) => {
    expect(forEveryone(condition)).toBe(false);
  });

  it.each([
    [{ StringLike: { 'token.actions.example.com:sub': 'repo:*/*' } }, true],
    [{ StringLike: { 'token.actions.example.com:sub': 'repo:example*' } }, true],
    [{ StringLike: { 'token.actions.example.com:sub': ['repo:example/a:*', '?*'] } }, true],
    [{ StringNotLike: { 'token.actions.example.com:sub': 'repo:example/a' } }, true],
    [{ StringLike: { 'oidc.example.com:sub': 'system:serviceaccount:*:*' } }, true],
    [{ StringLike: { 'oidc.example.com:sub': 'system:serviceaccount:shop:*' } }, false],
    [{ StringLike: { 'token.actions.example.com:sub': 'repo:example/*' } }, false],
  ])('limits the subject of a token only if it names one owner: %j', (condition, broad) => {
    const statement = {
      Action: 'sts:AssumeRoleWithWebIdentity',
      Principal: { Federated: `${ARN}:oidc-provider/x` },
      Condition: condition,
    };
    expect(isBroad(statement, 'assume_role_policy')).toBe(broad);
  });

  it.each([
    [{ StringEquals: { 'sts:ExternalId': 'x7' } }, false],
    [{ Bool: { 'aws:MultiFactorAuthPresent': 'true' } }, false],
    [{ BoolIfExists: { 'aws:MultiFactorAuthPresent': 'true' } }, true],
    [{ StringLike: { 'sts:ExternalId': '*' } }, true],
  ])('limits the identities of an account only if they must prove something: %j', (condition, broad) => {
    const statement = { Action: 'sts:AssumeRole', Principal: { AWS: `${ARN}:root` }, Condition: condition };
    expect(isBroad(statement, 'assume_role_policy')).toBe(broad);
  });
});

describe('a broad role', () => {
  const ADMIN = 'arn:aws:iam::aws:policy/AdministratorAccess';
  const OWNER = '8e3af657-a8ff-443c-a75c-2fe8c4bcb635';

  it.each([
    ['google_project_iam_binding.b', { role: 'roles/owner', members: ['user:a'] }, { members: ['user:a', 'user:b'] }],
    ['aws_iam_policy_attachment.a', { policy_arn: ADMIN, users: ['a'] }, { users: ['a', 'b'] }],
    [
      'kubernetes_cluster_role_binding_v1.b',
      { role_ref: [{ name: 'cluster-admin' }], subject: [{ name: 'a' }] },
      { subject: [{ name: 'b' }] },
    ],
  ])('is found if an update gives it to someone else: %s', (address, before, changed) => {
    expect(isHeld(address, before, { ...before, ...changed })).toBe(true);
    expect(isHeld(address, before, { ...before, etag: 'x' })).toBe(false);
  });

  it('passes if an update only takes it away from someone', () => {
    const binding = { role: 'roles/owner', members: ['user:a', 'user:b'] };
    expect(isHeld('google_project_iam_binding.b', binding, { ...binding, members: ['user:a'] })).toBe(false);
  });

  it.each([
    ['aws_iam_role.r', { managed_policy_arns: [ADMIN] }],
    ['aws_iam_role_policy_attachments_exclusive.a', { policy_arns: [ADMIN] }],
    ['aws_ssoadmin_managed_policy_attachment.a', { managed_policy_arn: ADMIN }],
    ['aws_iam_role_policy_attachment.a', { policy_arn: `${ADMIN}-Amplify` }],
    ['aws_eks_access_policy_association.a', { policy_arn: 'arn:x/AmazonEKSClusterAdminPolicy' }],
    ['google_project_iam_policy.p', { policy_data: '{"bindings":[{"role":"roles/owner","members":["user:a"]}]}' }],
    ['google_storage_bucket_iam_policy.p', { policy_data: '{"bindings":[{"role":"x","members":["allUsers"]}]}' }],
    ['google_project_iam_member.m', { role: 'roles/iam.serviceAccountTokenCreator', member: 'user:a' }],
    ['google_project_iam_custom_role.r', { permissions: ['resourcemanager.projects.setIamPolicy'] }],
    ['azurerm_role_assignment.a', { role_definition_id: `/x/roleDefinitions/${OWNER}` }],
    ['azurerm_role_definition.d', { permissions: [{ actions: ['Microsoft.Authorization/*'] }] }],
    ['azuread_directory_role_assignment.a', { role_id: 'x' }],
    ['kubernetes_cluster_role_v1.r', { rule: [{ verbs: ['get', '*'] }] }],
    ['kubernetes_role.r', { rule: [{ verbs: ['impersonate'] }] }],
    ['kubernetes_manifest.m', { manifest: { kind: 'ClusterRoleBinding', roleRef: { name: 'cluster-admin' } } }],
    ['kubernetes_manifest.m', { manifest: { kind: 'ClusterRole', rules: [{ verbs: ['*'] }] } }],
    ['kubernetes_config_map_v1_data.c', { data: { mapRoles: '- groups: [system:masters]' } }],
    ['kubernetes_role_binding.b', { role_ref: [{ name: 'view' }], subject: [{ name: 'system:unauthenticated' }] }],
    ['kubectl_manifest.m', { yaml_body: 'kind: ClusterRoleBinding\nroleRef: { name: cluster-admin }\n' }],
    ['aws_eks_access_entry.e', { kubernetes_groups: ['system:masters'] }],
    ['aws_iam_group_membership.m', { group: 'admins', users: ['a'] }],
    ['aws_vpc_endpoint_service.s', { allowed_principals: ['*'] }],
    ['aws_cloudformation_stack.s', { capabilities: ['CAPABILITY_NAMED_IAM'], template_body: '{}' }],
    ['awscc_iam_role.r', { managed_policy_arns: [ADMIN] }],
    [
      'google_service_account_iam_member.m',
      { role: 'x', member: 'principalSet://iam.example.com/workloadIdentityPools/p/*' },
    ],
    ['azurerm_pim_eligible_role_assignment.a', { role_definition_id: `/x/roleDefinitions/${OWNER}` }],
    ['azapi_resource.r', { type: 'Microsoft.Authorization/roleAssignments@2022-04-01' }],
    ['vault_kubernetes_auth_backend_role.r', { bound_service_account_names: ['*'] }],
    ['vault_policy.p', { policy: 'path "secret/data/*" { capabilities = ["read"] }' }],
    ['github_repository_collaborator.c', { permission: 'admin' }],
    ['vault_policy.p', { policy: 'path "sys/*" { capabilities = ["update"] }' }],
    ['vault_policy.p', { policy: 'path "secret/x" { capabilities = ["sudo"] }' }],
  ])('is found in each form in which a provider grants it: %s with %j', (address, after) => {
    expect(isHeld(address, null, after)).toBe(true);
  });

  it.each([
    ['google_service_account_iam_member.m', { role: 'roles/iam.serviceAccountTokenCreator', member: 'user:a' }],
    ['azurerm_role_assignment.a', { role_definition_name: 'Reader', role_definition_id: null }],
    ['kubernetes_manifest.m', { manifest: { kind: 'Deployment', spec: {} } }],
    ['kubernetes_role.r', { rule: [{ verbs: ['get', 'list'] }] }],
    ['aws_cloudformation_stack.s', { capabilities: [], template_body: '{}' }],
    ['kubectl_manifest.m', { yaml_body: 'kind: Service\n' }],
    ['vault_policy.p', { policy: 'path "secret/data/shop/*" { capabilities = ["read"] }' }],
  ])('is not seen in a narrow grant: %s with %j', (address, after) => {
    expect(isHeld(address, null, after)).toBe(false);
  });

  it.each([
    ['google_project_iam_binding.b', { role: 'roles/viewer', members: [null] }, { members: [true] }],
    ['kubernetes_cluster_role.r', {}, { rule: true }],
    ['kubernetes_cluster_role_binding.b', {}, { role_ref: true }],
    ['azurerm_role_assignment.a', {}, { role_definition_id: true }],
    ['google_project_iam_policy.p', {}, { policy_data: true }],
    ['github_team_repository.r', {}, { permission: true }],
  ])('is undecided if the plan hides it: %s', (address, after, unknown) => {
    expect(isHeld(address, null, after, unknown)).toBe(true);
  });
});

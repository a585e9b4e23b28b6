import type { Hit } from '../../../policy/rules/hit';
import { wordList } from '../../../policy/text/word-list';
import type { TerraformResource } from '../facts/terraform-facts';
import { atResource, undecided } from './define-terraform-rule';
import { hiddenBelow, isUnchanged, itemsNotIn, itemsOf, member, memberAt, textsOf, valueAt, type Path } from './values';

/** Verbs that allow everything, or taking over the rights of others. */
const BROAD_VERBS = new Set(wordList('* escalate bind impersonate'));

/** Hits for roles and bindings of Kubernetes, except for a binding of a well-known role by its name. */
export function kubernetesHits(r: TerraformResource): readonly Hit[] {
  return [...ruleHits(r), ...subjectHits(r)];
}

function ruleHits(r: TerraformResource): readonly Hit[] {
  if (r.type === 'kubernetes_manifest') return manifestHits(r);
  if (r.type === 'kubectl_manifest') return yamlHits(r);
  if (!/^kubernetes_(?:cluster_)?role(?:_v1)?$/.test(r.type)) return [];
  const why = hiddenBelow(r, ['rule']);
  return why === null ? verbHits(r, ['rule']) : [atResource(r, undecided('its rule', why))];
}

/** Groups of everyone who can reach the API, or of every program in the cluster. */
const EVERY_SUBJECT = /^system:(?:anonymous|unauthenticated|authenticated|serviceaccounts$)/;

function subjectHits(r: TerraformResource): readonly Hit[] {
  if (!/^kubernetes_(?:cluster_)?role_binding(?:_v1)?$/.test(r.type)) return [];
  return itemsNotIn(itemsOf(memberAt(r.after, ['subject'])), itemsOf(memberAt(r.before, ['subject']))).flatMap(
    (subject) =>
      textsOf(member(subject, 'name'))
        .filter((name) => EVERY_SUBJECT.test(name))
        .map((name) => atResource(r, `binds a role to ${name}`)),
  );
}

/** Hits for the rules at a path of a role. */
function verbHits(r: TerraformResource, path: Path): readonly Hit[] {
  return itemsOf(memberAt(r.after, path)).flatMap((rule, i) => {
    const verb = textsOf(member(rule, 'verbs')).find((name) => BROAD_VERBS.has(name));
    if (verb === undefined) return [];
    const what = verb === '*' ? 'allows every verb' : `allows the verb ${verb}`;
    return [atResource(r, what, [...path, i, 'verbs'])];
  });
}

/** Hits for roles and bindings that are written as a manifest. */
function manifestHits(r: TerraformResource): readonly Hit[] {
  // Both are hidden if the plan hides the whole manifest.
  const kind = valueAt(r, ['manifest', 'kind']);
  if (kind.state === 'hidden') return [atResource(r, undecided('its manifest', kind.why))];
  const role = valueAt(r, ['manifest', 'roleRef', 'name']);
  if (role.state === 'hidden') return [atResource(r, undecided('its manifest', role.why))];
  if (role.state === 'known' && role.value === 'cluster-admin')
    return [atResource(r, 'binds cluster-admin', ['manifest', 'roleRef', 'name'])];
  const isRole = kind.state === 'known' && /^(?:Cluster)?Role$/.test(String(kind.value));
  return isRole ? verbHits(r, ['manifest', 'rules']) : [];
}

/** Hits for a role or binding in a manifest as text, which is not read further. */
function yamlHits(r: TerraformResource): readonly Hit[] {
  const path = ['yaml_body'];
  const value = valueAt(r, path);
  if (value.state === 'hidden') return [atResource(r, undecided('its yaml_body', value.why))];
  if (value.state === 'absent' || isUnchanged(r, path)) return [];
  return /\b(?:Cluster)?Role(?:Binding)?\b/.test(String(value.value))
    ? [atResource(r, 'contains a role or binding', path)]
    : [];
}

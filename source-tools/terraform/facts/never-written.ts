import type { JsonObject, JsonValue } from '../../../policy/contracts/canonical-json';
import { refuse } from '../../../policy/text/refusal';
import { containsTrue, sameJson } from './masks';
import type { TerraformAction } from './terraform-facts';

/** Refuses changes that Terraform never writes, so that none can pass as something that apply does not do. */
export function refuseNeverWritten(item: JsonObject, change: JsonObject, action: TerraformAction): void {
  if (item['mode'] === 'data' && action !== 'read' && action !== 'no-op')
    refuse('invalid_document', `Expected a data source to have the action "read" or "no-op", got "${action}"`, null);
  if (item['mode'] === 'managed' && action === 'read')
    refuse('invalid_document', 'Expected only a data source to have the action "read"', null);
  const isAbsent = (name: string): boolean => (change[name] ?? null) === null;
  if (action === 'create' && !isAbsent('before'))
    refuse('invalid_document', 'Expected "before" of a resource with the action "create" to be null', null);
  if (action === 'update' && isAbsent('before'))
    refuse('invalid_document', 'Expected "before" of a resource with the action "update" to be an object', null);
  if (action === 'no-op' && !isUnchanged(change))
    refuse('invalid_document', 'Expected a resource with the action "no-op" to be the same before and after', null);
}

/** Refuses a resource whose type, by which rules find it, is not that of its address; `address` has no keys. */
export function refuseOtherType(address: string, type: string): void {
  const named = address.split('.').at(-2);
  if (named !== type) refuse('invalid_document', 'Expected the "type" of a resource to be that of its "address"', null);
}

/** Whether a change of a resource or of an output leaves the value as it is. */
export function isUnchanged(change: JsonObject): boolean {
  const value = (name: string): JsonValue => change[name] ?? null;
  return sameJson(value('before'), value('after')) && !containsTrue(value('after_unknown'));
}

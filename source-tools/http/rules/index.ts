import type { PackRule } from '../../../policy/rules/rule-maker';
import { authHeader, overrideHeader, tenantHeader } from './headers';
import {
  contentTypeMismatch,
  idempotencyKey,
  noEffect,
  opaqueBody,
  patchInvalid,
  prototypePollution,
} from './messages';
import { bulk, nullDelete, protectedPointer, remove, rootReplaced, testRequired } from './pointers';
import { privilegeFields } from './privileges';
import { privateCopy, privateLink } from './private';
import { securitySetting } from './security';
import { unlistedRequest } from './unlisted';
import { httpParse, methodPathScope, plainText, privateTarget, urlAmbiguous } from './target';

/** In catalogue order, which is also the order of findings. */
export const httpPatchRules: readonly PackRule[] = [
  httpParse,
  methodPathScope,
  unlistedRequest,
  urlAmbiguous,
  privateTarget,
  patchInvalid,
  protectedPointer,
  rootReplaced,
  nullDelete,
  testRequired,
  authHeader,
  overrideHeader,
  tenantHeader,
  privilegeFields,
  privateCopy,
  privateLink,
  securitySetting,
  bulk,
  contentTypeMismatch,
  opaqueBody,
  prototypePollution,
  idempotencyKey,
  plainText,
  remove,
  noEffect,
];

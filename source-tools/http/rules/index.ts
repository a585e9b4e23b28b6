import type { PackRule } from '../../../policy/rules/rule-maker';
import {
  authHeader,
  contentTypeMismatch,
  idempotencyKey,
  noEffect,
  opaqueBody,
  overrideHeader,
  patchInvalid,
  prototypePollution,
  tenantHeader,
} from './messages';
import { bulk, nullDelete, protectedPointer, remove, rootReplaced, testRequired, unknownFields } from './pointers';
import { privilegeFields } from './privileges';
import { privateCopy, privateLink } from './private';
import { administrativePath, securitySetting } from './administration';
import { deleteMethod, httpParse, methodPathScope, plainText, privateTarget, urlAmbiguous } from './target';

/** In catalogue order, which is also the order of findings. */
export const httpPatchRules: readonly PackRule[] = [
  httpParse,
  methodPathScope,
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
  administrativePath,
  securitySetting,
  bulk,
  unknownFields,
  contentTypeMismatch,
  opaqueBody,
  prototypePollution,
  idempotencyKey,
  deleteMethod,
  plainText,
  remove,
  noEffect,
];

import type { PackRule } from '../../../policy/rules/rule-maker';
import { blastRadius, deletionProtection, destroy, protectedResource, replace } from './destroy';
import { expiry } from './expiry';
import { iamWidening } from './iam';
import { openEgress, openIngress } from './network';
import { drift, forget, format, imports, noOp, sensitive, terraformParse, unreadMember } from './plan';
import { publicAccess } from './public-access';
import { dnsChanged, outsideConnection, remoteScript } from './reach';
import { allowedValues, requiredTags, unknownAfterApply } from './settings';
import { externalData, provisioner, sourcePin } from './sources';
import { loggingOff, protectionOff } from './switched-off';
import { unlistedChange } from './unlisted';

/** In catalogue order, which is also the order of findings. */
export const terraformPlanRules: readonly PackRule[] = [
  terraformParse,
  format,
  unreadMember,
  unlistedChange,
  destroy,
  replace,
  protectedResource,
  deletionProtection,
  expiry,
  blastRadius,
  iamWidening,
  openIngress,
  openEgress,
  publicAccess,
  outsideConnection,
  dnsChanged,
  remoteScript,
  loggingOff,
  protectionOff,
  unknownAfterApply,
  sensitive,
  provisioner,
  externalData,
  sourcePin,
  imports,
  forget,
  requiredTags,
  allowedValues,
  drift,
  noOp,
];

import type { PackRule } from '../../../policy/rules/rule-maker';
import { ciUntrustedCheckout, dangerousCi } from './ci';
import { dependencyChange, dependencyUpdate } from './dependencies';
import { binary, mode, symlinkEscape } from './modes';
import { gitAmbiguous, gitParse, gitUnreadable } from './parse';
import { pathScope, pathTraversal, policyChange, protectedPaths } from './paths';
import { generatedEdit, licenceChange, size, vendoredTree } from './size';
import { testWeakening } from './tests';
import { trojanSource } from './trojan-source';

/** In catalogue order, which is also the order of findings. */
export const gitDiffRules: readonly PackRule[] = [
  gitParse,
  gitAmbiguous,
  gitUnreadable,
  pathTraversal,
  mode,
  symlinkEscape,
  protectedPaths,
  policyChange,
  pathScope,
  size,
  binary,
  trojanSource,
  testWeakening,
  dependencyChange,
  dependencyUpdate,
  ciUntrustedCheckout,
  dangerousCi,
  vendoredTree,
  generatedEdit,
  licenceChange,
];

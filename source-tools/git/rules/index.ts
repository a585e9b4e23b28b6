import type { PackRule } from '../../../policy/rules/rule-maker';
import { ciUntrustedCheckout, dangerousCi } from './ci';
import { dependencyChange, dependencyUpdate } from './dependencies';
import { generatedEdit, licenceChange, vendoredTree } from './foreign-files';
import { binary, mode, symlinkEscape } from './modes';
import { gitAmbiguous, gitParse, gitUnreadable } from './parse';
import { pathTraversal } from './path-traversal';
import { pathScope, policyChange, protectedPaths } from './paths';
import { size } from './size';
import { testWeakening } from './tests';
import { trojanSource } from './trojan-source';
import { unlistedFile } from './unlisted';

/** In catalogue order, which is also the order of findings. */
export const gitDiffRules: readonly PackRule[] = [
  gitParse,
  gitAmbiguous,
  gitUnreadable,
  pathTraversal,
  mode,
  symlinkEscape,
  protectedPaths,
  unlistedFile,
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

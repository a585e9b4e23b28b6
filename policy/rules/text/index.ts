import type { ValidatorDefinition } from '../define';
import type { PackRule } from '../rule-maker';
import { textBidi, textControl, textHomoglyph, textInvalidUtf8, textInvisible } from './rules';

export const textRules: readonly PackRule[] = [textBidi, textInvisible, textControl, textHomoglyph, textInvalidUtf8];

export const textPack: readonly ValidatorDefinition[] = textRules.map((rule) => rule.definition);

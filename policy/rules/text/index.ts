import type { PackRule } from '../rule-maker';
import { textBidi, textControl, textHomoglyph, textInvalidUtf8, textInvisible } from './rules';

export const textRules: readonly PackRule[] = [textBidi, textInvisible, textControl, textHomoglyph, textInvalidUtf8];

import type { Pack } from '../pack';
import { textBidi, textControl, textHomoglyph, textInvalidUtf8, textInvisible } from './rules';

export const textPack: Pack = {
  name: 'text',
  about: 'Characters that make text look other than it is, in what a change of any tool adds.',
  rules: [textBidi, textInvisible, textControl, textHomoglyph, textInvalidUtf8],
};

import type { Pack } from '../pack';
import { textBidi, textControl, textHomoglyph, textInvalidUtf8, textInvisible } from './rules';

export const textPack: Pack = {
  name: 'text',
  about: 'Characters that make added text look different from what a machine reads, for every source tool.',
  rules: [textBidi, textInvisible, textControl, textHomoglyph, textInvalidUtf8],
};

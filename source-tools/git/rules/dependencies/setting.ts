export const SETTING = 'is a setting of a tool, which can load or run code';

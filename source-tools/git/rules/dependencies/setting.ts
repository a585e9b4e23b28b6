export const SETTING = 'is a setting of a tool, which can load or run code';
export const MOVES = 'moves the lines below into another object, list or table, or out of one';
export const COMMAND = 'can be a command that does more than build, test, check or format';

import { parseSync, transformSync } from '@swc/core';

/** A node of the syntax tree. Functions of accessors and methods have no `type`. */
export interface Node {
  readonly type?: string;
  readonly [key: string]: unknown;
}

/** The statements of a module without its types. The printer in between gives equal literals one spelling. */
export function parseModule(path: string, text: string): readonly Node[] {
  const { code } = transformSync(text, {
    filename: path,
    swcrc: false,
    configFile: false,
    minify: true,
    jsc: { target: 'es2023', parser: { syntax: 'typescript' }, minify: { compress: false, mangle: false } },
  });
  return parseSync(code, { syntax: 'ecmascript', target: 'es2023' }).body as unknown as readonly Node[];
}

export const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const nodes = (value: unknown): readonly Node[] => (Array.isArray(value) ? value.filter(isNode) : []);

/** Text of an identifier or of a string: names of imports and exports may be written as either. */
export const textOf = (value: unknown): string => (isNode(value) ? String(value['value']) : '');

/** Names that a pattern declares, in their order. */
export function namesOf(pattern: unknown): readonly string[] {
  if (!isNode(pattern)) return [];
  switch (pattern.type) {
    case 'Identifier':
      return [textOf(pattern)];
    case 'ObjectPattern':
      return nodes(pattern['properties']).flatMap(namesOf);
    case 'ArrayPattern':
      return nodes(pattern['elements']).flatMap(namesOf);
    case 'KeyValuePatternProperty':
      return namesOf(pattern['value']);
    case 'AssignmentPatternProperty':
      return namesOf(pattern['key']);
    case 'AssignmentPattern':
      return namesOf(pattern['left']);
    case 'RestElement':
      return namesOf(pattern['argument']);
    case 'Parameter':
      return namesOf(pattern['pat']);
    default:
      return [];
  }
}

/** Names that a variable declaration, a function or a class declares in the block in which it is written. */
export function declaredBy(statement: unknown): readonly string[] {
  if (!isNode(statement)) return [];
  if (statement.type === 'FunctionDeclaration' || statement.type === 'ClassDeclaration')
    return namesOf(statement['identifier']);
  if (statement.type === 'VariableDeclaration')
    return nodes(statement['declarations']).flatMap((declarator) => namesOf(declarator['id']));
  return [];
}

/** Names of `var` anywhere in a function, which belong to its whole body; nested functions keep theirs. */
export function hoistedIn(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(hoistedIn);
  if (!isNode(value) || 'params' in value) return [];
  const own = value.type === 'VariableDeclaration' && value['kind'] === 'var' ? declaredBy(value) : [];
  return [...own, ...Object.values(value).flatMap(hoistedIn)];
}

/** True if the subtree has a node that passes. */
export function someNode(value: unknown, test: (node: Node) => boolean): boolean {
  if (Array.isArray(value)) return value.some((item) => someNode(item, test));
  if (!isNode(value)) return false;
  return test(value) || Object.values(value).some((item) => someNode(item, test));
}

/**
 * A digest of what a declaration and all that it reaches do. It depends on the syntax tree alone: names of locals and
 * top-level declarations, types, comments, layout and places of files do not count. Operators, literals, names of
 * properties, order, globals and what is imported from packages count.
 */
import { createHash } from 'node:crypto';
import { dirname, join } from 'node:path/posix';
import { declarationText, type Meaning } from './declaration-text';
import { SourceFile, type Bound, type Declaration } from './source-file';
import { isNode, someNode, textOf, type Node } from './syntax';

/** The text of a file, or undefined if there is none. */
export type FileReader = (path: string) => string | undefined;

interface Written {
  readonly sha: string;
  readonly references: readonly Bound[];
}

export class SourceDigest {
  readonly #read: FileReader;
  readonly #files = new Map<string, SourceFile | null>();
  readonly #written = new Map<Declaration, Written>();

  constructor(read: FileReader) {
    this.#read = read;
  }

  /** Of exported values, in the order given. Re-exports are followed. */
  ofExports(roots: readonly (readonly [path: string, name: string])[]): string {
    return this.#digest(
      roots.map(([path, name]) => {
        const meaning = this.#exported(path, name);
        if (typeof meaning === 'string') throw new Error(`${path}: "${name}" comes from a package`);
        return meaning.target;
      }),
    );
  }

  /** Of the one top-level declaration in the files that defines the rule of this name. */
  ofRule(name: string, paths: readonly string[]): string {
    const mayName = paths.filter((path) => this.#read(path)?.includes(name));
    const found = [isDefinition, isMakerCall].map((test) =>
      mayName.flatMap((path) =>
        this.#file(path)
          .declarations.filter(({ node }) => someNode(node, (inner) => test(inner, name)))
          .map((declaration) => ({ path, declaration })),
      ),
    );
    const [definitions = [], calls = []] = found;
    const chosen = definitions.length > 0 ? definitions : calls;
    const [one] = chosen;
    if (one === undefined || chosen.length > 1)
      throw new Error(
        `expected one top-level declaration that defines '${name}', got ${chosen.length}: ${chosen.map(({ path }) => path).join(', ')}`,
      );
    return this.#digest([{ declaration: one.declaration, index: 0 }]);
  }

  /** Depth first: a declaration's number is the order of its visit, and every reference to it is that number. */
  #digest(roots: readonly Bound[]): string {
    const numbers = new Map<Declaration, number>();
    const lines: string[] = [];
    const numbered = ({ declaration, index }: Bound): string => `${visit(declaration)}.${index}`;
    const visit = (declaration: Declaration): number => {
      const known = numbers.get(declaration);
      if (known !== undefined) return known;
      const number = numbers.size;
      numbers.set(declaration, number);
      const { sha, references } = this.#writtenOf(declaration);
      lines[number] = `${sha} ${references.map(numbered).join(' ')}`;
      // A module's statements run before any of its declarations is used.
      for (const effect of declaration.file.effects) visit(effect);
      return number;
    };
    const first = roots.map(numbered);
    return createHash('sha256')
      .update([first.join(' '), ...lines].join('\n'))
      .digest('hex');
  }

  #writtenOf(declaration: Declaration): Written {
    const known = this.#written.get(declaration);
    if (known !== undefined) return known;
    const { file, node } = declaration;
    const { text, references } = declarationText<Bound>(node, {
      meaningOf: (name) => this.#meaning(file, name),
      moduleAt: (specifier) => this.#imported(file.path, specifier, '*'),
    });
    const written = { sha: createHash('sha256').update(text).digest('hex'), references };
    this.#written.set(declaration, written);
    return written;
  }

  #meaning(file: SourceFile, name: string): Meaning<Bound> {
    const own = file.declared.get(name);
    if (own !== undefined) return { target: own };
    const from = file.imports.get(name);
    return from === undefined ? `global:${name}` : this.#imported(file.path, from.specifier, from.name);
  }

  #imported(from: string, specifier: string, name: string): Meaning<Bound> {
    if (!specifier.startsWith('.')) return `package:${JSON.stringify([specifier, name])}`;
    const path = this.#resolve(from, specifier);
    if (name !== '*') return this.#exported(path, name);
    return { target: { declaration: this.#file(path).whole(), index: 0 } };
  }

  #exported(path: string, name: string): Meaning<Bound> {
    const meaning = this.#exportedIn(path, name, new Set());
    if (meaning === undefined) throw new Error(`${path} does not export "${name}"`);
    return meaning;
  }

  #exportedIn(path: string, name: string, seen: Set<string>): Meaning<Bound> | undefined {
    if (seen.has(path)) return undefined;
    seen.add(path);
    const file = this.#file(path);
    const own = file.exports.get(name);
    if (own !== undefined)
      return own.specifier === null ? this.#meaning(file, own.name) : this.#imported(path, own.specifier, own.name);
    for (const specifier of file.stars) {
      const found = specifier.startsWith('.')
        ? this.#exportedIn(this.#resolve(path, specifier), name, seen)
        : undefined;
      if (found !== undefined) return found;
    }
    return undefined;
  }

  #resolve(from: string, specifier: string): string {
    const target = join(dirname(from), specifier);
    const found = [`${target}.ts`, join(target, 'index.ts'), target, target.replace(/\.js$/, '.ts')].find(
      (path) => /\.(?:ts|json)$/.test(path) && this.#maybe(path) !== null,
    );
    if (found === undefined) throw new Error(`${from} imports "${specifier}", which is not there`);
    return found;
  }

  #file(path: string): SourceFile {
    const file = this.#maybe(path);
    if (file === null) throw new Error(`${path} is not there`);
    return file;
  }

  #maybe(path: string): SourceFile | null {
    const known = this.#files.get(path);
    if (known !== undefined) return known;
    const text = this.#read(path);
    const file = text === undefined ? null : new SourceFile(path, text);
    this.#files.set(path, file);
    return file;
  }
}

const isText = (node: unknown, text: string): boolean =>
  isNode(node) && node.type === 'StringLiteral' && textOf(node) === text;

/** `name: 'x'` or `implementation: 'x'`. */
function isDefinition(node: Node, name: string): boolean {
  return (
    node.type === 'KeyValueProperty' &&
    ['name', 'implementation'].includes(textOf(node['key'])) &&
    isText(node['value'], name)
  );
}

/** `make('x', …)`: a file's own function that makes several rules. */
function isMakerCall(node: Node, name: string): boolean {
  if (node.type !== 'CallExpression' || !isNode(node['callee']) || node['callee'].type !== 'Identifier') return false;
  const [first] = node['arguments'] as readonly Node[];
  return isText(first?.['expression'], name);
}

import { declaredBy, namesOf, nodes, parseModule, textOf, type Node } from './syntax';

/** One top-level declaration, or one statement that runs when the module is loaded. */
export interface Declaration {
  readonly file: SourceFile;
  readonly node: Node;
}

/** A name of a declaration: the n-th that it declares. */
export interface Bound {
  readonly declaration: Declaration;
  readonly index: number;
}

/** Something by its name in this file, or by what another module exports; `*` is the whole module. */
export interface From {
  readonly specifier: string | null;
  readonly name: string;
}

/** What a module declares, imports, exports and does when it is loaded. */
export class SourceFile {
  readonly declarations: Declaration[] = [];
  readonly effects: Declaration[] = [];
  readonly declared = new Map<string, Bound>();
  readonly imports = new Map<string, { readonly specifier: string; readonly name: string }>();
  readonly exports = new Map<string, From>();
  readonly stars: string[] = [];
  #whole: Declaration | null = null;

  constructor(
    readonly path: string,
    text: string,
  ) {
    if (path.endsWith('.json')) this.#json(text);
    else for (const statement of parseModule(path, text)) this.#statement(statement);
  }

  /** Every export under its name, for an import of the whole module. */
  whole(): Declaration {
    if (this.stars.length > 0)
      throw new Error(`${this.path} is imported whole and has "export *", which is not read here`);
    this.#whole ??= {
      file: this,
      node: {
        type: 'ObjectExpression',
        properties: [...this.exports].sort().map(([name, { specifier, name: local }]) => {
          if (specifier !== null) this.imports.set(`${specifier}#${local}`, { specifier, name: local });
          const value = specifier === null ? local : `${specifier}#${local}`;
          return { type: 'KeyValueProperty', key: identifier(name), value: identifier(value) };
        }),
      },
    };
    return this.#whole;
  }

  #statement(statement: Node): void {
    switch (statement.type) {
      case 'ImportDeclaration':
        return this.#import(statement);
      case 'ExportDeclaration':
        for (const name of this.#declare(statement['declaration'] as Node))
          this.exports.set(name, { specifier: null, name });
        return;
      case 'ExportNamedDeclaration':
        return this.#reexport(statement);
      case 'ExportAllDeclaration':
        this.stars.push(textOf(statement['source']));
        return;
      case 'ExportDefaultDeclaration':
      case 'ExportDefaultExpression':
        throw new Error(`${this.path} has a default export, which is not read here`);
      case 'FunctionDeclaration':
      case 'ClassDeclaration':
      case 'VariableDeclaration':
        this.#declare(statement);
        return;
      default:
        if (statement.type !== 'EmptyStatement') this.effects.push({ file: this, node: statement });
    }
  }

  #declare(node: Node): readonly string[] {
    if (node.type !== 'VariableDeclaration') return this.#bind(node, declaredBy(node));
    // Each variable by itself: it can move without its neighbours.
    return nodes(node['declarations']).flatMap((declarator) =>
      this.#bind({ type: 'VariableDeclaration', kind: node['kind'], declarator }, namesOf(declarator['id'])),
    );
  }

  #bind(node: Node, names: readonly string[]): readonly string[] {
    const declaration = { file: this, node };
    this.declarations.push(declaration);
    names.forEach((name, index) => this.declared.set(name, { declaration, index }));
    return names;
  }

  #import(statement: Node): void {
    const specifier = textOf(statement['source']);
    const specifiers = nodes(statement['specifiers']);
    for (const one of specifiers) {
      const local = textOf(one['local']);
      const name =
        one.type === 'ImportNamespaceSpecifier'
          ? '*'
          : one.type === 'ImportDefaultSpecifier'
            ? 'default'
            : textOf(one['imported'] ?? one['local']);
      this.imports.set(local, { specifier, name });
    }
    // Nothing is named, so it is loaded for what it does.
    if (specifiers.length === 0) {
      const source = { type: 'StringLiteral', value: specifier };
      const node = { type: 'CallExpression', callee: { type: 'Import' }, arguments: [{ expression: source }] };
      this.effects.push({ file: this, node });
    }
  }

  #reexport(statement: Node): void {
    const specifier = statement['source'] ? textOf(statement['source']) : null;
    for (const one of nodes(statement['specifiers'])) {
      if (one.type === 'ExportNamespaceSpecifier') this.exports.set(textOf(one['name']), { specifier, name: '*' });
      else this.exports.set(textOf(one['exported'] ?? one['orig']), { specifier, name: textOf(one['orig']) });
    }
  }

  #json(text: string): void {
    const value = { type: 'StringLiteral', value: JSON.stringify(JSON.parse(text)) };
    this.#bind(value, ['default']);
    this.exports.set('default', { specifier: null, name: 'default' });
  }
}

const identifier = (value: string): Node => ({ type: 'Identifier', value });

import { tokensOf } from '../../../policy/text/json-pointer';

interface Node {
  listed: boolean;
  readonly children: Map<string, Node>;
}

/** A list of JSON pointers in which a location is found without comparing it with each of them. `*` matches any one token. */
export class PointerTree {
  readonly #root: Node = { listed: false, children: new Map() };

  constructor(pointers: readonly string[]) {
    for (const pointer of pointers) this.#add(tokensOf(pointer) ?? []);
  }

  #add(tokens: readonly string[]): void {
    let node = this.#root;
    for (const token of tokens) {
      const next = node.children.get(token) ?? { listed: false, children: new Map<string, Node>() };
      node.children.set(token, next);
      node = next;
    }
    node.listed = true;
  }

  /** Whether the location is at or below one of the pointers. */
  covers(tokens: readonly string[]): boolean {
    let nodes: readonly Node[] = [this.#root];
    for (const token of tokens) {
      if (nodes.length === 0) return false;
      if (nodes.some(({ listed }) => listed)) return true;
      nodes = nodes.flatMap(({ children }) => {
        const found = token === '*' ? [children.get('*')] : [children.get(token), children.get('*')];
        return found.filter((node) => node !== undefined);
      });
    }
    return nodes.some(({ listed }) => listed);
  }
}

import { wordSet } from '../../../../policy/text/word-list';
import type { NameParts } from './name-parts';

/** JavaScript without markup, which most tools of the web run. */
export const SCRIPT = wordSet('js cjs mjs ts cts mts');
const RUN_BY_FRAMEWORKS = wordSet('rb php');
const OTHER_INTERPRETED = wordSet('py pyi lua pm r jl clj cljs cljc coffee gd exs groovy');
const COMPONENTS = wordSet('jsx tsx vue svelte astro mdx');
const COMPILED = wordSet(`
  go rs java kt scala swift c h cc cpp cxx hh hpp hxx inl m mm cs fs fsi vb dart ex erl hrl elm hs lhs ml mli pas zig
  nim cr d f90 f95 adb ads cu cuh glsl vert frag comp hlsl wgsl metal sol purs re res resi v sv vhd vhdl qml xaml axaml
  proto graphql gql thrift fbs capnp
`);

/**
 * How far a file can take effect alone. Scripts are run one by one, and most frameworks of Ruby and PHP run all files of some
 * folders. Components are parts of a page. What is compiled takes effect only as a part of its program.
 */
export type Language = 'script' | 'framework' | 'component' | 'compiled';

export function languageOf({ extension }: NameParts): Language | null {
  if (RUN_BY_FRAMEWORKS.has(extension)) return 'framework';
  if (SCRIPT.has(extension) || OTHER_INTERPRETED.has(extension)) return 'script';
  if (COMPONENTS.has(extension)) return 'component';
  return COMPILED.has(extension) ? 'compiled' : null;
}

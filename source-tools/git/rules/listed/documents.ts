import type { PathName } from '../../../../policy/text/glob';
import { wordSet } from '../../../../policy/text/word-list';
import { isLicenceFile } from '../licences';
import { wordsOf, type NameParts } from './name-parts';
import { loadedFolder } from './places';

const DOCUMENTS = wordSet('md markdown rst adoc asciidoc org tex bib textile rdoc pod feature');
const DOC_FOLDERS = wordSet('doc docs documentation man');
/** Words of texts that package managers, builds or servers read, also among documents. */
const READ_BY_TOOLS = wordSet(
  'requirements requirement reqs constraints pip rtd llms llm cmakelists conanfile robots ads runtime packages deps dependencies manifest version',
);
/** Documents that have no extension, or the extension `txt`, outside the folders of documents. */
const KNOWN = wordSet(`
  readme changelog changes history news authors contributors contributing thanks acknowledgements todo upgrading
  upgrade faq release-notes releasenotes
`);

/**
 * One of these is in the name of a document in capitals that people read. AI agents look for names in capitals too, and each new
 * agent for another one (https://agents.md/).
 */
const KNOWN_IN_CAPITALS = wordSet(`
  readme changelog changes history news authors contributors contributing thanks acknowledgements acknowledgments credits todo
  upgrading upgrade faq notes release releases releasing roadmap migration migrating security conduct support governance
  maintainers maintaining development hacking building install installing installation architecture design testing
  troubleshooting glossary guide template index charter
`);
/** Words of files and folders from which AI agents take instructions. */
const AGENT_WORDS = wordSet(`
  agent agents prompt prompts skill skills instruction instructions persona personas subagent subagents chatmode
  chatmodes claude gemini copilot cursor codex windsurf cline aider devin jules llm llms ai convention conventions command
  commands rule rules memory memories steering guardrail guardrails soul heartbeat microagent microagents openspec
`);
/** Names of products are often those of packages too, whose folder of documents people read. */
const NOT_ABOVE_DOCS = wordSet('ai');

const FOR_AGENTS = 'has a name or folder from which AI agents take instructions';

const STYLES_AND_PAGES = wordSet('html htm xhtml css scss sass less styl pcss heex templ gohtml cshtml vbhtml razor');
/** Templates of pages; their inner extension, if any, is that of the result: `mail.html.twig`, `nginx.conf.twig`. */
const PAGE_TEMPLATES = wordSet('hbs handlebars ejs pug haml slim liquid njk twig');
/** Templates of anything. */
const TEMPLATES = wordSet('erb j2 jinja jinja2 tmpl tpl gotmpl mustache eex leex');
const RESULTS = wordSet('html htm xhtml txt text md css mjml');

/** For which the extension alone says that the file is a document. */
export const isDocument = ({ extension }: NameParts): boolean => DOCUMENTS.has(extension);

export const isText = (parts: NameParts): boolean =>
  isDocument(parts) || parts.extension === 'txt' || (parts.extension === '' && KNOWN.has(parts.stem));

/** Why a person sees a document; null for an ordinary one. */
export function documentReason(name: PathName, parts: NameParts): string | null {
  if (isLicenceFile(name)) return 'contains license terms';
  if (!isDocument(parts) && loadedFolder(name) !== null) return 'is in a folder from which tools take all files';
  const isNamedForAgents = [parts.stem, ...parts.words].some(isAgentWord);
  if (parts.inner.some(hasAgentWord) || (isNamedForAgents && isInstruction(name, parts))) return FOR_AGENTS;
  const isForAgents = isNamedForAgents || name.folders.some(hasAgentWord);
  // `agent/CHANGELOG.md` is that of a package; `commands/upgrade.md` is a command.
  if (KNOWN.has(parts.stem) && (!isForAgents || isInCapitals(name))) return null;
  const docs = name.folders.findIndex((folder) => DOC_FOLDERS.has(folder));
  if (
    parts.extension === 'txt' &&
    (docs === -1 || [parts.stem, ...parts.words].some((word) => READ_BY_TOOLS.has(word)))
  )
    return 'is a text outside the documents, which a tool can read as a list or as settings';
  // Below a folder of agents, a folder of documents is read by agents too: `commands/docs/publish.md`.
  if (docs === -1 ? isForAgents : name.folders.slice(0, docs).some(isAboveDocs)) return FOR_AGENTS;
  if (docs !== -1 || parts.words.some((word) => KNOWN_IN_CAPITALS.has(word))) return null;
  if (isInCapitals(name)) return 'has a name in capitals, as files from which AI agents take instructions';
  return isInRoot(name) ? 'is in the root, where AI agents look for instructions, and has no usual name' : null;
}

/** Also among documents: `docs/copilot-instructions.md`, `docs/SOUL.md`. */
const isInstruction = (name: PathName, { words }: NameParts): boolean =>
  isInCapitals(name) || (words.length > 1 && /^(?:instructions?|prompts?|rules?)$/.test(words.at(-1) ?? ''));

/** The root of the tree, and that of the settings of GitHub. */
const isInRoot = ({ folders }: PathName): boolean => folders.length === 0 || folders.join('/') === '.github';

const isAboveDocs = (folder: string): boolean => isAgentWord(folder) && !NOT_ABOVE_DOCS.has(folder);
const isAgentWord = (word: string): boolean => AGENT_WORDS.has(word);
const hasAgentWord = (name: string): boolean => wordsOf(name).some(isAgentWord);

/** `CONVENTIONS.md`, but not `Guide.md`. */
const isInCapitals = ({ path }: PathName): boolean => /(?:^|\/)\p{Lu}[\p{Lu}\p{N}_-]+(?:\.[^/]*)?$/u.test(path);

export function isPage({ extension, inner }: NameParts): boolean {
  if (STYLES_AND_PAGES.has(extension)) return !inner.includes('min');
  const result = inner.at(-1);
  if (result === undefined) return PAGE_TEMPLATES.has(extension);
  return (PAGE_TEMPLATES.has(extension) || TEMPLATES.has(extension)) && RESULTS.has(result);
}

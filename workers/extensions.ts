import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import type { SourceTool, SourceToolRegistry } from '../policy/contracts/source-tool';
import { packDefinitions, SOURCE_TOOLS } from '../source-tools';
import { requireDefinedTool, sourceToolRegistry } from '../source-tools/define';
import type { ValidatorResult } from '../policy/contracts/finding';
import { requireShape } from '../policy/contracts/definition-shape';
import { judgeDefinition } from '../policy/judge/config';
import { aggregateDefinition } from '../policy/rules/aggregate/aggregate';
import { BUILTIN_VALIDATORS } from '../policy/rules/builtin';
import { callbackRegistry, type CallbackDefinition, type CallbackRegistry } from '../policy/rules/callback';
import { requireDefinedRule, type ValidatorDefinition } from '../policy/rules/define';
import { validatorRegistry, type ValidatorRegistry } from '../policy/rules/registry';
import { contractValidators } from '../policy/validators/definitions';
import { messageOf } from '../client/errors';
import { ConfigError } from './config-error';

/** A validator with settings of any type: `evaluate` is called only with what its own `config` schema has parsed. */
type AnyValidator = Omit<ValidatorDefinition, 'config' | 'evaluate'> & {
  readonly config: z.ZodType;
  readonly evaluate: ((input: never) => ValidatorResult) | null;
};

/** What an extension module exports as `extension`. The four processes and the CLI load the same module. */
export interface Extension {
  readonly validators?: readonly AnyValidator[];
  readonly callbacks?: readonly CallbackDefinition[];
  readonly sourceTools?: readonly SourceTool[];
}

/** Everything that a bundle may name. Complete after construction: nothing can be registered later. */
export interface Extensions {
  readonly validators: ValidatorRegistry;
  readonly callbacks: CallbackRegistry;
  readonly sourceTools: SourceToolRegistry;
}

function builtInExtension(): Required<Extension> {
  const validators = [
    ...packDefinitions,
    ...contractValidators,
    aggregateDefinition,
    ...BUILTIN_VALIDATORS,
    judgeDefinition,
  ];
  return {
    validators,
    callbacks: [],
    sourceTools: SOURCE_TOOLS,
  };
}

/** The built-in definitions and those of `extensions`, frozen. Throws if two have the same name. */
export function extensionsOf(extensions: readonly Extension[] = []): Extensions {
  const all: readonly Extension[] = [builtInExtension(), ...extensions];
  return {
    validators: validatorRegistry(all.flatMap((e) => (e.validators ?? []) as readonly ValidatorDefinition<never>[])),
    callbacks: callbackRegistry(all.flatMap((e) => e.callbacks ?? [])),
    sourceTools: sourceToolRegistry(all.flatMap((e) => e.sourceTools ?? [])),
  };
}

/**
 * Loads the modules of COUNTERSIGN_EXTENSIONS, a comma-separated list of paths, which may be relative to the working directory. Each
 * exports `extension`. Throws ConfigError for one that does not load or is not valid.
 */
export async function loadExtensions(list: string): Promise<Extensions> {
  const paths = list.split(',').map((path) => path.trim());
  try {
    return extensionsOf(await Promise.all(paths.filter((path) => path !== '').map(load)));
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    throw new ConfigError(`COUNTERSIGN_EXTENSIONS: ${messageOf(error)}`, { cause: error });
  }
}

async function load(path: string): Promise<Extension> {
  const module = await imported(path);
  const extension = module.extension ?? module.default?.extension;
  if (extension === undefined) throw new ConfigError(`COUNTERSIGN_EXTENSIONS: ${path} exports no "extension"`);
  requireShape(`${path}: extension`, ExtensionShape, extension);
  extension.validators?.forEach((rule, i) => requireDefinedRule(rule, `${path}: validators[${i}]`));
  extension.sourceTools?.forEach((tool, i) => requireDefinedTool(tool, `${path}: sourceTools[${i}]`));
  return extension;
}

const ExtensionShape = z.strictObject({
  validators: z.array(z.unknown()).optional(),
  callbacks: z.array(z.unknown()).optional(),
  sourceTools: z.array(z.unknown()).optional(),
});

interface ExtensionModule {
  readonly extension?: Extension;
  readonly default?: { readonly extension?: Extension };
}

async function imported(path: string): Promise<ExtensionModule> {
  try {
    return (await import(pathToFileURL(resolve(path)).href)) as ExtensionModule;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_UNKNOWN_FILE_EXTENSION')
      throw new ConfigError(
        `COUNTERSIGN_EXTENSIONS: ${path} cannot be loaded: ${messageOf(error)}. Node loads JavaScript, and TypeScript with the ending .mts from 22.18 on; this is ${process.versions.node}. Compile the file, and name the result`,
        { cause: error },
      );
    // The stack says where in the module.
    const where = error instanceof Error && !isNotFound(error) ? error.stack : messageOf(error);
    throw new ConfigError(`COUNTERSIGN_EXTENSIONS: ${path} cannot be loaded: ${where}`, { cause: error });
  }
}

function isNotFound(error: Error): boolean {
  return ['ERR_MODULE_NOT_FOUND', 'MODULE_NOT_FOUND'].includes((error as NodeJS.ErrnoException).code ?? '');
}

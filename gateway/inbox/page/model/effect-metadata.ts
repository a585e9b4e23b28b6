/** Names of the metadata that become part of the effect, by source tool, as each tool declares them (`effectMetadata`). */
export const EFFECT_METADATA: Readonly<Record<string, readonly string[]>> = { GitPatch: ['message', 'base_commit'] };

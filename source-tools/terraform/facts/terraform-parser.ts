import type { PackOptions } from '../../../policy/rules/rule-maker';

/** Raise this by hand whenever the extractor reads the same plan differently; a test pins its source to the revision. */
export const TERRAFORM_FACTS_REVISION = 15;

/** How we read the output of `terraform show -json`. Part of every rule's `logic_hash`. */
export const TERRAFORM_PARSER = {
  name: 'countersign-terraform-plan',
  version: `facts.${TERRAFORM_FACTS_REVISION}`,
} as const;

export const TERRAFORM_PACK: PackOptions = {
  pack: 'terraform-plan',
  kind: 'terraform-plan',
  sourceTools: ['TerraformPlan'],
  parser: TERRAFORM_PARSER,
};

import type { PackOptions } from '../../../policy/rules/rule-maker';

/** Raised by hand whenever the extractor reads the same plan otherwise; a test pins its source to it. */
export const TERRAFORM_FACTS_REVISION = 4;

/** Our reading of `terraform show -json`: part of every rule's `logic_hash`. */
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

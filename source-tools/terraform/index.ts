import { jsonRenderer } from '../../policy/text/render/json';
import { normalizedJson } from '../../policy/text/normalized-json';
import type { Pack } from '../../policy/rules/pack';
import { defineSourceTool } from '../define';
import { touchedNames } from '../touched-names';
import { extractTerraformPlanFacts } from './facts/extract-terraform-facts';
import { measurePlan } from './facts/measure';
import { TERRAFORM_FACTS, type TerraformPlanFacts } from './facts/terraform-facts';
import { TERRAFORM_PARSER } from './facts/terraform-parser';
import { terraformPlanRules } from './rules';
import { planTitle } from './title';

/** Source tool for Terraform plans. The committer does not apply a plan; the requester does, on a signed receipt. */
export const terraformPlan = defineSourceTool<TerraformPlanFacts>({
  sourceTool: 'TerraformPlan',
  mode: 'cooperative',
  parser: TERRAFORM_PARSER,
  facts: ({ raw }) => extractTerraformPlanFacts(raw),
  normalized: ({ raw }) => normalizedJson(raw),
  measure: measurePlan,
  touched: touchedNames,
  title: planTitle,
  render: jsonRenderer,
  factsMembers: TERRAFORM_FACTS,
  staging: null,
});

export const terraformPack: Pack = {
  name: 'terraform-plan',
  about:
    'Plans as `terraform show -json` writes them: destroyed resources, open networks, granted permissions, executed programs, unknown values and whatever is not on a list.',
  rules: terraformPlanRules,
};

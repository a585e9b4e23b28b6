/** A typical diff of about `bytes` bytes for one source tool. Throws a TypeError for an unknown tool. */
export function ordinaryText(tool: string, bytes: number): string {
  switch (tool) {
    case 'SQLDryRun':
      return sql(bytes);
    case 'GitPatch':
      return patch(bytes);
    case 'HTTPPatch':
      return request(bytes);
    case 'TerraformPlan':
      return plan(bytes);
    default:
      throw new TypeError(`No typical text for the source tool "${tool}"`);
  }
}

const NOTE = 'Stock was counted again on Monday; the shelf had more than the books said.';

function sql(bytes: number): string {
  // At most 1000 statements, so larger texts have longer statements.
  const padding = Math.max(0, Math.floor(bytes / 900) - 100);
  const note = NOTE.repeat(Math.ceil(padding / NOTE.length) + 1).slice(0, padding + 20);
  return filled(bytes, (i) => `update items set stock = ${i}, note = '${note}' where id = ${i};\n`);
}

function patch(bytes: number): string {
  return filled(bytes, (i) => {
    const lines = Array.from(
      { length: 10 },
      (_, k) => `+  const total${i}_${k} = price[${k}] * count[${k}]; // line ${k}\n`,
    );
    return `diff --git a/src/cart/f${i}.ts b/src/cart/f${i}.ts\n--- a/src/cart/f${i}.ts\n+++ b/src/cart/f${i}.ts\n@@ -1,2 +1,12 @@\n import { price } from './price';\n${lines.join('')} export { total };\n`;
  });
}

function request(bytes: number): string {
  const head =
    '{"method":"PATCH","url":"https://api.example.com/orders/7","contentType":"application/merge-patch+json","body":{';
  const long = bytes > 200_000 ? NOTE.repeat(4) : NOTE.slice(0, 40);
  return `${head}${filled(bytes - head.length, (i) => `"note${i}":"${long}",`).slice(0, -1)}}}`;
}

function plan(bytes: number): string {
  const head =
    '{"format_version":"1.2","terraform_version":"1.9.0","configuration":{"root_module":{}},"resource_changes":[';
  const long = bytes > 200_000 ? NOTE.repeat(8) : NOTE;
  const change = (i: number): string =>
    `{"address":"aws_s3_bucket.b${i}","mode":"managed","type":"aws_s3_bucket","name":"b${i}","provider_name":"registry.terraform.io/hashicorp/aws","change":{"actions":["update"],"before":{"bucket":"b${i}"},"after":{"bucket":"b${i}","tags":{"note":"${long}"}}}},`;
  return `${head}${filled(bytes - head.length, change).slice(0, -1)}]}`;
}

function filled(bytes: number, part: (i: number) => string): string {
  const parts: string[] = [];
  let length = 0;
  for (let i = 0; ; i++) {
    const next = part(i);
    if (parts.length > 0 && length + next.length > bytes) return parts.join('');
    parts.push(next);
    length += next.length;
  }
}

/** The address of a resource in the configuration: `module.a.aws_s3_bucket.b` for `module.a["x.y"].aws_s3_bucket.b[0]`. */
export function withoutKeys(address: string): string {
  let plain = '';
  let quoted = false;
  let inKey = false;
  for (let i = 0; i < address.length; i++) {
    const letter = address[i] as string;
    if (inKey && letter === '\\') i++;
    else if (inKey && letter === '"') quoted = !quoted;
    else if (!quoted && (letter === '[' || letter === ']')) inKey = letter === '[';
    else if (!inKey) plain += letter;
  }
  return plain;
}

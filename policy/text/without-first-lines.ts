/** The text without `lines`, if it begins with them. Only whole lines are left out: "Deletes 10 rows" keeps its "Deletes 1". */
export function withoutFirstLines(text: string, lines: string): string {
  return (`${text}\n`.startsWith(`${lines}\n`) ? text.slice(lines.length) : text).trim();
}

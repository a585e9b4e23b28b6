export interface Curve {
  readonly label: string;
  readonly points: readonly { readonly x: number; readonly y: number }[];
  readonly color: string;
  /** Points without a line: measured values. */
  readonly isMeasured?: true;
}

const [WIDTH, HEIGHT] = [720, 420];
const BOX = { left: 70, right: 700, top: 60, bottom: 360 };

/** A chart with logarithmic axes, base 2 for x and base 10 for y, as the text of an SVG file. */
export function curveSvg(
  title: string,
  axes: { readonly x: string; readonly y: string },
  curves: readonly Curve[],
): string {
  const all = curves.flatMap(({ points }) => points);
  const xs = [...new Set(all.map(({ x }) => x))].sort((a, b) => a - b);
  const [low, high] = [Math.min(...all.map(({ y }) => y)), Math.max(...all.map(({ y }) => y))];
  const [from, to] = [Math.floor(Math.log10(low)), Math.ceil(Math.log10(high))];
  const maxX = Math.log2(xs.at(-1) ?? 2);
  const px = (x: number): number => round(BOX.left + (Math.log2(x) / maxX) * (BOX.right - BOX.left));
  const py = (y: number): number => round(BOX.bottom - ((Math.log10(y) - from) / (to - from)) * (BOX.bottom - BOX.top));
  const text = (x: number, y: number, content: string, more = ''): string =>
    `<text x="${x}" y="${y}" ${more}>${escapeXml(content)}</text>`;
  const decades = Array.from({ length: to - from + 1 }, (_, i) => 10 ** (from + i));
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="12">`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="#ffffff"/>`,
    text(BOX.left, 22, title, 'font-size="14" font-weight="bold"'),
    ...decades.flatMap((y) => [
      `<line x1="${BOX.left}" x2="${BOX.right}" y1="${py(y)}" y2="${py(y)}" stroke="#dddddd"/>`,
      text(BOX.left - 8, py(y) + 4, String(y), 'text-anchor="end"'),
    ]),
    ...xs.map((x) => text(px(x), BOX.bottom + 18, String(x), 'text-anchor="middle"')),
    text((BOX.left + BOX.right) / 2, BOX.bottom + 40, axes.x, 'text-anchor="middle"'),
    text(
      16,
      (BOX.top + BOX.bottom) / 2,
      axes.y,
      `text-anchor="middle" transform="rotate(-90 16 ${(BOX.top + BOX.bottom) / 2})"`,
    ),
    ...curves.flatMap(({ label, points, color, isMeasured }, i) => [
      ...(isMeasured
        ? points.map(({ x, y }) => `<circle cx="${px(x)}" cy="${py(y)}" r="5" fill="${color}"/>`)
        : [
            `<polyline points="${points.map(({ x, y }) => `${px(x)},${py(y)}`).join(' ')}" fill="none" stroke="${color}" stroke-width="2"/>`,
          ]),
      `<rect x="${BOX.left + 12}" y="${BOX.top + i * 18 - 18}" width="12" height="12" fill="${color}"/>`,
      text(BOX.left + 30, BOX.top + i * 18 - 8, label),
    ]),
    '</svg>',
    '',
  ].join('\n');
}

function round(n: number): number {
  return Math.round(n * 10) / 10;
}

function escapeXml(content: string): string {
  return content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/**
 * A line plot as SVG, readable on white and on dark pages. By hand: of the libraries that are kept, echarts is 67 MB of
 * node_modules, vega brings 27 packages, and Observable Plot d3 and a DOM.
 */

interface Axis {
  readonly label: string;
  readonly log: boolean;
}

interface Line {
  readonly name: string;
  readonly points: readonly (readonly [x: number, y: number])[];
}

export interface LinePlot {
  readonly title: string;
  readonly x: Axis;
  readonly y: Axis;
  readonly lines: readonly Line[];
}

const [WIDTH, HEIGHT] = [800, 400];
const BOX = { left: 80, right: 560, top: 48, bottom: 340 };
/** Told apart by whoever does not see all colours (Okabe and Ito). */
const COLOURS = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#56b4e9', '#e69f00'];
/** With more points a mark for each would be a thick line. */
const MARKED = 40;
const TICKS = 5;

type Scale = (value: number) => number;

export function linePlot({ title, x, y, lines }: LinePlot): string {
  const points = lines.flatMap((line) => line.points);
  const xTicks = ticksOf(x, [...new Set(points.map(([value]) => value))]);
  const yTicks = ticksOf(y, [...(y.log ? [] : [0]), ...points.map(([, value]) => value)]);
  const toX = scale(x.log, xTicks, [BOX.left, BOX.right]);
  const toY = scale(y.log, yTicks, [BOX.bottom, BOX.top]);
  const parts = [
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="#fff"/>`,
    text(title, { x: BOX.left, y: 28, size: 16, weight: 600 }),
    ...xTicks.map((tick) => xGrid(tick, toX(tick))),
    ...yTicks.map((tick) => yGrid(tick, toY(tick))),
    text(x.label, { x: (BOX.left + BOX.right) / 2, y: BOX.bottom + 44, anchor: 'middle' }),
    text(y.label, { x: 18, y: (BOX.top + BOX.bottom) / 2, anchor: 'middle', turned: true }),
    ...lines.map((line, index) => drawn(line, COLOURS[index % COLOURS.length] ?? '', { toX, toY })),
    ...names(lines, toY),
  ];
  const head = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" font-family="sans-serif">`;
  return `${head}\n<title>${title}</title>\n${parts.join('\n')}\n</svg>\n`;
}

/** Powers of ten around the values, or round steps from the least to the most. */
function ticksOf({ log }: Axis, values: readonly number[]): number[] {
  const good = values.filter((value) => Number.isFinite(value) && (!log || value > 0));
  const [least, most] = [Math.min(...good), Math.max(...good)];
  if (log) {
    const from = Math.floor(Math.log10(least));
    const to = Math.max(from + 1, Math.ceil(Math.log10(most) - 1e-9));
    return Array.from({ length: to - from + 1 }, (_, index) => 10 ** (from + index));
  }
  const step = roundStep((most - least || most || 1) / TICKS);
  const first = Math.floor(least / step);
  const count = Math.max(1, Math.ceil(most / step - 1e-9) - first) + 1;
  return Array.from({ length: count }, (_, index) => (first + index) * step);
}

/** 1, 2 or 5 times a power of ten, not below the given one. */
function roundStep(step: number): number {
  const power = 10 ** Math.floor(Math.log10(step));
  return ([1, 2, 5].find((factor) => factor * power >= step) ?? 10) * power;
}

function scale(log: boolean, ticks: readonly number[], [from, to]: readonly [number, number]): Scale {
  const of = log ? Math.log10 : (value: number) => value;
  const [least, most] = [of(ticks[0] ?? 0), of(ticks.at(-1) ?? 1)];
  return (value) => from + ((of(value) - least) / (most - least)) * (to - from);
}

function drawn({ points }: Line, colour: string, { toX, toY }: { toX: Scale; toY: Scale }): string {
  const places = points.map(([x, y]) => [toX(x).toFixed(1), toY(y).toFixed(1)] as const);
  const path = places.map((place) => place.join(',')).join(' ');
  const marks =
    places.length > MARKED ? [] : places.map(([x, y]) => `<circle cx="${x}" cy="${y}" r="4" fill="${colour}"/>`);
  return [`<polyline points="${path}" fill="none" stroke="${colour}" stroke-width="2"/>`, ...marks].join('\n');
}

/** Beside the lines' ends, apart enough to be read. */
function names(lines: readonly Line[], toY: Scale): string[] {
  let above = Number.NEGATIVE_INFINITY;
  return lines
    .map(({ name, points }, index) => ({
      name,
      colour: COLOURS[index % COLOURS.length],
      y: toY(points.at(-1)?.[1] ?? 0),
    }))
    .sort((one, other) => one.y - other.y)
    .map(({ name, colour, y }) => {
      above = Math.max(y, above + 18);
      return text(name, { x: BOX.right + 12, y: Math.round(above) + 4, ...(colour && { colour }), weight: 600 });
    });
}

function xGrid(tick: number, x: number): string {
  const line = `<line x1="${x}" y1="${BOX.top}" x2="${x}" y2="${BOX.bottom}" stroke="#ddd"/>`;
  return line + text(short(tick), { x, y: BOX.bottom + 20, anchor: 'middle' });
}

function yGrid(tick: number, y: number): string {
  const line = `<line x1="${BOX.left}" y1="${y}" x2="${BOX.right}" y2="${y}" stroke="#ddd"/>`;
  return line + text(short(tick), { x: BOX.left - 8, y: y + 4, anchor: 'end' });
}

function short(value: number): string {
  if (value >= 1e6) return `${round(value / 1e6)}M`;
  if (value >= 1e4) return `${round(value / 1e3)}k`;
  return String(round(value));
}

function round(value: number): number {
  return Number(value.toPrecision(6));
}

interface TextPlace {
  readonly x: number;
  readonly y: number;
  readonly size?: number;
  readonly weight?: number;
  readonly anchor?: 'middle' | 'end';
  readonly colour?: string;
  readonly turned?: boolean;
}

function text(content: string, place: TextPlace): string {
  const { x, y, size = 13, weight = 400, anchor = 'start', colour = '#222', turned = false } = place;
  const turn = turned ? ` transform="rotate(-90 ${x} ${y})"` : '';
  const style = `font-size="${size}" font-weight="${weight}" text-anchor="${anchor}" fill="${colour}"`;
  return `<text x="${x}" y="${y}" ${style}${turn}>${content.replace(/&/g, '&amp;').replace(/</g, '&lt;')}</text>`;
}

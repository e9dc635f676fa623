/** Line plots with logarithmic axes, as SVG. */

const width = 720
const height = 400
const margin = { left: 70, right: 190, top: 44, bottom: 52 }
const colors = ['#1f6feb', '#d1242f', '#1a7f37', '#9a6700', '#8250df', '#57606a']

/**
 * @param {{ title: string, x: string, y: string, lines: readonly { name: string, points: readonly (readonly [x: number, y: number])[] }[] }} plot
 * @returns the text of an SVG file
 */
export function linePlot({ title, x, y, lines }) {
  const all = lines.flatMap(({ points }) => points)
  const across = axis(
    all.map(([at]) => at),
    margin.left,
    width - margin.right,
  )
  const up = axis(
    all.map(([, value]) => value),
    height - margin.bottom,
    margin.top,
  )
  const middle = (margin.left + width - margin.right) / 2
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12">`,
    `<title>${escaped(title)}</title>`,
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
    text(margin.left, 24, title, 'font-size="15" font-weight="bold"'),
    ...across.ticks.map(
      (tick) => line(across.at(tick), margin.top, across.at(tick), height - margin.bottom) + label(across.at(tick), tick),
    ),
    ...up.ticks.map(
      (tick) =>
        line(margin.left, up.at(tick), width - margin.right, up.at(tick)) +
        text(margin.left - 8, up.at(tick) + 4, short(tick), 'text-anchor="end"'),
    ),
    text(middle, height - 14, x, 'text-anchor="middle"'),
    text(0, 0, y, `text-anchor="middle" transform="translate(18 ${(margin.top + height - margin.bottom) / 2}) rotate(-90)"`),
    ...lines.map(({ points }, i) => curve(points, { across, up, color: colors[i % colors.length] })),
    ...labels(lines, up).map(({ name, y: at, color }) =>
      text(width - margin.right + 10, at + 4, name, `fill="${color}" font-weight="bold"`),
    ),
    '</svg>',
  ]
  return `${parts.join('\n')}\n`
}

/** From one power of ten to another around all values. */
function axis(values, from, to) {
  const low = Math.floor(Math.log10(Math.min(...values)))
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...values))))
  return {
    ticks: Array.from({ length: high - low + 1 }, (_, i) => 10 ** (low + i)),
    at: (value) => round(from + ((Math.log10(value) - low) / (high - low)) * (to - from)),
  }
}

function curve(points, { across, up, color }) {
  const places = points.map(([x, y]) => [across.at(x), up.at(y)])
  const dots = places.map(
    ([x, y], i) => `<circle cx="${x}" cy="${y}" r="3.5" fill="${color}"><title>${short(points[i][1])}</title></circle>`,
  )
  return `<polyline points="${places.map((place) => place.join(',')).join(' ')}" fill="none" stroke="${color}" stroke-width="2"/>${dots.join('')}`
}

/** The name of each line with its last value, beside its last point; names that would overlap move down. */
function labels(lines, up) {
  const placed = lines
    .map(({ name, points }, i) => ({
      name: `${name}: ${short(points.at(-1)[1])}`,
      y: up.at(points.at(-1)[1]),
      color: colors[i % colors.length],
    }))
    .sort((a, b) => a.y - b.y)
  for (let i = 1; i < placed.length; i++) placed[i].y = Math.max(placed[i].y, placed[i - 1].y + 16)
  return placed
}

function line(x1, y1, x2, y2) {
  return `<line x1="${x1}" y1="${y1}" x2="${x2}" y2="${y2}" stroke="#d0d7de"/>`
}

function label(x, tick) {
  return text(x, height - margin.bottom + 18, short(tick), 'text-anchor="middle"')
}

function text(x, y, content, attributes = '') {
  return `<text x="${x}" y="${y}" ${attributes}>${escaped(content)}</text>`
}

function escaped(content) {
  return String(content).replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}

/** Three significant digits, thousands with spaces. */
function short(value) {
  return Number(value.toPrecision(3)).toLocaleString('en-US').replaceAll(',', ' ')
}

function round(value) {
  return Math.round(value * 10) / 10
}

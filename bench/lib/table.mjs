/** Tables for the terminal and as Markdown. */

/** @param {readonly string[]} head @param {readonly (readonly (string | number)[])[]} rows */
export function markdownTable(head, rows) {
  const all = [head, ...rows].map((row) => row.map(String))
  const widths = head.map((_, column) => Math.max(3, ...all.map((row) => row[column]?.length ?? 0)))
  const numeric = head.map((_, column) => rows.length > 0 && rows.every((row) => /^[-\d×–]/.test(String(row[column]))))
  const line = (row) =>
    `| ${row.map((cell, column) => (numeric[column] ? cell.padStart(widths[column]) : cell.padEnd(widths[column]))).join(' | ')} |`
  const rule = `|${widths.map((width, column) => (numeric[column] ? `${'-'.repeat(width + 1)}:` : '-'.repeat(width + 2))).join('|')}|`
  const [first, ...others] = all.map(line)
  return `${[first, rule, ...others].join('\n')}\n`
}

/** Three significant digits, with thousands separators. */
export function figure(value, unit = '') {
  if (value === undefined || !Number.isFinite(value)) return '–'
  const size = Math.abs(value)
  const text = size >= 100 ? Math.round(value).toLocaleString('en-US').replaceAll(',', ' ') : String(Number(value.toPrecision(3)))
  return unit === '' ? text : `${text} ${unit}`
}

export function factor(value) {
  return value === undefined || !Number.isFinite(value) ? '–' : `${value.toFixed(value < 10 ? 2 : 1)}×`
}

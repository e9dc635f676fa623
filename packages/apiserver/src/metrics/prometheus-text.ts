/** The Prometheus text format, version 0.0.4. */

export const prometheusTextType = 'text/plain; version=0.0.4; charset=utf-8'

export type Labels = Readonly<Record<string, string | number>>

/** The two lines before the series of a metric family. */
export function familyHead({ name, help }: { readonly name: string; readonly help: string }, type: string): string {
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`
}

/** One line. Labels are sorted by name, as the stock server prints them. */
export function seriesLine(name: string, labels: Labels, value: number): string {
  const text = labelsText(labels)
  return text === '' ? `${name} ${valueText(value)}\n` : `${name}{${text}} ${valueText(value)}\n`
}

/** Labels sorted by name, without braces. */
export function labelsText(labels: Labels): string {
  return Object.keys(labels)
    .sort()
    .map((name) => `${name}="${escapeLabelValue(String(labels[name]))}"`)
    .join(',')
}

/** Escapes a label value. */
export function escapeLabelValue(text: string): string {
  return text.replace(/[\\"\n]/g, (character) => (character === '\n' ? '\\n' : `\\${character}`))
}

function valueText(value: number): string {
  if (Number.isFinite(value)) return String(value)
  return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf'
}

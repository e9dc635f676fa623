/** The Prometheus text format, version 0.0.4. */

export const prometheusTextType = 'text/plain; version=0.0.4; charset=utf-8'

export type Labels = Readonly<Record<string, string | number>>

/** The two lines before the series of a metric family. */
export function familyHead({ name, help }: { readonly name: string; readonly help: string }, type: string): string {
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`
}

/** The line of one sample. */
export function seriesLine(name: string, labels: string, value: number): string {
  return labels === '' ? `${name} ${valueText(value)}\n` : `${name}{${labels}} ${valueText(value)}\n`
}

/** The labels of a bucket with the upper bound `le`. */
export function bucketLabels(labels: string, le: number | string): string {
  return labels === '' ? `le="${le}"` : `${labels},le="${le}"`
}

/** Labels sorted by name, without braces, as kube-apiserver prints them. */
export function labelsText(labels: Labels): string {
  return Object.keys(labels)
    .sort()
    .map((name) => `${name}="${escapeLabelValue(String(labels[name]))}"`)
    .join(',')
}

/** Escapes a label value. */
export function escapeLabelValue(text: string): string {
  if (!/[\\"\n]/.test(text)) return text
  return text.replace(/[\\"\n]/g, (character) => (character === '\n' ? '\\n' : `\\${character}`))
}

function valueText(value: number): string {
  if (Number.isFinite(value)) return String(value)
  return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf'
}

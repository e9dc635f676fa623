/** The metrics of a server as values, read from the text of `/metrics`. */

export type MetricLabels = Readonly<Record<string, string>>

export interface NumberPoint {
  readonly labels: MetricLabels
  readonly value: number
}

export interface HistogramPoint {
  readonly labels: MetricLabels
  /** Upper bounds of the buckets, ascending, without infinity. */
  readonly bounds: readonly number[]
  /** Number of values in each bucket, not cumulative. The list has one item more than `bounds`, for the values above the last bound. */
  readonly counts: readonly number[]
  readonly count: number
  readonly sum: number
}

/** A metric with all its series. Counters and histograms grow from the start of the server. */
export type MetricFamily = { readonly name: string; readonly help: string } & (
  | { readonly type: 'counter' | 'gauge'; readonly points: readonly NumberPoint[] }
  | { readonly type: 'histogram'; readonly points: readonly HistogramPoint[] }
)

/**
 * Parses metrics as servers of krmkit print them, in the Prometheus text format: the series of a metric follow its type, and the buckets of
 * a histogram are in order. Lines of other forms are ignored. Yields after each line, so that the caller can work in slices.
 *
 * @example
 * import { readMetricFamilies } from '@krmkit/apiserver/metrics'
 * import { runAtOnce } from '@krmkit/base/work'
 * const [family] = runAtOnce(readMetricFamilies('# HELP jobs Jobs.\n# TYPE jobs gauge\njobs{state="new"} 3\n'))
 * family?.points // [ { labels: { state: 'new' }, value: 3 } ]
 */
export function* readMetricFamilies(text: string): Generator<undefined, MetricFamily[]> {
  const families: MetricFamily[] = []
  let help: { readonly name: string; readonly text: string } | undefined
  let current: FamilyReader | undefined
  for (const line of linesOf(text)) {
    yield
    const [, keyword, name = '', rest = ''] = headPattern.exec(line) ?? []
    if (keyword === 'HELP') help = { name, text: rest }
    else if (keyword === 'TYPE') {
      if (current !== undefined) families.push(current.family())
      current = FamilyReader.of(rest, { name, help: help?.name === name ? help.text : '' })
    } else if (line !== '') current?.read(line)
  }
  if (current !== undefined) families.push(current.family())
  return families
}

const headPattern = /^# (HELP|TYPE) (\S+) ?(.*)$/
const samplePattern = /^(\w+)(?:\{(.*)\})? (\S+)$/
const labelPattern = /(\w+)="((?:[^"\\]|\\.)*)"/g

function* linesOf(text: string): Generator<string, void> {
  let start = 0
  while (start < text.length) {
    const end = text.indexOf('\n', start)
    yield text.slice(start, end < 0 ? text.length : end)
    start = end < 0 ? text.length : end + 1
  }
}

interface FamilyHead {
  readonly name: string
  readonly help: string
}

interface OpenHistogram {
  readonly labels: MetricLabels
  readonly bounds: number[]
  /** Cumulative, as in the text. */
  readonly below: number[]
  sum: number
}

/** Collects the series of one metric. */
class FamilyReader {
  readonly #head: FamilyHead
  readonly #type: MetricFamily['type']
  readonly #numbers: NumberPoint[] = []
  readonly #histograms: HistogramPoint[] = []
  #open: OpenHistogram | undefined

  /** @returns undefined for a type that servers do not have */
  static of(type: string, head: FamilyHead): FamilyReader | undefined {
    return type === 'counter' || type === 'gauge' || type === 'histogram' ? new FamilyReader(type, head) : undefined
  }

  private constructor(type: MetricFamily['type'], head: FamilyHead) {
    this.#type = type
    this.#head = head
  }

  read(line: string): void {
    const [, name, labelText = '', valueText = ''] = samplePattern.exec(line) ?? []
    if (name === undefined) return
    const value = numberOf(valueText)
    if (this.#type !== 'histogram') this.#numbers.push({ labels: labelsOf(labelText), value })
    else this.#readPart(name.slice(this.#head.name.length), labelText, value)
  }

  /** The buckets of a series come first, then its sum, then its count. */
  #readPart(part: string, labelText: string, value: number): void {
    if (part === '_bucket') {
      const { le = '', ...labels } = labelsOf(labelText)
      this.#open ??= { labels, bounds: [], below: [], sum: 0 }
      if (le !== '+Inf') this.#open.bounds.push(numberOf(le))
      if (le !== '+Inf') this.#open.below.push(value)
    } else if (part === '_sum') {
      this.#open ??= { labels: labelsOf(labelText), bounds: [], below: [], sum: 0 }
      this.#open.sum = value
    } else if (part === '_count' && this.#open !== undefined) {
      const { labels, bounds, below, sum } = this.#open
      const counts = [...below, value].map((each, i) => each - (below[i - 1] ?? 0))
      this.#histograms.push({ labels, bounds, counts, count: value, sum })
      this.#open = undefined
    }
  }

  family(): MetricFamily {
    return this.#type === 'histogram'
      ? { ...this.#head, type: this.#type, points: this.#histograms }
      : { ...this.#head, type: this.#type, points: this.#numbers }
  }
}

function labelsOf(text: string): Record<string, string> {
  const labels: Record<string, string> = {}
  for (const [, name = '', value = ''] of text.matchAll(labelPattern))
    labels[name] = value.includes('\\')
      ? value.replace(/\\(.)/g, (_, character: string) => (character === 'n' ? '\n' : character))
      : value
  return labels
}

function numberOf(text: string): number {
  if (text === '+Inf') return Number.POSITIVE_INFINITY
  return text === '-Inf' ? Number.NEGATIVE_INFINITY : Number(text)
}

/** Metrics that are states of the cluster rather than counts of a process: the largest value holds. */
const states = new Set([
  'apiserver_storage_revision',
  'apiserver_storage_history_revisions',
  'apiserver_storage_history_bytes',
  'apiserver_requested_deprecated_apis',
  'kubernetes_feature_enabled',
  'aggregator_unavailable_apiservice',
  'process_start_time_seconds',
])

interface Family {
  /** Lines that begin with `#`. */
  readonly head: string[]
  /** Values by name and labels. */
  readonly samples: Map<string, number>
}

/**
 * Merges expositions of several processes in the Prometheus text format into one: equal series are added, except states of the
 * cluster.
 */
export function mergeMetrics(texts: readonly string[]): string {
  const families = new Map<string, Family>()
  for (const text of texts) {
    let name = ''
    for (const line of text.split('\n')) {
      if (line === '') continue
      if (line.startsWith('#')) {
        name = line.split(' ', 3)[2] ?? ''
        const family = familyOf(families, name)
        if (!family.head.includes(line)) family.head.push(line)
      } else addSample(familyOf(families, name), { name, line })
    }
  }
  return [...families.values()]
    .map(({ head, samples }) =>
      [...head, ...[...samples].map(([series, value]) => `${series} ${formatValue(value)}`), ''].join('\n'),
    )
    .join('\n')
}

function familyOf(families: Map<string, Family>, name: string): Family {
  let family = families.get(name)
  if (family === undefined) {
    family = { head: [], samples: new Map() }
    families.set(name, family)
  }
  return family
}

function addSample({ samples }: Family, { name, line }: { readonly name: string; readonly line: string }): void {
  const space = line.lastIndexOf(' ')
  const series = line.slice(0, space)
  const value = parseValue(line.slice(space + 1))
  const before = samples.get(series)
  if (before === undefined) samples.set(series, value)
  else samples.set(series, states.has(name) ? Math.max(before, value) : before + value)
}

function parseValue(text: string): number {
  if (text === '+Inf') return Number.POSITIVE_INFINITY
  return text === '-Inf' ? Number.NEGATIVE_INFINITY : Number(text)
}

function formatValue(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return '+Inf'
  return value === Number.NEGATIVE_INFINITY ? '-Inf' : String(value)
}

import type { Difference, Divergence } from '../compare.ts'
import type { KnownDivergence } from './index.ts'

/** Departures on purpose, where the specification is silent. */
export const ownDepartures: readonly KnownDivergence[] = [
  {
    id: 'D60',
    title: '/version names krmkit',
    reason: 'The version, commit, tree state, build date, compiler and platform are those of the software that runs.',
    matches: ({ at }, { step }) =>
      pathOf(step) === '/version' && /^body\.(git(Version|Commit|TreeState)|buildDate|goVersion|compiler|platform)$/.test(at),
  },
  {
    id: 'D61',
    title: 'A request cannot reset the metrics',
    reason: 'Counters that a client resets mislead every other client that reads them; the stock server resets them on DELETE.',
    matches: ({ at, krmkit }, { step }) =>
      at === 'status' && step.method === 'DELETE' && pathOf(step).startsWith('/metrics') && String(krmkit).startsWith('405 '),
  },
  {
    id: 'D62',
    title: 'Metrics are exposed by another library',
    reason: 'The header with the start time and the escaping parameter of the media type are of the Go library for metrics.',
    matches: (difference, { step }) => pathOf(step).startsWith('/metrics') && isOfMetricsLibrary(difference),
  },
]

function isOfMetricsLibrary({ at, stock }: Difference): boolean {
  return (
    at === 'headers.process-start-time-unix' ||
    (at === 'headers.content-type' && String(stock).endsWith('; escaping=underscores'))
  )
}

/** The path of a step, without query and trailing slash. */
function pathOf({ path }: Divergence['step']): string {
  return path.replace(/\/?(\?.*)?$/, '')
}

import { expect, it } from 'vitest'
import { mergeMetrics } from './merge-metrics.ts'

it('adds counts of processes, and keeps states of the cluster', () => {
  const text = (count: number, revision: number, more = '') =>
    `# HELP requests_total Requests.\n# TYPE requests_total counter\nrequests_total{verb="GET",path="a b"} ${count}\n${more}\n` +
    `# HELP apiserver_storage_revision Revision.\n# TYPE apiserver_storage_revision gauge\napiserver_storage_revision ${revision}\n`
  const buckets = '# TYPE seconds histogram\nseconds_bucket{le="+Inf"} 2\nseconds_sum 0.5\nseconds_count 2'
  expect(
    mergeMetrics([text(1, 7, buckets), text(2, 9, buckets), text(3, 8)])
      .split('\n')
      .filter((line) => line !== ''),
  ).toEqual([
    '# HELP requests_total Requests.',
    '# TYPE requests_total counter',
    'requests_total{verb="GET",path="a b"} 6',
    '# TYPE seconds histogram',
    'seconds_bucket{le="+Inf"} 4',
    'seconds_sum 1',
    'seconds_count 4',
    '# HELP apiserver_storage_revision Revision.',
    '# TYPE apiserver_storage_revision gauge',
    'apiserver_storage_revision 9',
  ])
})

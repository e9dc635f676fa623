import { describe, expect, it } from 'vitest'
import type { RequestLabels } from './request-labels.ts'
import { RequestMetrics } from './request-metrics.ts'

const pods: RequestLabels = {
  code: 200,
  component: 'apiserver',
  dry_run: '',
  group: '',
  resource: 'pods',
  scope: 'resource',
  subresource: '',
  verb: 'GET',
  version: 'v1',
}
const podLabels =
  'component="apiserver",dry_run="",group="",resource="pods",scope="resource",subresource="",verb="GET",version="v1"'

function linesOf(tallies: RequestMetrics): string[] {
  const families = [
    tallies.totals({ name: 'requests', help: 'r' }),
    tallies.durations({ name: 'seconds', help: 's' }),
    tallies.watches({ name: 'watches', help: 'w' }),
  ]
  return families.flatMap((family) => [...family].join('').split('\n'))
}

describe('request tallies', () => {
  it('count by all labels', () => {
    const tallies = new RequestMetrics()
    tallies.observe(pods, 0.01)
    tallies.observe(pods, 0.01)
    tallies.observe({ ...pods, code: 404 }, 0.01)
    const all = linesOf(tallies)
    expect(all).toContain('# TYPE requests counter')
    expect(all).toContain(`requests{code="200",${podLabels}} 2`)
    expect(all).toContain(`requests{code="404",${podLabels}} 1`)
    expect(linesOf(tallies)).toEqual(all)
  })

  it('time over codes, in buckets that include those below', () => {
    const tallies = new RequestMetrics()
    tallies.observe(pods, 0.025)
    tallies.observe({ ...pods, code: 409 }, 0.3)
    tallies.observe(pods, 100)
    const all = linesOf(tallies)
    expect(all).toContain('# TYPE seconds histogram')
    expect(all).toContain(`seconds_bucket{${podLabels},le="0.005"} 0`)
    expect(all).toContain(`seconds_bucket{${podLabels},le="0.025"} 1`)
    expect(all).toContain(`seconds_bucket{${podLabels},le="0.4"} 2`)
    expect(all).toContain(`seconds_bucket{${podLabels},le="60"} 2`)
    expect(all).toContain(`seconds_bucket{${podLabels},le="+Inf"} 3`)
    expect(all).toContain(`seconds_sum{${podLabels}} 100.325`)
    expect(all).toContain(`seconds_count{${podLabels}} 3`)
  })

  it('count watches without timing them', () => {
    const tallies = new RequestMetrics()
    tallies.observe({ ...pods, verb: 'WATCH' }, undefined)
    tallies.observe({ ...pods, verb: 'WATCH', scope: 'cluster' }, undefined)
    const all = linesOf(tallies)
    expect(all).toContain('watches{group="",resource="pods",version="v1"} 2')
    expect(all.filter((line) => line.startsWith('seconds_'))).toEqual([])
  })

  it('count without names beyond 10 000 series', () => {
    const tallies = new RequestMetrics()
    for (let i = 0; i < 10_050; i++) tallies.observe({ ...pods, resource: `kind-${i}` }, 0.001)
    expect(tallies.size).toBe(10_001)
    const nameless = 'component="",dry_run="",group="",resource="",scope="resource",subresource="",verb="GET",version=""'
    expect(linesOf(tallies)).toContain(`requests{code="200",${nameless}} 50`)
  })
})

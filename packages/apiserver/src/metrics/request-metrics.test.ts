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

function linesOf(metrics: RequestMetrics): string[] {
  const families = [
    metrics.totals({ name: 'requests', help: 'r' }),
    metrics.durations({ name: 'seconds', help: 's' }),
    metrics.watches({ name: 'watches', help: 'w' }),
  ]
  return families.flatMap((family) => [...family].join('').split('\n'))
}

describe('request metrics', () => {
  it('count by all labels', () => {
    const metrics = new RequestMetrics()
    metrics.observe(pods, 0.01)
    metrics.observe(pods, 0.01)
    metrics.observe({ ...pods, code: 404 }, 0.01)
    const all = linesOf(metrics)
    expect(all).toContain('# TYPE requests counter')
    expect(all).toContain(`requests{code="200",${podLabels}} 2`)
    expect(all).toContain(`requests{code="404",${podLabels}} 1`)
    expect(linesOf(metrics)).toEqual(all)
  })

  it('sum latencies over codes, in cumulative buckets', () => {
    const metrics = new RequestMetrics()
    metrics.observe(pods, 0.025)
    metrics.observe({ ...pods, code: 409 }, 0.3)
    metrics.observe(pods, 100)
    const all = linesOf(metrics)
    expect(all).toContain('# TYPE seconds histogram')
    expect(all).toContain(`seconds_bucket{${podLabels},le="0.005"} 0`)
    expect(all).toContain(`seconds_bucket{${podLabels},le="0.025"} 1`)
    expect(all).toContain(`seconds_bucket{${podLabels},le="0.4"} 2`)
    expect(all).toContain(`seconds_bucket{${podLabels},le="60"} 2`)
    expect(all).toContain(`seconds_bucket{${podLabels},le="+Inf"} 3`)
    expect(all).toContain(`seconds_sum{${podLabels}} 100.325`)
    expect(all).toContain(`seconds_count{${podLabels}} 3`)
  })

  it('count watches without latency', () => {
    const metrics = new RequestMetrics()
    metrics.observe({ ...pods, verb: 'WATCH' }, undefined)
    metrics.observe({ ...pods, verb: 'WATCH', scope: 'cluster' }, undefined)
    const all = linesOf(metrics)
    expect(all).toContain('watches{group="",resource="pods",version="v1"} 2')
    expect(all.filter((line) => line.startsWith('seconds_'))).toEqual([])
  })

  it('count equal labels of several objects together', () => {
    const metrics = new RequestMetrics()
    for (const labels of [pods, pods, { ...pods }]) metrics.observe(labels, 0.01)
    expect(linesOf(metrics)).toContain(`requests{code="200",${podLabels}} 3`)
  })

  it('count without names above 10 000 series', () => {
    const metrics = new RequestMetrics()
    for (let i = 0; i < 10_050; i++) metrics.observe({ ...pods, resource: `kind-${i}` }, 0.001)
    expect(metrics.size).toBe(10_001)
    const nameless = 'component="",dry_run="",group="",resource="",scope="resource",subresource="",verb="GET",version=""'
    expect(linesOf(metrics)).toContain(`requests{code="200",${nameless}} 50`)
  })
})

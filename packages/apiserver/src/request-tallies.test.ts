import { Counter, type Metric, Registry } from 'prom-client'
import { describe, expect, it } from 'vitest'
import { type RequestLabels, RequestTallies } from './request-tallies.ts'

const pods: RequestLabels = {
  verb: 'GET',
  group: '',
  version: 'v1',
  resource: 'pods',
  subresource: '',
  scope: 'resource',
  code: 200,
}

function setup() {
  const tallies = new RequestTallies()
  const registry = new Registry()
  const labelNames = ['verb', 'group', 'version', 'resource', 'subresource', 'scope', 'code']
  new Counter({
    name: 'requests',
    help: 'r',
    labelNames,
    registers: [registry],
    collect() {
      tallies.count(this)
    },
  })
  new Counter({
    name: 'watches',
    help: 'w',
    labelNames: ['group', 'version', 'resource'],
    registers: [registry],
    collect() {
      tallies.countWatches(this)
    },
  })
  registry.registerMetric(tallies.histogram('seconds', 's') as unknown as Metric)
  const lines = async () => (await registry.metrics()).split('\n')
  return { tallies, lines }
}

describe('tallies of requests', () => {
  it('count by all labels', async () => {
    const { tallies, lines } = setup()
    tallies.add(pods, 0.01)
    tallies.add(pods, 0.01)
    tallies.add({ ...pods, code: 404 }, 0.01)
    const all = await lines()
    expect(all).toContain(
      'requests{verb="GET",group="",version="v1",resource="pods",subresource="",scope="resource",code="200"} 2',
    )
    expect(all).toContain(
      'requests{verb="GET",group="",version="v1",resource="pods",subresource="",scope="resource",code="404"} 1',
    )
    expect(await lines()).toEqual(all)
  })

  it('time over codes and sub-resources, in buckets that include those below', async () => {
    const { tallies, lines } = setup()
    tallies.add(pods, 0.025)
    tallies.add({ ...pods, code: 409, subresource: 'status' }, 0.3)
    tallies.add(pods, 100)
    const all = await lines()
    const labels = 'verb="GET",group="",version="v1",resource="pods",scope="resource"'
    expect(all).toContain('# TYPE seconds histogram')
    expect(all).toContain(`seconds_bucket{le="0.005",${labels}} 0`)
    expect(all).toContain(`seconds_bucket{le="0.025",${labels}} 1`)
    expect(all).toContain(`seconds_bucket{le="0.4",${labels}} 2`)
    expect(all).toContain(`seconds_bucket{le="60",${labels}} 2`)
    expect(all).toContain(`seconds_bucket{le="+Inf",${labels}} 3`)
    expect(all).toContain(`seconds_sum{${labels}} 100.325`)
    expect(all).toContain(`seconds_count{${labels}} 3`)
  })

  it('count watches without timing them', async () => {
    const { tallies, lines } = setup()
    tallies.add({ ...pods, verb: 'WATCH' }, undefined)
    const all = await lines()
    expect(all).toContain('watches{group="",version="v1",resource="pods"} 1')
    expect(all.filter((line) => line.startsWith('seconds_'))).toEqual([])
  })

  it('keep no name that clients made up beyond some number', async () => {
    const { tallies, lines } = setup()
    for (let i = 0; i < 10_050; i++) tallies.add({ ...pods, code: 403, resource: `made-up-${i}` }, 0.001)
    const all = (await lines()).filter((line) => line.startsWith('requests{'))
    expect(all.length).toBe(10_001)
    expect(all).toContain('requests{verb="GET",group="",version="",resource="",subresource="",scope="resource",code="403"} 50')
  })
})

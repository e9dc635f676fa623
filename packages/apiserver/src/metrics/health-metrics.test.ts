import { describe, expect, it } from 'vitest'
import { sampleServer } from '../testing/sample-server.ts'
import { HealthMetrics } from './health-metrics.ts'

describe('tallies of health', () => {
  it('tell the last answer of a check, and how many there were of each kind', () => {
    const tallies = new HealthMetrics()
    for (const isWell of [true, false, true]) tallies.observe('livez', 'etcd', isWell)
    tallies.observe('readyz', 'a "b"', false)
    expect(tallies.text().split('\n')).toEqual(
      expect.arrayContaining([
        'kubernetes_healthcheck{name="etcd",type="livez"} 1',
        'kubernetes_healthcheck{name="a \\"b\\"",type="readyz"} 0',
        'kubernetes_healthchecks_total{name="etcd",status="error",type="livez"} 1',
        'kubernetes_healthchecks_total{name="etcd",status="success",type="livez"} 2',
        'kubernetes_healthchecks_total{name="a \\"b\\"",status="error",type="readyz"} 1',
      ]),
    )
  })

  it('are served, and counted up by each look at the health', async () => {
    const { ask } = await sampleServer()
    await ask('/readyz')
    await ask('/readyz/etcd')
    const { status, text, headers } = await ask('/metrics/slis')
    expect(status).toBe(200)
    expect(headers['content-type']).toContain('text/plain')
    expect(text).toContain('kubernetes_healthcheck{name="etcd",type="readyz"} 1')
    expect(text).toContain('kubernetes_healthchecks_total{name="etcd",status="success",type="readyz"} 2')
    expect(text).toContain('kubernetes_healthchecks_total{name="ping",status="success",type="readyz"} 1')
    expect((await ask('/')).json.paths).toContain('/metrics/slis')
  })
})

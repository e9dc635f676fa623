import { describe, expect, it } from 'vitest'
import { sampleServer } from '../testing/sample-server.ts'
import { HealthMetrics } from './health-metrics.ts'

describe('health metrics', () => {
  it('report the last result of a check, and the number of results by status', () => {
    const metrics = new HealthMetrics()
    for (const isHealthy of [true, false, true]) metrics.observe('livez', 'etcd', isHealthy)
    metrics.observe('readyz', 'a "b"', false)
    expect(metrics.text().split('\n')).toEqual(
      expect.arrayContaining([
        'kubernetes_healthcheck{name="etcd",type="livez"} 1',
        'kubernetes_healthcheck{name="a \\"b\\"",type="readyz"} 0',
        'kubernetes_healthchecks_total{name="etcd",status="error",type="livez"} 1',
        'kubernetes_healthchecks_total{name="etcd",status="success",type="livez"} 2',
        'kubernetes_healthchecks_total{name="a \\"b\\"",status="error",type="readyz"} 1',
      ]),
    )
  })

  it('are served, and count each health request', async () => {
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

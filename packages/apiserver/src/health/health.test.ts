import { createFeatures, type Features } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { parseQuery } from '../request/query.ts'
import { sampleServer } from '../testing/sample-server.ts'
import { type HealthCheck, healthResponse } from './health.ts'

const ok = (name: string): HealthCheck => ({ name, check: () => {} })
const bad: HealthCheck = { name: 'bad', check: () => Promise.reject(new Error('out of order')) }
const checks = { '/healthz': [ok('ping'), bad], '/livez': [ok('ping'), ok('log')], '/readyz': [ok('ping')] }

async function ask(path: string, query = '') {
  const answer = await healthResponse(path, parseQuery(query), checks)
  if (answer === undefined) return undefined
  const text = answer.body.kind === 'bytes' ? new TextDecoder().decode(answer.body.bytes) : ''
  return [answer.status, text]
}

describe('health', () => {
  it('returns `ok` on success, and a list in verbose mode', async () => {
    expect(await ask('/livez')).toEqual([200, 'ok'])
    expect(await ask('/livez', 'verbose')).toEqual([200, '[+]ping ok\n[+]log ok\nlivez check passed\n'])
  })

  it('withholds the reason of a failure', async () => {
    expect(await ask('/healthz')).toEqual([500, '[+]ping ok\n[-]bad failed: reason withheld\nhealthz check failed\n'])
  })

  it('excludes checks, and warns about unknown ones', async () => {
    expect(await ask('/healthz', 'exclude=bad')).toEqual([200, 'ok'])
    expect(await ask('/healthz', 'verbose&exclude=bad&exclude=no')).toEqual([
      200,
      '[+]ping ok\n[+]bad excluded: ok\nwarn: some health checks cannot be excluded: no matches for "no"\nhealthz check passed\n',
    ])
    expect((await ask('/readyz', 'verbose=0&exclude=b&exclude=a'))?.[1]).toBe(
      '[+]ping ok\nwarn: some health checks cannot be excluded: no matches for "a","b"\nreadyz check passed\n',
    )
  })

  it('serves each check at its path', async () => {
    expect(await ask('/livez/log')).toEqual([200, 'ok'])
    expect(await ask('/livez/ping/')).toEqual([404, '404 page not found\n'])
    expect(await ask('/livez/')).toEqual([404, '404 page not found\n'])
    expect(await ask('/healthz/bad')).toEqual([500, 'internal server error: out of order\n'])
    expect(await ask('/livez/none')).toEqual([404, '404 page not found\n'])
  })

  it('ignores other paths', async () => {
    expect(await ask('/healthzz')).toBeUndefined()
    expect(await ask('/')).toBeUndefined()
  })

  it('names the checks of a server like kube-apiserver', async () => {
    const { ask: get } = await sampleServer()
    for (const root of ['healthz', 'livez', 'readyz']) {
      const { text } = await get(`/${root}?verbose`)
      for (const name of ['ping', 'log', 'etcd', 'poststarthook/crd-informer-synced', 'poststarthook/bootstrap-controller'])
        expect(text).toContain(`[+]${name} ok\n`)
      // This check exists only with aggregation.
      expect(text).not.toContain('autoregister-completion')
      expect((await get(`/${root}/etcd`)).text).toBe('ok')
      expect((await get(`/${root}?exclude=etcd`)).status).toBe(200)
    }
    expect((await get('/readyz/informer-sync')).text).toBe('ok')
    expect((await get('/livez/informer-sync')).status).toBe(404)
  })

  it('has the checks of enabled features', async () => {
    const hooks = async (features: Features) => {
      const { ask } = await sampleServer({ features })
      const { paths } = (await ask('/')).json as unknown as { paths: string[] }
      return [
        'start-kube-apiserver-coordinated-leader-election-controller',
        'peer-endpoint-reconciler-controller',
        'storage-readiness',
      ].map((hook) => paths.includes(`/readyz/poststarthook/${hook}`))
    }
    const gates = ['CoordinatedLeaderElection', 'UnknownVersionInteroperabilityProxy', 'WatchCacheInitializationPostStartHook']
    const on = createFeatures('1.33', Object.fromEntries(gates.map((gate) => [gate, true])))
    expect(await hooks(createFeatures())).toEqual([false, false, false])
    expect(await hooks(on)).toEqual([true, true, true])
  })

  it('is ready once the readiness checks of a server pass', async () => {
    let ready = false
    const controllers: HealthCheck = {
      name: 'controllers',
      check: () => {
        if (!ready) throw new Error('not yet')
      },
    }
    const { ask: get } = await sampleServer({ readiness: [controllers] })
    expect((await get('/readyz')).status).toBe(500)
    expect((await get('/livez')).status).toBe(200)
    ready = true
    expect((await get('/readyz?verbose')).text).toContain('[+]controllers ok\n')
  })
})

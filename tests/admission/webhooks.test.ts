import { createAdmissionPlugins } from '@krmkit/admission'
import type { InProcessWebhook } from '@krmkit/admission/webhooks'
import type { JsonObject } from '@krmkit/meta'
import { afterEach, describe, expect, it } from 'vitest'
import { configMap, configMaps, startApi, type TestApi } from '../protocol/server.ts'

/** Webhooks as a server calls them, from the request to the review. @see API protocol specification, 2.8 and 4.5 */

const url = 'https://hooks.example.com/admit'
const configurations = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations'

const apis: TestApi[] = []
afterEach(async () => {
  await Promise.all(apis.splice(0).map((api) => api.close()))
})

interface Hooked {
  readonly api: TestApi
  /** The requests of all calls, in order. */
  readonly calls: JsonObject[]
}

/** A server that calls a webhook for each write of a ConfigMap. */
async function start(): Promise<Hooked> {
  const calls: JsonObject[] = []
  const hook: InProcessWebhook = ({ request }) => {
    calls.push(request as unknown as JsonObject)
    return { allowed: true }
  }
  const api = await startApi({
    admission: (parts) =>
      createAdmissionPlugins({ ...parts, webhooks: { inProcess: { [url]: hook } } }, { disable: ['ServiceAccount'] }),
  })
  apis.push(api)
  const made = await api.post(configurations, {
    metadata: { name: 'hooks' },
    webhooks: [
      {
        name: 'one.example.com',
        clientConfig: { url },
        rules: [{ operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }],
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
      },
    ],
  })
  expect(made.status, made.text).toBe(201)
  return { api, calls }
}

/** Stores other side effects than validation accepts today, as a configuration of an older release has them. */
async function storeSideEffects({ storage }: TestApi, sideEffects: string): Promise<void> {
  const { entries } = await storage.list({ prefix: '/admissionregistration.k8s.io/validatingwebhookconfigurations/' })
  const [entry] = entries
  if (entry === undefined) throw new Error('the configuration is not stored')
  const value = JSON.parse(new TextDecoder().decode(entry.value)) as {
    metadata: { resourceVersion: string }
    webhooks: { sideEffects: string }[]
  }
  for (const hook of value.webhooks) hook.sideEffects = sideEffects
  await storage.put(entry.key, (revision) => {
    value.metadata.resourceVersion = String(revision)
    return new TextEncoder().encode(JSON.stringify(value))
  })
}

describe('reviews', () => {
  it('name the object of each call: created, generated, updated, deleted [P46]', async () => {
    const { api, calls } = await start()
    await api.post(configMaps, configMap('a'))
    const generated = (await api.post(configMaps, { metadata: { generateName: 'g-' } })).json.metadata.name
    await api.patch(`${configMaps}/a`, { data: { k: 'v' } })
    await api.delete(`${configMaps}/a`)
    expect(calls.map(({ operation, namespace, name }) => [operation, namespace, name])).toEqual([
      ['CREATE', 'default', 'a'],
      ['CREATE', 'default', generated],
      ['UPDATE', 'default', 'a'],
      ['DELETE', 'default', 'a'],
    ])
  })

  it('name each object of a deletecollection [P46]', async () => {
    const { api, calls } = await start()
    for (const name of ['a', 'b']) await api.post(configMaps, configMap(name, { metadata: { name, labels: { app: 'x' } } }))
    calls.length = 0
    expect((await api.delete(configMaps, { query: { labelSelector: 'app=x' } })).status).toBe(200)
    const named = calls.map(({ operation, namespace, name, oldObject }) => {
      expect((oldObject as { metadata: { name: string } }).metadata.name).toBe(name)
      return [operation, namespace, name]
    })
    expect(named.sort()).toEqual([
      ['DELETE', 'default', 'a'],
      ['DELETE', 'default', 'b'],
    ])
  })
})

describe('a dry run', () => {
  const query = { dryRun: 'All' }

  it.each(['Some', 'Unknown'])('fails where it would call a webhook with side effects: %s [P198]', async (sideEffects) => {
    const { api, calls } = await start()
    await api.post(configMaps, configMap('there'))
    await storeSideEffects(api, sideEffects)
    calls.length = 0
    for (const answer of [
      await api.post(configMaps, configMap('a'), { query }),
      await api.put(`${configMaps}/there`, configMap('there'), { query }),
      await api.patch(`${configMaps}/there`, { data: { k: 'v' } }, { query }),
      await api.delete(`${configMaps}/there`, { query }),
      await api.delete(configMaps, { query }),
    ]) {
      expect([answer.status, answer.json.reason, answer.json.message]).toEqual([
        400,
        'BadRequest',
        'admission webhook "one.example.com" does not support dry run',
      ])
    }
    expect(calls).toEqual([])
    expect((await api.post(configMaps, configMap('a'))).status).toBe(201)
    expect(calls).toHaveLength(1)
  })

  it.each(['None', 'NoneOnDryRun'])('calls a webhook without side effects: %s [P198]', async (sideEffects) => {
    const { api, calls } = await start()
    await storeSideEffects(api, sideEffects)
    expect((await api.post(configMaps, configMap('a'), { query })).status).toBe(201)
    expect(calls.map(({ dryRun }) => dryRun)).toEqual([true])
    expect((await api.get(`${configMaps}/a`)).status).toBe(404)
  })
})

import { describe, expect, it } from 'vitest'
import { type Answer, type SendOptions, startApi, type TestApi } from './server.ts'

/** Members that every written object has, by every verb. @see Configuration and storage specification, 2.3 and 2.8 */

const volumes = '/api/v1/persistentvolumes'
const deployments = '/apis/apps/v1/namespaces/default/deployments'
const drivers = '/apis/storage.k8s.io/v1/csidrivers'

const whole = { targetPortal: '10.0.0.1:3260', iqn: 'iqn.2001-04.com.example:a', lun: 0 }
const { lun: _, ...lunless } = whole

const volume = (iscsi: object) => ({
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: { name: 'a' },
  spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], iscsi },
})
const deployment = (...iscsis: object[]) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'a' },
  spec: {
    selector: { matchLabels: { app: 'a' } },
    template: {
      metadata: { labels: { app: 'a' } },
      spec: {
        containers: [{ name: 'c', image: 'i' }],
        volumes: iscsis.map((iscsi, index) => ({ name: `v${index}`, iscsi })),
      },
    },
  },
})
const driver = (rest: object) => ({ apiVersion: 'storage.k8s.io/v1', kind: 'CSIDriver', metadata: { name: 'd' }, ...rest })

const refusal = ({ status, json }: Answer) => [
  status,
  ...(json.details?.causes ?? []).map(({ field, reason }) => `${field} ${reason}`),
]

const lun = 'spec.iscsi.lun FieldValueRequired'
const lunOf = (index: number) => `spec.template.spec.volumes[${index}].iscsi.lun FieldValueRequired`

const dry = { dryRun: 'All' }

function apply(api: TestApi, path: string, body: object, query: SendOptions['query'] = {}): Promise<Answer> {
  const headers = { 'content-type': 'application/apply-patch+yaml' }
  return api.send('PATCH', path, { body, headers, query: { fieldManager: 'm', ...(query as object) } })
}

function jsonPatch(api: TestApi, path: string, body: object): Promise<Answer> {
  return api.send('PATCH', path, { body, headers: { 'content-type': 'application/json-patch+json' } })
}

function strategicPatch(api: TestApi, path: string, body: object): Promise<Answer> {
  return api.send('PATCH', path, { body, headers: { 'content-type': 'application/strategic-merge-patch+json' } })
}

async function withServer(check: (api: TestApi) => Promise<void>): Promise<void> {
  await using api = await startApi()
  await check(api)
}

describe('the lun of iscsi', () => {
  it('is required of applies that create and that drop it [S26]', () =>
    withServer(async (api) => {
      expect(refusal(await apply(api, `${volumes}/a`, volume(lunless)))).toEqual([422, lun])
      expect(refusal(await apply(api, `${volumes}/a`, volume(lunless), dry))).toEqual([422, lun])
      expect((await apply(api, `${volumes}/a`, volume(whole))).status).toBe(201)
      expect(refusal(await apply(api, `${volumes}/a`, volume(lunless)))).toEqual([422, lun])
      expect(refusal(await apply(api, `${volumes}/a`, volume(lunless), dry))).toEqual([422, lun])
      // Another manager keeps it.
      expect((await apply(api, `${volumes}/a`, volume(lunless), { fieldManager: 'other' })).status).toBe(200)
    }))

  it('is required of the results of patches, also in a dry run [S26]', () =>
    withServer(async (api) => {
      await api.post(volumes, volume(whole))
      const removal = { spec: { iscsi: { lun: null } } }
      expect(refusal(await api.patch(`${volumes}/a`, removal))).toEqual([422, lun])
      expect(refusal(await api.patch(`${volumes}/a`, removal, { query: dry }))).toEqual([422, lun])
      expect(refusal(await strategicPatch(api, `${volumes}/a`, removal))).toEqual([422, lun])
      expect(refusal(await jsonPatch(api, `${volumes}/a`, [{ op: 'remove', path: '/spec/iscsi/lun' }]))).toEqual([422, lun])
      expect((await api.patch(`${volumes}/a`, { metadata: { labels: { a: 'b' } } })).status).toBe(200)
    }))

  it('is required of the templates of workloads [S26]', () =>
    withServer(async (api) => {
      expect(refusal(await apply(api, `${deployments}/a`, deployment(whole, lunless)))).toEqual([422, lunOf(1)])
      await api.post(deployments, deployment(whole))
      const added = { spec: { template: { spec: { volumes: [{ name: 'v1', iscsi: lunless }] } } } }
      expect(refusal(await strategicPatch(api, `${deployments}/a`, added))).toEqual([422, lunOf(0)])
      expect((await api.patch(`${deployments}/a`, { spec: { replicas: 2 } })).status).toBe(200)
      expect((await api.patch(`${deployments}/a/scale`, { spec: { replicas: 3 } })).status).toBe(200)
      expect((await api.patch(`${deployments}/a/status`, { status: { observedGeneration: 1 } })).status).toBe(200)
    }))

  it('stays absent from objects that are stored without it [S26]', () =>
    withServer(async (api) => {
      await api.post(deployments, deployment(whole))
      const [entry] = (await api.storage.list({ prefix: '/apps/deployments/' })).entries
      if (entry === undefined) throw new Error('no deployment is stored')
      const text = new TextDecoder().decode(entry.value).replace(',"lun":0', '')
      expect(text).not.toContain('"lun"')
      await api.storage.put(entry.key, () => new TextEncoder().encode(text))
      expect((await api.patch(`${deployments}/a`, { metadata: { labels: { a: 'b' } } }, { query: dry })).status).toBe(200)
      expect((await apply(api, `${deployments}/a`, deployment(lunless), { ...dry, force: 'true' })).status).toBe(200)
      expect((await api.put(`${deployments}/a`, deployment(lunless), { query: dry })).status).toBe(200)
      expect(refusal(await api.put(`${deployments}/a`, deployment(lunless, lunless)))).toEqual([422, lunOf(1)])
    }))
})

it('the spec of a driver is required by every verb [S92]', () =>
  withServer(async (api) => {
    const required = [422, 'spec FieldValueRequired']
    expect(refusal(await apply(api, `${drivers}/d`, driver({})))).toEqual(required)
    expect(refusal(await apply(api, `${drivers}/d`, driver({}), dry))).toEqual(required)
    const { json } = await api.post(drivers, driver({ spec: { podInfoOnMount: true } }))
    const { resourceVersion } = json.metadata
    expect(refusal(await api.put(`${drivers}/d`, driver({ metadata: { name: 'd', resourceVersion } })))).toContain(required[1])
    expect(refusal(await api.patch(`${drivers}/d`, { spec: null }))).toContain(required[1])
    expect(refusal(await jsonPatch(api, `${drivers}/d`, [{ op: 'remove', path: '/spec' }]))).toContain(required[1])
    expect((await apply(api, `${drivers}/d`, driver({}))).status).toBe(200)
    expect((await apply(api, `${drivers}/d`, driver({ spec: { podInfoOnMount: true } }))).status).toBe(200)
  }))

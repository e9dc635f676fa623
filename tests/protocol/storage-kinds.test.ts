import { describe, expect, it } from 'vitest'
import { type Answer, startApi, type TestApi } from './server.ts'

/** Storage classes, attachments and drivers. @see Configuration and storage specification, 2.6 to 2.8, 3 and 4 */

const group = '/apis/storage.k8s.io/v1'
const classes = `${group}/storageclasses`
const attachments = `${group}/volumeattachments`
const drivers = `${group}/csidrivers`

const made = (kind: string, name: string, rest: object) => ({
  apiVersion: 'storage.k8s.io/v1',
  kind,
  metadata: { name },
  ...rest,
})
const classOf = (rest: object = {}) => made('StorageClass', 'a', { provisioner: 'example.com/disk', ...rest })
const source = { persistentVolumeName: 'p' }
const attachmentOf = (spec: object = {}) =>
  made('VolumeAttachment', 'a', { spec: { attacher: 'd.example.com', nodeName: 'n', source, ...spec } })
const driverOf = (name: string, spec: object | undefined = {}) => made('CSIDriver', name, spec === undefined ? {} : { spec })

/** The fields of the causes of a response. */
const faults = ({ json }: Answer) => (json.details?.causes ?? []).map(({ field, reason }) => `${field} ${reason}`)

async function withServer(check: (api: TestApi) => Promise<void>): Promise<void> {
  await using api = await startApi()
  await check(api)
}

describe('storage classes', () => {
  it('a class requires a provisioner [S79]', () =>
    withServer(async (api) => {
      const refused = await api.post(classes, classOf({ provisioner: undefined }))
      expect(refused.status).toBe(422)
      expect(faults(refused)).toEqual(['provisioner FieldValueRequired'])
    }))

  it('a class may allow expansion; parameters and mount options are immutable [S80]', () =>
    withServer(async (api) => {
      const given = { allowVolumeExpansion: true, mountOptions: ['ro'], parameters: { tier: 'fast' } }
      expect((await api.post(classes, classOf(given))).json).toMatchObject(given)
      expect((await api.patch(`${classes}/a`, { allowVolumeExpansion: false })).status).toBe(200)
      expect(faults(await api.patch(`${classes}/a`, { parameters: { tier: 'slow' } }))).toEqual([
        'parameters FieldValueForbidden',
      ])
    }))

  it('topology terms have keys and values [S81]', () =>
    withServer(async (api) => {
      const terms = (matchLabelExpressions: object[]) => classOf({ allowedTopologies: [{ matchLabelExpressions }] })
      const at = 'allowedTopologies[0].matchLabelExpressions[0]'
      expect(faults(await api.post(classes, terms([{ key: 'zone' }])))).toEqual([`${at}.values FieldValueRequired`])
      const keyless = faults(await api.post(classes, terms([{ values: ['a'] }])))
      expect(keyless.every((fault) => fault.startsWith(`${at}.key `))).toBe(true)
      expect(keyless.length).toBeGreaterThan(0)
      expect((await api.post(classes, terms([{ key: 'zone', values: ['a', 'b'] }]))).status).toBe(201)
    }))

  it('topologies are atomic [S82]', () =>
    withServer(async (api) => {
      const term = (zone: string) => ({ matchLabelExpressions: [{ key: 'zone', values: [zone] }] })
      await api.post(classes, classOf({ allowedTopologies: [term('a'), term('b')] }))
      const headers = { 'content-type': 'application/strategic-merge-patch+json' }
      const { json } = await api.patch(`${classes}/a`, { allowedTopologies: [term('c')] }, { headers })
      expect(json['allowedTopologies']).toEqual([term('c')])
    }))

  it('the defaults are Delete and Immediate [S83, S84]', () =>
    withServer(async (api) => {
      const { json } = await api.post(classes, classOf())
      expect(json).toMatchObject({ reclaimPolicy: 'Delete', volumeBindingMode: 'Immediate' })
      expect(faults(await api.post(classes, classOf({ reclaimPolicy: 'Recycle', volumeBindingMode: 'Later' })))).toEqual([
        'reclaimPolicy FieldValueNotSupported',
        'volumeBindingMode FieldValueNotSupported',
      ])
    }))
})

describe('volume attachments', () => {
  it('an attachment has an immutable attacher, node and source [S85]', () =>
    withServer(async (api) => {
      for (const [member, place] of [
        ['attacher', 'spec.attacher'],
        ['nodeName', 'spec.nodeName'],
        ['source', 'spec.source'],
      ] as const) {
        const refused = await api.post(attachments, attachmentOf({ [member]: undefined }))
        expect(refused.status, member).toBe(422)
        expect(new Set(faults(refused).map((fault) => fault.split(' ')[0])), member).toEqual(new Set([place]))
      }
      expect((await api.post(attachments, attachmentOf())).status).toBe(201)
      expect(faults(await api.patch(`${attachments}/a`, { spec: { nodeName: 'm' } }))).toEqual(['spec FieldValueInvalid'])
    }))

  it('an attachment has exactly one source [S86]', () =>
    withServer(async (api) => {
      const inline = { accessModes: ['ReadWriteOnce'], csi: { driver: 'd.example.com', volumeHandle: 'h' } }
      const both = await api.post(attachments, attachmentOf({ source: { ...source, inlineVolumeSpec: inline } }))
      expect(faults(both)).toEqual(['spec.source FieldValueForbidden'])
      expect((await api.post(attachments, attachmentOf({ source: { inlineVolumeSpec: inline } }))).status).toBe(201)
    }))

  it('only the status subresource writes the status [S87, S99]', () =>
    withServer(async (api) => {
      const sent = { ...attachmentOf(), status: { attached: true } }
      expect((await api.post(attachments, sent)).json.status).toEqual({ attached: false })
      expect((await api.patch(`${attachments}/a`, { status: { attached: true } })).json.status).toEqual({ attached: false })
      const response = await api.patch(`${attachments}/a/status`, { status: { attached: true }, spec: { nodeName: 'm' } })
      expect(response.json).toMatchObject({ spec: { nodeName: 'n' }, status: { attached: true } })
    }))

  it('the status has attached [S88]', () =>
    withServer(async (api) => {
      const { json } = await api.post(attachments, attachmentOf())
      const silent = await api.put(`${attachments}/a/status`, { ...json, status: { attachError: { message: 'no' } } })
      expect(silent.status).toBe(422)
      expect(faults(silent)).toEqual(['status.attached FieldValueRequired'])
      const spec = { ...json, spec: { ...json['spec'], nodeName: 'm' } }
      expect(faults(await api.put(`${attachments}/a`, spec))).toEqual(['spec FieldValueInvalid'])
      const long = { attachError: { message: 'x'.repeat(1025) } }
      expect(faults(await api.put(`${attachments}/a/status`, { ...json, status: long }))).toEqual([
        'status.attached FieldValueRequired',
        'status.attachError.message FieldValueTooLong',
        'status.attachError.message FieldValueTooLong',
      ])
      const other = { ...json, metadata: { name: 'b' }, status: {} }
      expect((await api.put(`${attachments}/a/status`, other)).status).toBe(400)
    }))

  it('the status has the last errors and the attachment metadata [S89]', () =>
    withServer(async (api) => {
      await api.post(attachments, attachmentOf())
      const status = {
        attached: false,
        attachError: { time: '2020-01-02T03:04:05Z', message: 'busy' },
        detachError: { time: '2020-01-02T03:04:06Z', message: 'lost' },
        attachmentMetadata: { dev: '/dev/x' },
      }
      expect((await api.patch(`${attachments}/a/status`, { status })).json.status).toEqual(status)
    }))
})

describe('CSI drivers', () => {
  it('a name has up to 63 characters [S90]', () =>
    withServer(async (api) => {
      expect((await api.post(drivers, driverOf('d'.repeat(63)))).status).toBe(201)
      expect(faults(await api.post(drivers, driverOf('d'.repeat(64))))).toEqual(['metadata.name FieldValueTooLong'])
    }))

  it('a name starts and ends with a letter or digit [S91]', () =>
    withServer(async (api) => {
      for (const name of ['1.d-e.2', 'd']) expect((await api.post(drivers, driverOf(name))).status, name).toBe(201)
      for (const name of ['-d', 'd-', '.d', 'd_e']) expect((await api.post(drivers, driverOf(name))).status, name).toBe(422)
    }))

  it('a driver requires a spec [S92]', () =>
    withServer(async (api) => {
      const refused = await api.post(drivers, made('CSIDriver', 'd', {}))
      expect([refused.status, ...faults(refused)]).toEqual([422, 'spec FieldValueRequired'])
    }))

  it('attachRequired and fsGroupPolicy are immutable [S93, S95]', () =>
    withServer(async (api) => {
      await api.post(drivers, driverOf('d', { attachRequired: false, fsGroupPolicy: 'File' }))
      const attaching = await api.patch(`${drivers}/d`, { spec: { attachRequired: true } })
      expect([attaching.status, ...faults(attaching)]).toEqual([422, 'spec.attachedRequired FieldValueInvalid'])
      const grouping = await api.patch(`${drivers}/d`, { spec: { fsGroupPolicy: 'None' } })
      expect([grouping.status, ...faults(grouping)]).toEqual([422, 'spec.fsGroupPolicy FieldValueInvalid'])
    }))

  it('defaults of a driver [S94, S96]', () =>
    withServer(async (api) => {
      const { json } = await api.post(drivers, driverOf('d'))
      expect(json.spec).toMatchObject({ attachRequired: true, fsGroupPolicy: 'ReadWriteOnceWithFSType', podInfoOnMount: false })
    }))
})

describe('operations', () => {
  const kinds = [
    ['StorageClass', classes, classOf()],
    ['VolumeAttachment', attachments, attachmentOf()],
  ] as const

  it('classes and attachments are cluster-scoped [S100]', () =>
    withServer(async (api) => {
      for (const [kind, path, object] of kinds) {
        expect((await api.post(path, object)).json.kind).toBe(kind)
        expect((await api.get(`${path}/a`)).json.metadata.name).toBe('a')
        expect((await api.get(`${group}/namespaces/default/${path.split('/').at(-1)}`)).status).toBe(404)
      }
    }))

  it('attachments have a status subresource; classes have none [S101, S106, S108]', () =>
    withServer(async (api) => {
      await api.post(attachments, attachmentOf())
      const read = await api.get(`${attachments}/a/status`)
      expect([read.status, read.json.kind]).toEqual([200, 'VolumeAttachment'])
      const put = await api.put(`${attachments}/a/status`, { ...read.json, status: { attached: true } })
      expect([put.status, put.json.status]).toEqual([200, { attached: true }])
      const patched = await api.patch(`${attachments}/a/status`, { status: { attached: false } })
      expect([patched.status, patched.json.status]).toEqual([200, { attached: false }])
      await api.post(classes, classOf())
      expect((await api.get(`${classes}/a/status`)).status).toBe(404)
    }))

  it('create, get, list, replace and patch [S102, S103, S104, S105, S107]', () =>
    withServer(async (api) => {
      for (const [kind, path, object] of kinds) {
        const created = await api.post(path, object)
        expect([created.status, created.json.kind]).toEqual([201, kind])
        expect((await api.get(`${path}/a`, { pretty: 'true' })).json).toEqual(created.json)
        const listed = await api.get(path, { limit: '1', fieldSelector: 'metadata.name=a' })
        expect([listed.json.kind, listed.json.items.length]).toEqual([`${kind}List`, 1])
        const next = { ...created.json, metadata: { ...created.json.metadata, labels: { a: 'b' } } }
        const replaced = await api.put(`${path}/a`, next)
        expect([replaced.status, replaced.json.metadata.labels]).toEqual([200, { a: 'b' }])
        expect((await api.patch(`${path}/a`, { metadata: { labels: { c: 'd' } } })).json.metadata.labels).toEqual({
          a: 'b',
          c: 'd',
        })
      }
    }))

  it('a deletion returns the object [S110]', () =>
    withServer(async (api) => {
      for (const [kind, path, object] of kinds) {
        await api.post(path, object)
        const gone = await api.delete(`${path}/a`)
        expect([gone.status, gone.json.kind]).toEqual([200, kind])
        await api.post(path, { ...object, metadata: { name: 'held', finalizers: ['example.com/hold'] } })
        const held = await api.delete(`${path}/held`)
        expect([200, 202]).toContain(held.status)
        expect(held.json).toMatchObject({ kind, metadata: { name: 'held', deletionTimestamp: expect.any(String) } })
      }
    }))

  it('deletecollection returns a list or a Status [S111]', () =>
    withServer(async (api) => {
      for (const [kind, path, object] of kinds) {
        await api.post(path, object)
        const { status, json } = await api.delete(path)
        expect(status).toBe(200)
        expect([`${kind}List`, 'Status']).toContain(json.kind)
        expect((await api.get(path)).json.items).toEqual([])
      }
    }))
})

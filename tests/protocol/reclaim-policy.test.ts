import { createCatalog } from '@krmkit/kinds'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startApi, type TestApi } from './server.ts'

/** What happens to a volume when its claim is deleted. @see Configuration and storage specification, 2.5 and 2.6 */

const volumes = '/api/v1/persistentvolumes'
const classes = '/apis/storage.k8s.io/v1/storageclasses'
const volume = (name: string, spec: object = {}) => ({
  metadata: { name },
  spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], nfs: { server: 's', path: '/a' }, ...spec },
})

let api: TestApi
beforeAll(async () => {
  const { types, definitions } = createCatalog()
  api = await startApi({ types, kinds: definitions })
})
afterAll(() => api.close())

describe('the reclaim policy', () => {
  it('is Delete for volumes of a class, and Retain for other volumes, unless given [S71]', async () => {
    const given = { metadata: { name: 'kept' }, provisioner: 'example.com/disk', reclaimPolicy: 'Retain' }
    expect(
      (await api.post(classes, { ...given, metadata: { name: 'plain' }, reclaimPolicy: undefined })).json['reclaimPolicy'],
    ).toBe('Delete')
    expect((await api.post(classes, given)).json['reclaimPolicy']).toBe('Retain')
    const made = async (name: string, policy?: string) =>
      (await api.post(volumes, volume(name, policy === undefined ? {} : { persistentVolumeReclaimPolicy: policy }))).json.spec[
        'persistentVolumeReclaimPolicy'
      ]
    expect([await made('manual'), await made('dynamic', 'Delete')]).toEqual(['Retain', 'Delete'])
  })

  it('Recycle is deprecated: accepted with a warning, on creation and on update [S71]', async () => {
    const warning =
      'spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.'
    const recycled = await api.post(volumes, volume('recycled', { persistentVolumeReclaimPolicy: 'Recycle' }))
    expect([recycled.status, recycled.warnings]).toEqual([201, [warning]])
    const kept = await api.patch(`${volumes}/recycled`, { spec: { persistentVolumeReclaimPolicy: 'Retain' } })
    expect([kept.status, kept.warnings]).toEqual([200, []])
    const again = await api.patch(`${volumes}/recycled`, { spec: { persistentVolumeReclaimPolicy: 'Recycle' } })
    expect([again.status, again.warnings]).toEqual([200, [warning]])
  })

  it('has no other values [S71]', async () => {
    const refused = await api.post(volumes, volume('burnt', { persistentVolumeReclaimPolicy: 'Burn' }))
    expect([refused.status, refused.json.details.causes]).toEqual([
      422,
      [
        {
          reason: 'FieldValueNotSupported',
          message: 'Unsupported value: "Burn": supported values: "Delete", "Recycle", "Retain"',
          field: 'spec.persistentVolumeReclaimPolicy',
        },
      ],
    ])
  })
})

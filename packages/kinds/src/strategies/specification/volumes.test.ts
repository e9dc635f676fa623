import { describe, expect, it } from 'vitest'
import { Pod } from '../../group-versions/core-v1.generated.ts'
import { faults, podWith, volumeFaults, withDefaults } from '../testing/objects.ts'

/** Volumes of pods: names and vendor-neutral sources. @see Configuration and storage specification, 2.3 */

describe('volumes', () => {
  it('require unique names that are DNS labels [S11]', () => {
    const empty = { emptyDir: {} }
    expect(faults(Pod.validate(podWith({ name: '', ...empty })))).toEqual(['spec.volumes[0].name Required'])
    for (const name of ['a.b', 'A', 'a_b', '-a', 'a'.repeat(64)])
      expect(faults(Pod.validate(podWith({ name, ...empty }))), name).toEqual(['spec.volumes[0].name Invalid'])
    expect(faults(Pod.validate(podWith({ name: 'v', ...empty }, { name: 'v', ...empty })))).toEqual([
      'spec.volumes[1].name Duplicate',
    ])
    expect(Pod.validate(podWith({ name: 'a'.repeat(63), ...empty }, { name: '0', ...empty }))).toEqual([])
  })

  it('require exactly one source; none means emptyDir [S12]', () => {
    expect(volumeFaults({ emptyDir: {}, hostPath: { path: '/a' } })).toEqual(['hostPath Forbidden'])
    expect(volumeFaults({ configMap: { name: 'm' }, secret: { secretName: 's' }, nfs: { server: 's', path: '/' } })).toEqual([
      'nfs Forbidden',
      'configMap Forbidden',
    ])
    expect(withDefaults({})).toEqual({ emptyDir: {} })
    expect(volumeFaults({})).toEqual([])
  })

  it('require the name of a claim [S13]', () => {
    expect(volumeFaults({ persistentVolumeClaim: {} })).toEqual(['persistentVolumeClaim.claimName Required'])
    expect(volumeFaults({ persistentVolumeClaim: { claimName: 'c', readOnly: true } })).toEqual([])
    expect(withDefaults({ persistentVolumeClaim: { claimName: 'c' } })).toEqual({ persistentVolumeClaim: { claimName: 'c' } })
  })

  it('require the name of a config map, which may be optional [S14]', () => {
    expect(volumeFaults({ configMap: {} })).toEqual(['configMap.name Required'])
    const given = { name: 'm', optional: true, items: [{ key: 'k', path: 'p' }], defaultMode: 256 }
    expect(volumeFaults({ configMap: given })).toEqual([])
    expect(withDefaults({ configMap: given })).toEqual({ configMap: given })
  })

  it('default modes to 0644 and accept 0 to 0777 [S15]', () => {
    const sources = [
      { configMap: { name: 'm' } },
      { secret: { secretName: 's' } },
      { downwardAPI: {} },
      { projected: { sources: [] } },
    ] as const
    for (const source of sources) {
      const [name, members] = Object.entries(source)[0]!
      expect(Object.values(withDefaults(source))[0], name).toMatchObject({ defaultMode: 0o644 })
      for (const mode of [0, 0o777]) expect(volumeFaults({ [name]: { ...members, defaultMode: mode } }), name).toEqual([])
      for (const mode of [-1, 0o1000])
        expect(volumeFaults({ [name]: { ...members, defaultMode: mode } }), name).toEqual([`${name}.defaultMode Invalid`])
    }
  })

  it('require the name of a secret, with the rules of config maps otherwise [S17]', () => {
    expect(volumeFaults({ secret: {} })).toEqual(['secret.secretName Required'])
    const given = { secretName: 's', optional: false, items: [{ key: 'k', path: 'p', mode: 0 }], defaultMode: 0 }
    expect([volumeFaults({ secret: given }), withDefaults({ secret: given })]).toEqual([[], { secret: given }])
  })

  it('accept files of the downward API [S18 S36 S37 S38]', () => {
    const file = (members: object) => volumeFaults({ downwardAPI: { items: [members] } })
    const name = { fieldRef: { fieldPath: 'metadata.name' } }
    expect(volumeFaults({ downwardAPI: {} })).toEqual([])
    expect(withDefaults({ downwardAPI: { items: [{ path: 'p', ...name }] } })).toMatchObject({
      downwardAPI: { items: [{ path: 'p', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.name' } }] },
    })
    expect(file({ path: '', ...name })).toEqual(['downwardAPI.path Required'])
    for (const path of ['/abs', '../up', 'a/../b', '..a'])
      expect(file({ path, ...name }), path).toEqual(['downwardAPI.path Invalid'])
    for (const path of ['a/b', 'ä', 'a..b']) expect(file({ path, ...name }), path).toEqual([])
    expect(file({ path: 'p' })).toEqual(['downwardAPI Required'])
    const cpu = { resourceFieldRef: { containerName: 'c', resource: 'limits.cpu' } }
    expect(file({ path: 'p', ...name, ...cpu })).toEqual(['downwardAPI Invalid'])
    expect(file({ path: 'p', ...name, mode: 0o1000 })).toEqual(['downwardAPI.mode Invalid'])
  })

  it('require relative paths within the volume, of any characters [S36]', () => {
    const name = { fieldRef: { fieldPath: 'metadata.name' } }
    const paths = { '': 'Required', '/a': 'Invalid', '..': 'Invalid', 'a/..': 'Invalid', ключ: undefined }
    for (const [path, wrong] of Object.entries(paths)) {
      const found = volumeFaults({ downwardAPI: { items: [{ path, ...name }] } })
      expect(found, path).toEqual(wrong === undefined ? [] : [`downwardAPI.path ${wrong}`])
    }
  })

  it('accept certain fields of the pod [S37]', () => {
    const field = (fieldPath: string) => volumeFaults({ downwardAPI: { items: [{ path: 'p', fieldRef: { fieldPath } }] } })
    for (const name of ['annotations', 'labels', 'name', 'namespace', 'uid']) expect(field(`metadata.${name}`), name).toEqual([])
    expect(field("metadata.labels['a']")).toEqual([])
    for (const path of ['spec.nodeName', 'status.podIP', 'metadata.finalizers', 'metadata.generation'])
      expect(field(path), path).toHaveLength(1)
    expect(field('')).toEqual(['downwardAPI.fieldRef.fieldPath Required'])
  })

  it('accept certain resources of a named container [S38]', () => {
    const resource = (members: object) => volumeFaults({ downwardAPI: { items: [{ path: 'p', resourceFieldRef: members }] } })
    for (const name of ['limits.cpu', 'limits.memory', 'requests.cpu', 'requests.memory', 'limits.ephemeral-storage'])
      expect(resource({ containerName: 'c', resource: name }), name).toEqual([])
    expect(resource({ containerName: 'c', resource: 'limits.gpu' })).toEqual([
      'downwardAPI.resourceFieldRef.resource NotSupported',
    ])
    expect(resource({ resource: 'limits.cpu' })).toEqual(['downwardAPI.resourceFieldRef.containerName Required'])
  })

  it('project several sources into one directory and reject two files of one path [S19]', () => {
    const sources = [
      { configMap: { name: 'm', items: [{ key: 'k', path: 'a' }] } },
      { secret: { name: 's', items: [{ key: 'k', path: 'b' }], optional: true } },
      { downwardAPI: { items: [{ path: 'c', fieldRef: { fieldPath: 'metadata.name' } }] } },
      { serviceAccountToken: { path: 'd' } },
    ]
    expect(volumeFaults({ projected: { sources } })).toEqual([])
    expect(withDefaults({ projected: { sources } })).toMatchObject({ projected: { defaultMode: 0o644 } })
    expect(
      volumeFaults({ projected: { sources: [...sources, { secret: { name: 't', items: [{ key: 'k', path: 'a' }] } }] } }),
    ).toEqual(['projected Invalid'])
    expect(volumeFaults({ projected: { sources: [{ configMap: {}, secret: { name: 's' } }] } })).toEqual([
      'projected.sources[0].configMap.name Required',
      'projected.sources[0] Forbidden',
    ])
  })

  it('require the path of a token and default its lifetime to an hour, 10 minutes at least [S20]', () => {
    const token = (members: object) => ({ projected: { sources: [{ serviceAccountToken: members }] } })
    expect(withDefaults(token({ path: 't' }))).toMatchObject(token({ path: 't', expirationSeconds: 3600 }))
    expect(withDefaults(token({ path: 't', audience: 'a', expirationSeconds: 600 }))).toMatchObject(
      token({ path: 't', audience: 'a', expirationSeconds: 600 }),
    )
    expect(volumeFaults(token({ path: 't', expirationSeconds: 600 }))).toEqual([])
    for (const expirationSeconds of [599, 0, -1, 2 ** 32 + 1])
      expect(volumeFaults(token({ path: 't', expirationSeconds })), `${expirationSeconds}`).toEqual([
        'projected.sources[0].serviceAccountToken.expirationSeconds Invalid',
      ])
    expect(volumeFaults(token({}))).toEqual(['projected.path Required'])
    expect(volumeFaults(token({ path: '../t' }))).toEqual(['projected.path Invalid'])
  })

  it('accept emptyDir on disk, in memory or in huge pages [S21]', () => {
    for (const medium of ['', 'Memory', 'HugePages', 'HugePages-2Mi']) expect(volumeFaults({ emptyDir: { medium } })).toEqual([])
    for (const medium of ['memory', 'Disk', 'Huge'])
      expect(volumeFaults({ emptyDir: { medium } })).toEqual(['emptyDir.medium NotSupported'])
    expect(withDefaults({ emptyDir: { medium: '' } })).toEqual({ emptyDir: {} })
  })

  it('accept a size limit of emptyDir [S22]', () => {
    expect(withDefaults({ emptyDir: { sizeLimit: '1024Mi' } })).toEqual({ emptyDir: { sizeLimit: '1Gi' } })
    expect(volumeFaults({ emptyDir: { sizeLimit: '0' } })).toEqual([])
    expect(volumeFaults({ emptyDir: { sizeLimit: '-1' } })).toEqual(['emptyDir.sizeLimit Forbidden'])
  })

  it('require the path of hostPath and accept known types [S23]', () => {
    expect(volumeFaults({ hostPath: {} })).toEqual(['hostPath.path Required'])
    expect(withDefaults({ hostPath: { path: '/a' } })).toEqual({ hostPath: { path: '/a', type: '' } })
    expect(volumeFaults({ hostPath: { path: '/a', type: 'Directory' } })).toEqual([])
    expect(volumeFaults({ hostPath: { path: '/a', type: 'Folder' } })).toEqual(['hostPath.type NotSupported'])
    expect(volumeFaults({ hostPath: { path: '/a/../b' } })).toEqual(['hostPath.path Invalid'])
  })

  it('require a server and an absolute path of nfs [S24]', () => {
    expect(volumeFaults({ nfs: {} })).toEqual(['nfs.server Required', 'nfs.path Required', 'nfs.path Invalid'])
    expect(volumeFaults({ nfs: { server: 's', path: 'relative' } })).toEqual(['nfs.path Invalid'])
    expect(volumeFaults({ nfs: { server: 's', path: '/exports', readOnly: true } })).toEqual([])
  })

  const iscsi = { targetPortal: '10.0.0.1:3260', iqn: 'iqn.2001-04.com.example:storage.disk', lun: 0 }

  it('require a portal and an IQN of iscsi, and default its interface [S25]', () => {
    expect(volumeFaults({ iscsi })).toEqual([])
    expect(withDefaults({ iscsi })).toEqual({ iscsi: { ...iscsi, iscsiInterface: 'default' } })
    expect(volumeFaults({ iscsi: { lun: 0 } })).toEqual(['iscsi.targetPortal Required', 'iscsi.iqn Required'])
    expect(volumeFaults({ iscsi: { ...iscsi, iqn: 'disk' } })).toEqual(['iscsi.iqn Invalid'])
    for (const member of ['chapAuthDiscovery', 'chapAuthSession']) {
      expect(volumeFaults({ iscsi: { ...iscsi, [member]: true } }), member).toEqual(['iscsi.secretRef Required'])
      expect(volumeFaults({ iscsi: { ...iscsi, [member]: true, secretRef: { name: 's' } } }), member).toEqual([])
    }
    const full = {
      ...iscsi,
      fsType: 'ext4',
      initiatorName: 'iqn.2001-04.com.example:me',
      iscsiInterface: 'eth1',
      portals: ['10.0.0.2:3260'],
      readOnly: true,
    }
    expect(withDefaults({ iscsi: full })).toEqual({ iscsi: full })
  })

  it('require a lun of iscsi, 255 at most [S26]', () => {
    const { lun: _, ...without } = iscsi
    expect(volumeFaults({ iscsi: without })).toEqual(['iscsi.lun Required'])
    expect(volumeFaults({ iscsi: { ...iscsi, lun: 255 } })).toEqual([])
    for (const lun of [-1, 256]) expect(volumeFaults({ iscsi: { ...iscsi, lun } })).toEqual(['iscsi.lun Invalid'])
  })

  it('require wwids, or target WWNs with a lun, of fc [S27]', () => {
    const names = ['500a0982991b8dc5']
    expect(volumeFaults({ fc: {} })).toEqual(['fc.targetWWNs Required'])
    expect(volumeFaults({ fc: { targetWWNs: names, wwids: ['a'], lun: 1 } })).toEqual(['fc.targetWWNs Invalid'])
    expect(volumeFaults({ fc: { targetWWNs: names } })).toEqual(['fc.lun Required'])
    expect(volumeFaults({ fc: { targetWWNs: names, lun: 256 } })).toEqual(['fc.lun Invalid'])
    expect([volumeFaults({ fc: { targetWWNs: names, lun: 0 } }), volumeFaults({ fc: { wwids: ['a'] } })]).toEqual([[], []])
  })

  it('require the driver of flexVolume [S28]', () => {
    expect(volumeFaults({ flexVolume: {} })).toEqual(['flexVolume.driver Required'])
    const given = { driver: 'd', fsType: 'ext4', options: { a: 'b' }, readOnly: true, secretRef: { name: 's' } }
    expect([volumeFaults({ flexVolume: given }), withDefaults({ flexVolume: given })]).toEqual([[], { flexVolume: given }])
    expect(volumeFaults({ flexVolume: { driver: 'd', options: { 'kubernetes.io/x': 'y' } } })).toEqual([
      'flexVolume.options[kubernetes.io/x] Invalid',
    ])
  })

  it('require the driver of csi [S29]', () => {
    expect(volumeFaults({ csi: {} })).toEqual(['csi.driver Required', 'csi.driver Invalid'])
    expect(volumeFaults({ csi: { driver: 'a_b' } })).toEqual(['csi.driver Invalid'])
    const given = {
      driver: 'd',
      readOnly: false,
      fsType: 'xfs',
      volumeAttributes: { a: 'b' },
      nodePublishSecretRef: { name: 's' },
    }
    expect([volumeFaults({ csi: given }), withDefaults({ csi: given })]).toEqual([[], { csi: given }])
    expect(volumeFaults({ csi: { driver: 'd', nodePublishSecretRef: {} } })).toEqual(['csi.nodePublishSecretRef.name Required'])
  })

  it('require the claim template of an ephemeral volume, with labels and annotations only [S30]', () => {
    const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } }
    const ephemeral = (volumeClaimTemplate?: object) => ({ ephemeral: { volumeClaimTemplate } })
    expect(volumeFaults(ephemeral())).toEqual(['ephemeral.volumeClaimTemplate Required'])
    expect(volumeFaults(ephemeral({}))).toEqual([
      'ephemeral.volumeClaimTemplate.spec.accessModes Required',
      'ephemeral.volumeClaimTemplate.spec.resources[storage] Required',
    ])
    expect(volumeFaults(ephemeral({ metadata: { labels: { a: 'b' }, annotations: { c: 'd' } }, spec }))).toEqual([])
    expect(volumeFaults(ephemeral({ metadata: { name: 'own', labels: { 'a b': 'c' } }, spec }))).toEqual([
      'ephemeral.volumeClaimTemplate.metadata.labels Invalid',
      'ephemeral.volumeClaimTemplate.metadata.name Forbidden',
    ])
    expect(withDefaults(ephemeral({ spec }))).toMatchObject(ephemeral({ spec: { ...spec, volumeMode: 'Filesystem' } }))
  })

  it('map keys to files within the volume, each with a mode [S33 S34]', () => {
    const item = (members: object) => volumeFaults({ configMap: { name: 'm', items: [members] } })
    const at = 'configMap.items[0]'
    expect(item({})).toEqual([`${at}.key Required`, `${at}.path Required`])
    for (const path of ['..', '../a', 'a/../b', '/a', '..a'])
      expect(item({ key: 'k', path }), path).toEqual([`${at}.path Invalid`])
    for (const path of ['a', 'a/b', 'a..']) expect(item({ key: 'k', path, mode: 0o777 }), path).toEqual([])
    for (const mode of [-1, 0o1000]) expect(item({ key: 'k', path: 'p', mode })).toEqual([`${at}.mode Invalid`])
  })

  it('accept modes of keys from 0 to 0777 [S34]', () => {
    for (const [mode, wrong] of [
      [0, 0],
      [0o777, 0],
      [-1, 1],
      [512, 1],
    ] as const)
      expect(volumeFaults({ secret: { secretName: 's', items: [{ key: 'k', path: 'p', mode }] } }), `${mode}`).toHaveLength(wrong)
  })
})

import { parseYaml } from '@krmkit/schema'
import { describe, expect, it } from 'vitest'
import { createCatalog } from '../../catalog/catalog.ts'
import { ConfigMap, Pod, Secret } from '../../group-versions/core-v1.generated.ts'
import { KindsError } from '../../kinds-error.ts'
import { base64, faults, podWith } from '../testing/objects.ts'

/** ConfigMaps and Secrets. @see Configuration and storage specification, 1, 2.1 and 2.2 */

const map = (members: Omit<ConfigMap, 'apiVersion' | 'kind' | 'metadata'>) =>
  ConfigMap.create({ metadata: { name: 'a', resourceVersion: '1', uid: 'u' }, ...members })
const secret = (members: Omit<Secret, 'apiVersion' | 'kind' | 'metadata'>) =>
  Secret.create({ metadata: { name: 'a', resourceVersion: '1', uid: 'u' }, ...members })
const mebibyte = 1024 * 1024

describe('kinds', () => {
  it('have a list kind whose items are required [S1]', () => {
    const catalog = createCatalog()
    const kinds = ['ConfigMap', 'Secret', 'PersistentVolumeClaim', 'PersistentVolume'].map((kind) => ['', kind])
    const others = ['StorageClass', 'VolumeAttachment', 'CSIDriver', 'CSINode', 'CSIStorageCapacity']
    for (const [group = '', kind = ''] of [...kinds, ...others.map((kind) => ['storage.k8s.io', kind])]) {
      const found = catalog.kind({ group, version: 'v1', kind })
      expect(found?.listKind).toBe(`${kind}List`)
      const list = catalog.types.struct(`${group === '' ? 'core' : 'storage'}/v1.${kind}List`)
      expect([...list.field.keys()], kind).toEqual(['kind', 'apiVersion', 'metadata', 'items'])
      expect(list.field.get('items')).toMatchObject({ optional: false, omitEmpty: false, type: { kind: 'list' } })
    }
  })
})

describe('config maps', () => {
  it('accept keys of letters, digits, dashes, underscores and dots [S2]', () => {
    expect(ConfigMap.validate(map({ data: { 'aZ0-_.x': '' }, binaryData: { '.x': '' } }))).toEqual([])
    for (const key of ['a/b', 'a b', 'é', '', '.', '..', '..a', 'k'.repeat(254)]) {
      expect(faults(ConfigMap.validate(map({ data: { [key]: 'v' } }))), key).toContain(`data[${key}] Invalid`)
      expect(faults(ConfigMap.validate(map({ binaryData: { [key]: 'eA==' } }))), key).toContain(`binaryData[${key}] Invalid`)
    }
  })

  it('reject a key in both maps [S3]', () => {
    const both = ConfigMap.validate(map({ data: { a: '1', b: '' }, binaryData: { a: 'eA==' } }))
    expect(both).toMatchObject([{ field: 'data[a]', reason: 'FieldValueInvalid' }])
    expect(both[0]?.message).toContain('duplicate of key present in binaryData')
  })

  it('replace invalid UTF-8 in data and keep any bytes in binaryData [S4]', () => {
    const bytes = Buffer.from(
      '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"k":"?"},"binaryData":{"b":"/w=="}}',
    )
    bytes[bytes.indexOf('?')] = 0xff
    const read = ConfigMap.decode(new Uint8Array(bytes))
    expect([read.data, read.binaryData]).toEqual([{ k: '\uFFFD' }, { b: '/w==' }])
  })

  it('freeze data and immutable itself if immutable is set [S5]', () => {
    const old = map({ data: { a: '1' }, binaryData: { b: 'eA==' }, immutable: true })
    expect(ConfigMap.validateUpdate({ ...old, metadata: { ...old.metadata, labels: { new: 'label' } } }, old)).toEqual([])
    expect(faults(ConfigMap.validateUpdate({ ...old, data: { a: '2' } }, old))).toEqual(['data Forbidden'])
    expect(faults(ConfigMap.validateUpdate({ ...old, binaryData: {} }, old))).toEqual(['binaryData Forbidden'])
    expect(faults(ConfigMap.validateUpdate({ ...old, immutable: false }, old))).toEqual(['immutable Forbidden'])
    const { immutable: _, ...unset } = old
    expect(faults(ConfigMap.validateUpdate(unset, old))).toEqual(['immutable Forbidden'])
    expect(ConfigMap.validateUpdate(old, unset)).toEqual([])
  })

  it('accept up to 1 MiB of data in total [S7]', () => {
    const half = 'x'.repeat(mebibyte / 2)
    expect(ConfigMap.validate(map({ data: { a: half }, binaryData: { b: base64(half) } }))).toEqual([])
    const over = ConfigMap.validate(map({ data: { a: `${half}x` }, binaryData: { b: base64(half) } }))
    expect(faults(over)).toEqual(['[] TooLong'])
    expect(faults(ConfigMap.validate(map({ data: { a: 'é'.repeat(mebibyte / 2 + 1) } })))).toEqual(['[] TooLong'])
  })
})

describe('secrets', () => {
  it('require base64 values and keys like those of a config map [S6]', () => {
    expect(() => Secret.decode({ ...secret({}), data: { a: 'no base64!' } })).toThrow(KindsError)
    expect(() => Secret.decode({ ...secret({}), data: { a: 'YQ' } })).toThrow('illegal base64 data')
    expect(Secret.decode({ ...secret({}), data: { a: 'YQ==' } }).data).toEqual({ a: 'YQ==' })
    expect(faults(Secret.validate(secret({ data: { 'a/b': 'YQ==' } })))).toEqual(['data[a/b] Invalid'])
  })

  it('accept up to 1 MiB of decoded data [S7]', () => {
    expect(Secret.validate(secret({ data: { a: base64('x'.repeat(mebibyte)) } }))).toEqual([])
    expect(faults(Secret.validate(secret({ data: { a: base64('x'.repeat(mebibyte + 1)) } })))).toEqual(['data TooLong'])
  })

  it('merge stringData into data and never return it [S8]', () => {
    const merged = Secret.default(secret({ data: { a: base64('1'), b: base64('2') }, stringData: { b: 'zwei', c: 'ü' } }))
    expect(merged.data).toEqual({ a: base64('1'), b: base64('zwei'), c: base64('ü') })
    expect(merged).not.toHaveProperty('stringData')
    const proto = Secret.default(secret({ stringData: JSON.parse('{"__proto__":"x"}') as Record<string, string> }))
    expect(Object.keys(proto.data ?? {})).toEqual(['__proto__'])
  })

  it('freeze data if immutable is set [S9]', () => {
    const old = secret({ data: { a: 'YQ==' }, immutable: true, type: 'Opaque' })
    expect(Secret.validateUpdate({ ...old, metadata: { ...old.metadata, annotations: { n: 'a' } } }, old)).toEqual([])
    expect(faults(Secret.validateUpdate({ ...old, data: { a: 'Yg==' } }, old))).toEqual(['data Forbidden'])
    expect(faults(Secret.validateUpdate({ ...old, stringData: { b: 'x' } }, old))).toEqual(['data Forbidden'])
    expect(faults(Secret.validateUpdate({ ...old, immutable: false }, old))).toEqual(['immutable Forbidden'])
  })

  it.each([
    ['kubernetes.io/tls', {}, ['data[tls.crt] Required', 'data[tls.key] Required']],
    ['kubernetes.io/tls', { 'tls.crt': 'YQ==', 'tls.key': '' }, []],
    ['kubernetes.io/basic-auth', {}, ['data[username] Required', 'data[password] Required']],
    ['kubernetes.io/basic-auth', { password: 'YQ==' }, []],
    ['kubernetes.io/ssh-auth', { 'ssh-privatekey': '' }, ['data[ssh-privatekey] Required']],
    ['kubernetes.io/ssh-auth', { 'ssh-privatekey': 'YQ==' }, []],
    ['kubernetes.io/dockercfg', {}, ['data[.dockercfg] Required']],
    ['kubernetes.io/dockercfg', { '.dockercfg': base64('{}') }, []],
    ['kubernetes.io/dockerconfigjson', { '.dockerconfigjson': base64('{') }, ['data[.dockerconfigjson] Invalid']],
    ['kubernetes.io/dockerconfigjson', { '.dockerconfigjson': base64('[]') }, ['data[.dockerconfigjson] Invalid']],
    ['kubernetes.io/dockerconfigjson', { '.dockerconfigjson': base64('{"auths":{}}') }, []],
    ['kubernetes.io/service-account-token', {}, ['metadata.annotations[kubernetes.io/service-account.name] Required']],
    ['example.com/anything', {}, []],
  ])('accept or reject type %s with %j [S10]', (type, data, wrong) => {
    expect(faults(Secret.validate(secret({ type, data })))).toEqual(wrong)
  })

  it('default the type to Opaque and keep it immutable [S10]', () => {
    expect(Secret.default(secret({})).type).toBe('Opaque')
    const old = secret({ type: 'example.com/a' })
    expect(faults(Secret.validateUpdate({ ...old, type: 'example.com/b' }, old))).toEqual(['type Invalid'])
  })
})

describe('files of volumes', () => {
  it('accept decimal modes in JSON, and octal ones in YAML [S16]', () => {
    const json = (mode: string) =>
      `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[],"volumes":[{"name":"v","secret":{"defaultMode":${mode}}}]}}`
    expect(Pod.decode(json('420')).spec?.volumes?.[0]?.secret?.defaultMode).toBe(0o644)
    expect(() => Pod.decode(json('0644'))).toThrow(KindsError)
    for (const mode of ['0644', '0o644', '420']) {
      const { value } = parseYaml(
        `kind: Pod\napiVersion: v1\nspec: {containers: [], volumes: [{name: v, secret: {defaultMode: ${mode}}}]}\n`,
      )
      expect(Pod.decode(value as object).spec?.volumes?.[0]?.secret?.defaultMode, mode).toBe(0o644)
    }
  })

  it('keep items and modes as sent; the kubelet resolves keys [S35]', () => {
    const items = [{ key: 'a', path: 'dir/b', mode: 0o400 }]
    const pod = podWith({ name: 'v', configMap: { name: 'm', items, optional: true } })
    expect(Pod.validate(pod)).toEqual([])
    expect(Pod.default(pod).spec?.volumes?.[0]?.configMap).toEqual({ name: 'm', items, defaultMode: 0o644, optional: true })
    expect(Pod.default(podWith({ name: 'v', secret: { secretName: 's' } })).spec?.volumes?.[0]?.secret).not.toHaveProperty(
      'items',
    )
  })
})

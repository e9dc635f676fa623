import { type ApiObject, seededRandom, stockProfile } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import type { AdmissionAttributes, AdmissionContext } from '../interfaces.ts'
import { serviceAccount } from './service-account.ts'

const plugin = serviceAccount({ profile: stockProfile, random: seededRandom(1) })
const attributes: AdmissionAttributes = {
  operation: 'CREATE',
  kind: { group: '', version: 'v1', kind: 'Pod' },
  resource: { group: '', version: 'v1', resource: 'pods' },
  subresource: '',
  name: 'p',
  namespace: 'ns',
  user: { username: 'u', groups: [] },
  dryRun: false,
}
const accounts: Record<string, object> = {
  default: {},
  quiet: { automountServiceAccountToken: false },
  puller: { imagePullSecrets: [{ name: 'registry' }] },
}
const context: AdmissionContext = {
  reader: {
    get: (_resource, _namespace, name) =>
      Object.hasOwn(accounts, name)
        ? ({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name }, ...accounts[name] } as ApiObject)
        : undefined,
    list: async () => [],
  },
  warn: () => {},
}

function admitted(spec: object): Record<string, unknown> {
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p' },
    spec: { containers: [{ name: 'c' }], ...spec },
  } as ApiObject & { spec: Record<string, unknown> }
  plugin.admit?.(pod, attributes, context)
  return pod.spec
}

describe('ServiceAccount', () => {
  it('handles new pods alone', () => {
    expect(plugin.handles(attributes)).toBe(true)
    expect(plugin.handles({ ...attributes, operation: 'UPDATE' })).toBe(false)
    expect(plugin.handles({ ...attributes, subresource: 'binding' })).toBe(false)
  })

  it('P295 the default account when none is named', () => {
    expect(admitted({})).toMatchObject({ serviceAccountName: 'default', serviceAccount: 'default' })
  })

  it('P296 an unknown account is refused', () => {
    expect(() => admitted({ serviceAccountName: 'nobody' })).toThrow(
      'pods "p" is forbidden: error looking up service account ns/nobody: serviceaccount "nobody" not found',
    )
  })

  it('P297 P298 a token, the authority and the namespace are mounted into every container at the known path', () => {
    const spec = admitted({ initContainers: [{ name: 'i' }] }) as {
      volumes: { name: string; projected: { sources: object[] } }[]
      containers: object[]
      initContainers: object[]
    }
    const [volume] = spec.volumes
    expect(volume?.name).toMatch(/^kube-api-access-[a-z0-9]{5}$/)
    expect(volume?.projected.sources).toEqual([
      { serviceAccountToken: { expirationSeconds: 3600, path: 'token' } },
      { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
      { downwardAPI: { items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }] } },
    ])
    const mount = { name: volume?.name, readOnly: true, mountPath: '/var/run/secrets/kubernetes.io/serviceaccount' }
    expect(spec.containers).toEqual([{ name: 'c', volumeMounts: [mount] }])
    expect(spec.initContainers).toEqual([{ name: 'i', volumeMounts: [mount] }])
  })

  it('P297 pod and account may decline; the pod counts more', () => {
    expect(admitted({ automountServiceAccountToken: false })['volumes']).toBeUndefined()
    expect(admitted({ serviceAccountName: 'quiet' })['volumes']).toBeUndefined()
    expect(admitted({ serviceAccountName: 'quiet', automountServiceAccountToken: true })['volumes']).toHaveLength(1)
  })

  it('P299 pull secrets of the account, unless the pod has its own', () => {
    expect(admitted({ serviceAccountName: 'puller' })['imagePullSecrets']).toEqual([{ name: 'registry' }])
    expect(admitted({ serviceAccountName: 'puller', imagePullSecrets: [{ name: 'own' }] })['imagePullSecrets']).toEqual([
      { name: 'own' },
    ])
  })
})

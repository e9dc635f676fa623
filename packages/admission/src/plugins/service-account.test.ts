import { type ApiObject, fakeClock, seededRandom, stockProfile } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import type { AdmissionAttributes, AdmissionContext } from '../interfaces.ts'
import { clusterOf, refusalOf, runAdmission, specOf } from '../testing/run-admission.ts'
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
  it('waits for the default account of a namespace only', async () => {
    const clock = fakeClock(0)
    const patient = serviceAccount({ random: seededRandom(1), defaultAccountWait: { clock, timeoutMs: 200 } })
    const made = new Set<string>()
    const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default' } }
    const reader = { ...context.reader, get: (_: unknown, __: string, name: string) => (made.has(name) ? account : undefined) }
    const admit = async (spec: object = {}) => {
      const pod = { ...account, kind: 'Pod', spec: { containers: [{ name: 'c' }], ...spec } }
      await patient.admit?.(pod, attributes, { ...context, reader })
      return pod.spec as unknown
    }
    await expect(admit({ serviceAccountName: 'own' })).rejects.toMatchObject({ code: 403 })
    const waiting = admit()
    await clock.advance(60)
    made.add('default')
    await clock.advance(60)
    expect(await waiting).toMatchObject({ serviceAccountName: 'default' })
    made.clear()
    const timedOut = expect(admit()).rejects.toMatchObject({ code: 403 })
    for (let turn = 0; turn < 10; turn++) await clock.advance(50)
    await timedOut
  })

  it('handles only pod creation and ephemeral containers', () => {
    expect(plugin.handles(attributes)).toBe(true)
    expect(plugin.handles({ ...attributes, operation: 'UPDATE' })).toBe(false)
    expect(plugin.handles({ ...attributes, subresource: 'binding' })).toBe(false)
  })

  it('sets the default account [P295]', () => {
    expect(admitted({})).toMatchObject({ serviceAccountName: 'default', serviceAccount: 'default' })
  })

  it('refuses an unknown account [P296]', () => {
    expect(() => admitted({ serviceAccountName: 'missing' })).toThrow(
      'pods "p" is forbidden: error looking up service account ns/missing: serviceaccount "missing" not found',
    )
    expect(() => admitted({ serviceAccountName: 'a/b' })).toThrow(
      'error looking up service account ns/a/b: invalid resource name "a/b": [may not contain \'/\']',
    )
  })

  it('mounts token, CA and namespace into every container at the standard path [P297, P298]', () => {
    const spec = admitted({ initContainers: [{ name: 'i' }] }) as {
      volumes: { name: string; projected: { sources: object[] } }[]
      containers: object[]
      initContainers: object[]
    }
    const [volume] = spec.volumes
    expect(volume?.name).toMatch(/^kube-api-access-[a-z0-9]{5}$/)
    expect(volume?.projected.sources).toEqual([
      { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
      { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
      { downwardAPI: { items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }] } },
    ])
    const mount = { name: volume?.name, readOnly: true, mountPath: '/var/run/secrets/kubernetes.io/serviceaccount' }
    expect(spec.containers).toEqual([{ name: 'c', volumeMounts: [mount] }])
    expect(spec.initContainers).toEqual([{ name: 'i', volumeMounts: [mount] }])
  })

  it('skips the mount when the pod or account opts out; the pod takes precedence [P297]', () => {
    expect(admitted({ automountServiceAccountToken: false })['volumes']).toBeUndefined()
    expect(admitted({ serviceAccountName: 'quiet' })['volumes']).toBeUndefined()
    expect(admitted({ serviceAccountName: 'quiet', automountServiceAccountToken: true })['volumes']).toHaveLength(1)
  })

  it("adds the account's pull secrets unless the pod has some [P299]", () => {
    expect(admitted({ serviceAccountName: 'puller' })['imagePullSecrets']).toEqual([{ name: 'registry' }])
    expect(admitted({ serviceAccountName: 'puller', imagePullSecrets: [{ name: 'own' }] })['imagePullSecrets']).toEqual([
      { name: 'own' },
    ])
  })
})

describe('ServiceAccount: references of pods', () => {
  const cluster = clusterOf({
    'serviceaccounts/ns/default': {},
    'serviceaccounts/ns/strict': {
      metadata: { annotations: { 'kubernetes.io/enforce-mountable-secrets': 'true' } },
      secrets: [{ name: 'yes' }],
      imagePullSecrets: [{ name: 'pull' }],
    },
  })
  const admissionOf = (spec: object, metadata: object = {}) =>
    runAdmission(plugin, 'pods', { object: { metadata, spec: { containers: [{ name: 'c' }], ...spec } } }, cluster)
  const refused = async (spec: object, metadata: object = {}) =>
    refusalOf(await admissionOf(spec, metadata)).replace('pods "a" is forbidden: ', '')
  const mirror = { annotations: { 'kubernetes.io/config.mirror': 'x' } }

  it('does not change mirror pods [P297]', async () => {
    expect(specOf(await admissionOf({}, mirror))).toEqual({ containers: [{ name: 'c' }] })
    expect(await refused({ volumes: [{ name: 'v', configMap: { name: 'x' } }] }, mirror)).toBe('')
  })

  it.each([
    [{ serviceAccountName: 'default' }, 'a mirror pod may not reference service accounts'],
    [{ imagePullSecrets: [{ name: 'x' }] }, 'a mirror pod may not reference secrets'],
    [{ volumes: [{ name: 'v', secret: { secretName: 'x' } }] }, 'a mirror pod may not reference secrets'],
    [{ volumes: [{ name: 'v', azureFile: { secretName: 'x' } }] }, 'a mirror pod may not reference secrets'],
    [{ volumes: [{ name: 'v', csi: { nodePublishSecretRef: { name: 'x' } } }] }, 'a mirror pod may not reference secrets'],
    [{ volumes: [{ name: 'v', rbd: { secretRef: { name: 'x' } } }] }, 'a mirror pod may not reference secrets'],
    [{ containers: [{ name: 'c', envFrom: [{ secretRef: { name: 'x' } }] }] }, 'a mirror pod may not reference secrets'],
    [
      { volumes: [{ name: 'v', projected: { sources: [{ serviceAccountToken: {} }] } }] },
      'a mirror pod may not use ServiceAccountToken volume projections',
    ],
  ])('refuses mirror pods with references: %j [P297]', async (spec, sentence) => {
    expect(await refused(spec, mirror)).toBe(sentence)
  })

  const because = 'is not allowed because service account strict does not reference that'
  const variable = (name: string) => ({ name: 'A', valueFrom: { secretKeyRef: { name } } })
  it.each([
    [{ volumes: [{ name: 'v', secret: { secretName: 'yes' } }], imagePullSecrets: [{ name: 'pull' }] }, ''],
    [{ volumes: [{ name: 'v', secret: { secretName: 'no' } }] }, `volume with secret.secretName="no" ${because} secret`],
    [
      { initContainers: [{ name: 'i', env: [variable('no')] }] },
      `init container i with envVar A referencing secret.secretName="no" ${because} secret`,
    ],
    [
      { containers: [{ name: 'c', envFrom: [{ secretRef: { name: 'no' } }] }] },
      `container c with envFrom referencing secret.secretName="no" ${because} secret`,
    ],
    [{ imagePullSecrets: [{ name: 'pull' }, { name: 'no' }] }, `imagePullSecrets[1].name="no" ${because} imagePullSecret`],
  ])('limits pods to the secrets of an enforcing account: %j [P296]', async (spec, sentence) => {
    expect(await refused({ ...spec, serviceAccountName: 'strict' })).toBe(sentence)
    expect(await refused({ ...spec, serviceAccountName: 'default' })).toBe('')
  })

  it('limits the secrets of ephemeral containers [P296]', async () => {
    const spec = { serviceAccountName: 'strict', containers: [], ephemeralContainers: [{ name: 'e', env: [variable('no')] }] }
    const result = await runAdmission(
      plugin,
      'pods',
      { object: { spec }, oldObject: { spec }, subresource: 'ephemeralcontainers' },
      cluster,
    )
    expect(refusalOf(result)).toBe(
      `pods "a" is forbidden: ephemeral container e with envVar A referencing secret.secretName="no" ${because} secret`,
    )
  })

  it('reuses an existing token volume [P298]', async () => {
    const spec = specOf(await admissionOf({ volumes: [{ name: 'kube-api-access-mine', emptyDir: {} }] }))
    expect(spec).toMatchObject({
      volumes: [{ name: 'kube-api-access-mine' }],
      containers: [{ volumeMounts: [{ name: 'kube-api-access-mine' }] }],
    })
  })

  it('adds no volume that no container mounts [P297]', async () => {
    const taken = { name: 'own', mountPath: '/var/run/secrets/kubernetes.io/serviceaccount' }
    expect(specOf(await admissionOf({ containers: [{ name: 'c', volumeMounts: [taken] }] })).volumes).toBeUndefined()
  })
})

import type { Authorizer } from '@krmkit/authorization'
import { createFeatures, type JsonObject, stockProfile, systemRandom } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { admit } from '../admit.ts'
import { createAdmissionPlugins } from '../create-plugins.ts'
import { ObjectSet } from '../object-set.ts'
import { podSecurityPolicy } from './pod-security-policy.ts'

const pods = { kind: { group: '', version: 'v1', kind: 'Pod' }, resource: { group: '', version: 'v1', resource: 'pods' } }
const psp = 'kubernetes.io/psp'

const anything = {
  seLinux: { rule: 'RunAsAny' },
  runAsUser: { rule: 'RunAsAny' },
  fsGroup: { rule: 'RunAsAny' },
  supplementalGroups: { rule: 'RunAsAny' },
  allowPrivilegeEscalation: true,
  volumes: ['*'],
}

type Policies = Readonly<Record<string, JsonObject>>

async function ask(
  policies: Policies,
  spec: JsonObject,
  options: {
    allows?: (user: string, name: string) => boolean
    old?: JsonObject
    annotations?: Record<string, string>
    policyAnnotations?: Record<string, string>
  } = {},
) {
  const cluster = new ObjectSet()
  for (const [name, own] of Object.entries(policies)) {
    const metadata = { name, annotations: options.policyAnnotations ?? {} }
    const object = { apiVersion: 'policy/v1beta1', kind: 'PodSecurityPolicy', metadata, spec: own }
    cluster.put({ group: 'policy', resource: 'podsecuritypolicies' }, object)
  }
  const asked: string[] = []
  const authorizer: Authorizer = {
    authorize({ user, verb, group, name, namespace }) {
      asked.push(`${user.username} ${verb} ${group} ${name} ${namespace}`)
      const isAllowed = options.allows?.(user.username, name) ?? true
      return { decision: isAllowed ? 'allow' : 'noOpinion', reason: '' }
    },
  }
  const metadata = {
    name: 'web',
    namespace: 'shop',
    ...(options.annotations === undefined ? {} : { annotations: options.annotations }),
  }
  const pod = (each: JsonObject) => ({ apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers: [{ name: 'c' }], ...each } })
  const request = {
    ...pods,
    user: { username: 'alice', groups: [] },
    object: pod(spec),
    ...(options.old === undefined ? {} : { operation: 'UPDATE' as const, oldObject: pod(options.old) }),
  }
  const result = await admit(request, [podSecurityPolicy({ profile: stockProfile, authorizer })], cluster)
  return { ...result, message: result.status?.message, pod: result.object as unknown as JsonObject | undefined, asked }
}

const chosen = async (...args: Parameters<typeof ask>) => (await ask(...args)).object?.metadata.annotations?.[psp]
const refusal = async (...args: Parameters<typeof ask>) => (await ask(...args)).message?.replace(/^.*?PodSecurityPolicy: /, '')

describe('the policy of a pod', () => {
  const changing = { ...anything, readOnlyRootFilesystem: true }

  it('is one that allows the pod as it is, before those that change it, and the first by name [P335]', async () => {
    expect(await chosen({ b: anything, a: anything }, {})).toBe('a')
    expect(await chosen({ a: changing, b: anything }, {})).toBe('b')
    const { pod } = await ask({ b: changing, a: changing }, {})
    expect(pod).toMatchObject({
      metadata: { annotations: { [psp]: 'a' } },
      spec: { containers: [{ name: 'c', securityContext: { readOnlyRootFilesystem: true } }] },
    })
  })

  it('must be usable by the user or by the service account of the pod [P335]', async () => {
    const both = { a: anything, b: anything }
    const account = 'system:serviceaccount:shop:robot'
    expect(await chosen(both, {}, { allows: (user, name) => user === 'alice' && name === 'b' })).toBe('b')
    const spec = { serviceAccountName: 'robot' }
    expect(await chosen(both, spec, { allows: (user, name) => user === account && name === 'b' })).toBe('b')
    const refused = await ask({ a: anything }, spec, { allows: () => false })
    expect(refused.message).toBe('pods "web" is forbidden: PodSecurityPolicy: unable to admit pod: []')
    expect(refused.asked).toEqual([
      ...[account, 'alice'].flatMap((user) => [`${user} use policy a shop`, `${user} use extensions a shop`]),
    ])
  })

  it('is needed [P335]', async () => {
    expect(await refusal({}, {})).toBe('no providers available to validate pod request')
  })

  it('of an update does not change the pod, and is the former one if it still allows the pod [P335]', async () => {
    const more = { containers: [{ name: 'c', image: 'new' }] }
    const options = { old: {}, annotations: { [psp]: 'b' } }
    expect((await ask({ a: anything, b: anything }, more, options)).asked[0]).toBe('alice use policy b shop')
    expect(await refusal({ a: changing }, more, { old: {} })).toBe('unable to validate pod: []')
    expect((await ask({ a: { ...anything, privileged: false } }, {}, { old: {} })).status).toBeUndefined()
  })
})

describe('a policy sets what the pod leaves open', () => {
  const contexts = async (policy: JsonObject, spec: JsonObject = {}, more = {}) => {
    const { pod } = await ask({ a: { ...anything, ...policy } }, spec, more)
    const settled = pod?.spec as { securityContext?: JsonObject; containers: { securityContext?: JsonObject }[] }
    return { pod: settled?.securityContext, container: settled?.containers[0]?.securityContext }
  }
  const ranges = [{ min: 10, max: 20 }]
  const must = { rule: 'MustRunAs', ranges }

  it.each([
    ['user', { runAsUser: must }, { container: { runAsUser: 10 } }],
    ['group', { runAsGroup: must }, { container: { runAsGroup: 10 } }],
    ['file system group', { fsGroup: must }, { pod: { fsGroup: 10 } }],
    ['supplemental groups', { supplementalGroups: must }, { pod: { supplementalGroups: [10] } }],
    ['non-root', { runAsUser: { rule: 'MustRunAsNonRoot' } }, { container: { runAsNonRoot: true } }],
    ['privilege escalation', { allowPrivilegeEscalation: false }, { container: { allowPrivilegeEscalation: false } }],
    [
      'privilege escalation by default',
      { defaultAllowPrivilegeEscalation: false },
      { container: { allowPrivilegeEscalation: false } },
    ],
    [
      'capabilities',
      { requiredDropCapabilities: ['NET_RAW'], defaultAddCapabilities: ['CHOWN'] },
      { container: { capabilities: { add: ['CHOWN'], drop: ['NET_RAW'] } } },
    ],
  ])('%s [P335]', async (_what, policy, expected) => {
    expect(await contexts(policy)).toMatchObject(expected)
  })

  it('SELinux options [P335]', async () => {
    const seLinuxOptions = { level: 's0:c1' }
    expect((await contexts({ seLinux: { rule: 'MustRunAs', seLinuxOptions } })).pod).toEqual({ seLinuxOptions })
  })

  it('seccomp and AppArmor profiles, the runtime class [P335]', async () => {
    const policyAnnotations = {
      'seccomp.security.alpha.kubernetes.io/defaultProfileName': 'runtime/default',
      'seccomp.security.alpha.kubernetes.io/allowedProfileNames': 'runtime/default',
      'apparmor.security.beta.kubernetes.io/defaultProfileName': 'runtime/default',
    }
    const runtimeClass = { allowedRuntimeClassNames: ['*'], defaultRuntimeClassName: 'gvisor' }
    const { pod } = await ask({ a: { ...anything, runtimeClass } }, {}, { policyAnnotations })
    expect(pod).toMatchObject({
      metadata: {
        annotations: {
          'seccomp.security.alpha.kubernetes.io/pod': 'runtime/default',
          'container.apparmor.security.beta.kubernetes.io/c': 'runtime/default',
        },
      },
      spec: { runtimeClassName: 'gvisor' },
    })
  })
})

describe('a policy refuses', () => {
  const container = (securityContext: JsonObject, more: JsonObject = {}) => ({
    containers: [{ name: 'c', securityContext, ...more }],
  })
  const at = 'spec.containers[0].securityContext'
  const ranges = [{ min: 10, max: 20 }]

  it.each<[string, JsonObject, JsonObject, string]>([
    [
      'privileged containers',
      {},
      container({ privileged: true }),
      `${at}.privileged: Invalid value: true: Privileged containers are not allowed`,
    ],
    [
      'the host network',
      {},
      { hostNetwork: true },
      'spec.securityContext.hostNetwork: Invalid value: true: Host network is not allowed to be used',
    ],
    [
      'the host processes',
      {},
      { hostPID: true },
      'spec.securityContext.hostPID: Invalid value: true: Host PID is not allowed to be used',
    ],
    [
      'users out of range',
      { runAsUser: { rule: 'MustRunAs', ranges } },
      container({ runAsUser: 5 }),
      `${at}.runAsUser: Invalid value: 5: must be in the ranges: [{10 20}]`,
    ],
    [
      'the root user',
      { runAsUser: { rule: 'MustRunAsNonRoot' } },
      container({ runAsUser: 0 }),
      `${at}.runAsUser: Invalid value: 0: running with the root UID is forbidden`,
    ],
    [
      'groups out of range',
      { fsGroup: { rule: 'MayRunAs', ranges } },
      { securityContext: { fsGroup: 5 } },
      'group 5 must be in the ranges: [{10 20}]',
    ],
    [
      'other SELinux options',
      { seLinux: { rule: 'MustRunAs', seLinuxOptions: { level: 'a' } } },
      { securityContext: { seLinuxOptions: { level: 'b' } } },
      'spec.securityContext.seLinuxOptions.level: Invalid value: "b": must be a',
    ],
    [
      'capabilities',
      {},
      container({ capabilities: { add: ['SYS_ADMIN'] } }),
      `${at}.capabilities.add: Invalid value: "SYS_ADMIN": capability may not be added`,
    ],
    [
      'privilege escalation',
      { allowPrivilegeEscalation: false },
      container({ allowPrivilegeEscalation: true }),
      'Allowing privilege escalation for containers is not allowed',
    ],
    [
      'writable root file systems',
      { readOnlyRootFilesystem: true },
      container({ readOnlyRootFilesystem: false }),
      'ReadOnlyRootFilesystem must be set to true',
    ],
    ['host ports', {}, container({}, { ports: [{ hostPort: 80 }] }), 'Host port 80 is not allowed to be used. Allowed ports: []'],
    ['mounts of proc', {}, container({ procMount: 'Unmasked' }), 'ProcMountType is not allowed'],
    [
      'volumes',
      { volumes: ['configMap'] },
      { volumes: [{ name: 'v', emptyDir: {} }] },
      'spec.volumes[0]: Invalid value: "emptyDir": emptyDir volumes are not allowed to be used',
    ],
    [
      'host paths',
      { allowedHostPaths: [{ pathPrefix: '/var' }] },
      { volumes: [{ name: 'v', hostPath: { path: '/variant' } }] },
      'spec.volumes[0].hostPath.pathPrefix: Invalid value: "/variant": is not allowed to be used',
    ],
    [
      'writable mounts of host paths',
      { allowedHostPaths: [{ pathPrefix: '/var', readOnly: true }] },
      {
        volumes: [{ name: 'v', hostPath: { path: '/var/log' } }],
        containers: [{ name: 'c', volumeMounts: [{ name: 'v', mountPath: '/a' }] }],
      },
      'spec.containers[0].volumeMounts[0].readOnly: Invalid value: false: must be read-only',
    ],
    [
      'drivers',
      { allowedCSIDrivers: [{ name: 'a' }] },
      { volumes: [{ name: 'v', csi: { driver: 'b' } }] },
      'Inline CSI driver is not allowed to be used',
    ],
    [
      'sysctls',
      { forbiddenSysctls: ['kernel.*'] },
      { securityContext: { sysctls: [{ name: 'kernel.shm_rmid_forced', value: '1' }] } },
      'sysctl "kernel.shm_rmid_forced" is not allowed',
    ],
    [
      'unsafe sysctls',
      {},
      { securityContext: { sysctls: [{ name: 'net.core.somaxconn', value: '1' }] } },
      'unsafe sysctl "net.core.somaxconn" is not allowed',
    ],
    ['seccomp profiles', {}, { securityContext: { seccompProfile: { type: 'RuntimeDefault' } } }, 'seccomp may not be set'],
    [
      'runtime classes',
      { runtimeClass: { allowedRuntimeClassNames: ['a'] } },
      { runtimeClassName: 'b' },
      'spec.runtimeClassName: Invalid value: "b"',
    ],
  ])('%s [P335]', async (_what, policy, spec, text) => {
    expect(await refusal({ a: { ...anything, ...policy } }, spec)).toContain(text)
  })
})

it('is enabled by name, in releases that have it [P335]', () => {
  const names = (release: string) =>
    createAdmissionPlugins({ random: systemRandom, features: createFeatures(release) }, { enable: ['PodSecurityPolicy'] }).map(
      ({ name }) => name,
    )
  expect(names('1.24')).toContain('PodSecurityPolicy')
  expect(() => names('1.25')).toThrow(
    'admission plugin PodSecurityPolicy was removed in Kubernetes 1.25, and the release is 1.25',
  )
})

import { type ApiObject, createFeatures } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { runPreparation } from '../../preparation.ts'
import { runValidation } from '../../validation.ts'
import { podStrategy } from '../core/pod/strategy.ts'
import { testContext } from '../testing/context.ts'

/** Members of pods that 1.34 and later releases added. */

type Gates = Readonly<Record<string, boolean>>

const at = (release: string, gates: Gates = {}) => testContext({ features: createFeatures(release, gates) })
const container = (members: object = {}, name = 'c') => ({
  name,
  image: 'i',
  imagePullPolicy: 'Always',
  terminationMessagePolicy: 'File',
  ...members,
})
const pod = (spec: object, status: object = {}) =>
  ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', namespace: 'n', uid: 'u', resourceVersion: '1' },
    spec: {
      containers: [container()],
      restartPolicy: 'Never',
      dnsPolicy: 'Default',
      terminationGracePeriodSeconds: 1,
      ...spec,
    },
    status,
  }) as unknown as ApiObject & { readonly spec: { readonly containers: readonly object[] } & Record<string, unknown> }
const found = (spec: object, release: string, gates: Gates = {}) =>
  runValidation(podStrategy.validate?.(pod(spec), at(release, gates))).map(({ field, message }) => `${field}: ${message}`)
const created = (spec: object, release: string, gates: Gates = {}) => {
  const object = pod(spec)
  runPreparation(podStrategy.prepareForCreate?.(object, at(release, gates)))
  return object.spec
}

describe('restart rules of containers', () => {
  const gates = { ContainerRestartRules: true, RestartAllContainersOnContainerExits: false }
  const rule = { action: 'Restart', exitCodes: { operator: 'In', values: [1] } }
  const path = 'spec.containers[0]'
  const ruled = (members: object) => ({ containers: [container(members)] })

  it('are refused before 1.34, and dropped with the gate off unless the stored pod has some', () => {
    expect(found(ruled({ restartPolicy: 'Never' }), '1.33')).toEqual([
      `${path}.restartPolicy: Forbidden: may not be set for non-init containers`,
    ])
    const spec = {
      ...ruled({ restartPolicy: 'Never', restartPolicyRules: [rule] }),
      initContainers: [container({ restartPolicy: 'Always' }, 'i')],
    }
    const off = { ContainerRestartRules: false }
    expect(created(spec, '1.34', off).containers[0]).toEqual(container())
    expect(created(spec, '1.34', off).initContainers).toEqual(spec.initContainers)
    expect(created(spec, '1.35', gates).containers).toEqual(spec.containers)
    const kept = pod(spec)
    runPreparation(podStrategy.prepareForUpdate?.(kept, pod(spec), at('1.34', off)))
    expect(kept.spec.containers).toEqual(spec.containers)
  })

  it('are validated', () => {
    const rules = [{ action: 'Stop' }, { action: 'Restart', exitCodes: { operator: 'Is', values: [] } }]
    expect(found(ruled({ restartPolicy: 'Sometimes', restartPolicyRules: rules }), '1.35', gates)).toEqual([
      `${path}.restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "Never", "OnFailure"`,
      `${path}.restartPolicyRules[0].action: Unsupported value: "Stop": supported values: "Restart"`,
      `${path}.restartPolicyRules[0].exitCodes: Required value: must be specified`,
      `${path}.restartPolicyRules[1].exitCodes.operator: Unsupported value: "Is": supported values: "In", "NotIn"`,
    ])
    expect(found(ruled({ restartPolicyRules: [rule] }), '1.35', gates)).toEqual([
      `${path}.restartPolicy: Required value: must specify restartPolicy when restart rules are used`,
    ])
    const many = ruled({ restartPolicy: 'Never', restartPolicyRules: Array.from({ length: 21 }, () => rule) })
    expect(found(many, '1.35', gates)[0]).toMatch(/Too long/)
    expect(found(many, '1.36', gates)).toEqual([`${path}.restartPolicyRules: Too many: 21: must have at most 20 items`])
  })

  it('may restart all containers behind a gate', () => {
    const all = { ...gates, RestartAllContainersOnContainerExits: true }
    const rules = [{ ...rule, action: 'RestartAllContainers' }]
    const initContainers = [container({ restartPolicy: 'Always', restartPolicyRules: rules }, 'i')]
    expect(found({ initContainers }, '1.36', all)).toEqual([])
    expect(found({ initContainers }, '1.36', gates)).toEqual([
      'spec.initContainers[0].restartPolicyRules: Forbidden: restartPolicyRules are not allowed for init containers with restart policy Always',
    ])
    expect(found({ initContainers: [container({ restartPolicy: 'OnFailure' }, 'i')] }, '1.33')).toHaveLength(1)
    expect(found({ initContainers: [container({ restartPolicy: 'OnFailure' }, 'i')] }, '1.35', gates)).toEqual([])
  })

  it('let ended containers run again', () => {
    const status = (state: object) => ({ containerStatuses: [{ name: 'c', state }] })
    const spec = ruled({ restartPolicy: 'Never', restartPolicyRules: [rule] })
    const moved = (exitCode: number, release: string) =>
      runValidation(
        podStrategy.subresources?.['status']?.validateUpdate(
          pod(spec, status({ running: {} })),
          pod(spec, status({ terminated: { exitCode } })),
          at(release, gates),
        ),
      ).map(({ field }) => field)
    expect([moved(1, '1.35'), moved(2, '1.35'), moved(1, '1.33')]).toEqual([
      [],
      ['status.containerStatuses[0].state'],
      ['status.containerStatuses[0].state'],
    ])
  })
})

describe('variables from files', () => {
  const spec = (ref: object, volumes: readonly object[] = [{ name: 'v', emptyDir: {} }]) => ({
    volumes,
    containers: [container({ env: [{ name: 'A', valueFrom: { fileKeyRef: ref } }] })],
  })
  const gates = { EnvFiles: true }
  const ref = { volumeName: 'v', path: 'a/b', key: 'K' }
  const path = 'spec.containers[0].env[0].valueFrom'

  it('are read from empty directories', () => {
    expect(found(spec(ref), '1.35', gates)).toEqual([])
    expect(found(spec(ref, []), '1.35', gates)).toEqual([`${path}.fileKeyRef.volumeName: Not found: "v"`])
    expect(found(spec(ref, [{ name: 'v', configMap: { name: 'm' } }]), '1.35', gates)).toEqual([
      `${path}.fileKeyRef.volumeName: Invalid value: "v": referenced volume must be of type emptyDir`,
    ])
    expect(found(spec({ volumeName: 'v', path: '../x' }), '1.35', gates)).toEqual([
      `${path}.fileKeyRef.key: Required value`,
      `${path}.fileKeyRef.path: Invalid value: "../x": must not contain '..'`,
    ])
  })

  it('are dropped with the gate off', () => {
    expect(created(spec(ref), '1.34', { EnvFiles: false }).containers[0]).toEqual(
      container({ env: [{ name: 'A', valueFrom: {} }] }),
    )
    const none = { containers: [container({ env: [{ name: 'A', valueFrom: {} }] })] }
    expect(found(none, '1.34', { EnvFiles: false })[0]).toMatch(/`configMapKeyRef` or `secretKeyRef`$/)
    expect(found(none, '1.35', gates)[0]).toMatch(/`configMapKeyRef`, `secretKeyRef` or `fileKeyRef`$/)
  })
})

it('host names can be replaced', () => {
  expect(found({ hostnameOverride: 'a.b' }, '1.35')).toEqual([])
  const at = 'spec.hostnameOverride'
  expect(found({ hostnameOverride: 'a'.repeat(65), hostNetwork: true, setHostnameAsFQDN: true }, '1.35')).toEqual([
    `${at}: Forbidden: may not be specified when setHostnameAsFQDN is true`,
    `${at}: Forbidden: may not be specified when hostNetwork is true`,
    `${at}: Too long: may not be more than 64 bytes`,
  ])
  expect(created({ hostnameOverride: 'a' }, '1.34', { HostnameOverride: false })).not.toHaveProperty('hostnameOverride')
  expect(created({ hostnameOverride: 'a' }, '1.35', { HostnameOverride: true })).toHaveProperty('hostnameOverride', 'a')
})

it('certificates are projected', () => {
  const projected = (podCertificate: object) => ({
    volumes: [{ name: 'v', projected: { defaultMode: 420, sources: [{ podCertificate }] } }],
  })
  const fine = { signerName: 'example.com/s', keyType: 'ED25519', credentialBundlePath: 'b' }
  const path = 'spec.volumes[0].projected.sources[0].podCertificate'
  expect(found(projected(fine), '1.35')).toEqual([])
  expect(found(projected({ ...fine, maxExpirationSeconds: 10 }), '1.35')).toEqual([
    `${path}.maxExpirationSeconds: Invalid value: 10: if provided, maxExpirationSeconds must be >= 3600`,
  ])
  const cluster = { ...fine, signerName: 'kubernetes.io/s', maxExpirationSeconds: 86_401, userAnnotations: { a: 'b' } }
  expect(found(projected(cluster), '1.35')).toEqual([
    `${path}.maxExpirationSeconds: Invalid value: 86401: if provided, maxExpirationSeconds must be <= 86400`,
    `${path}.userAnnotations: Invalid value: "a": must be a domain-prefixed key (such as "acme.io/foo")`,
  ])
  expect(found(projected({ signerName: 'example.com/s', keyType: 'RSA1' }), '1.35')).toEqual([
    `${path}.keyType: Unsupported value: "RSA1": supported values: "RSA3072", "RSA4096", "ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519"`,
    `${path}: Required value: specify at least one of credentialBundlePath, keyPath, and certificateChainPath`,
  ])
  expect(created(projected(fine), '1.34', { PodCertificateRequest: false }).volumes).toEqual([
    { name: 'v', projected: { defaultMode: 420, sources: [{}] } },
  ])
})

it('tolerations compare numbers behind a gate', () => {
  const spec = (value: string) => ({ tolerations: [{ key: 'k', operator: 'Gt', value }] })
  const gates = { TaintTolerationComparisonOperators: true }
  expect(found(spec('5'), '1.35', gates)).toEqual([])
  expect(found(spec('05'), '1.35', gates)).toEqual([
    'spec.tolerations[0].value: Invalid value: "05": must be a valid decimal integer in canonical form',
  ])
  expect(found(spec('9223372036854775808'), '1.35', gates)).toEqual([
    'spec.tolerations[0].value: Invalid value: "9223372036854775808": strconv.ParseInt: parsing "9223372036854775808": value out of range',
  ])
  const refused = (names: string) => [`spec.tolerations[0].operator: Unsupported value: "Gt": supported values: ${names}`]
  expect(found(spec('5'), '1.35', { TaintTolerationComparisonOperators: false })).toEqual(
    refused('"Equal", "Exists", "Lt", "Gt"'),
  )
  expect(found(spec('5'), '1.34')).toEqual(refused('"Equal", "Exists"'))
})

it('pods in a user namespace have no volume devices since 1.34', () => {
  const spec = {
    hostUsers: false,
    hostNetwork: true,
    volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'c' } }],
    containers: [container({ volumeDevices: [{ name: 'v', devicePath: '/d' }] })],
  }
  expect(found(spec, '1.33')).toEqual(['spec.hostNetwork: Forbidden: when `pod.Spec.HostUsers` is false'])
  expect(found(spec, '1.34')).toEqual([
    'spec.hostNetwork: Forbidden: when `hostUsers` is false',
    'spec.containers[0].volumeDevices: Forbidden: when `hostUsers` is false',
  ])
})

it('the path of shareProcessNamespace is that of the pod since 1.37', () => {
  const spec = { hostPID: true, shareProcessNamespace: true }
  const detail = 'Invalid value: true: ShareProcessNamespace and HostPID cannot both be enabled'
  expect(found(spec, '1.36')).toEqual([`spec.securityContext.shareProcessNamespace: ${detail}`])
  expect(found(spec, '1.37')).toEqual([`spec.shareProcessNamespace: ${detail}`])
  const windows = { os: { name: 'windows' }, hostPID: true, securityContext: { fsGroup: 1 } }
  const fields = (release: string) => found(windows, release).map((text) => text.split(':')[0])
  expect(fields('1.36')).toEqual(['spec.hostPID', 'spec.securityContext.fsGroup'])
  expect(fields('1.37')).toEqual(['spec.securityContext.fsGroup', 'spec.hostPID'])
})

describe('resources of pods', () => {
  const gates = { PodLevelResources: true }

  it('leave out requests that are absent, and bound huge pages, since 1.34', () => {
    const spec = {
      resources: { limits: { cpu: '2', 'hugepages-2Mi': '2Mi' }, requests: { 'hugepages-2Mi': '2Mi' } },
      containers: [
        container({ resources: { limits: { 'hugepages-2Mi': '4Mi' }, requests: { cpu: '1', 'hugepages-2Mi': '4Mi' } } }),
      ],
    }
    const limits =
      'spec.resources.limits[hugepages-2Mi]: Invalid value: "2Mi": must be greater than or equal to aggregate container limits of 4Mi'
    expect(found(spec, '1.33', gates)).toContain(
      'spec.resources.requests[cpu]: Invalid value: "0": must be greater than or equal to aggregate container requests of 1',
    )
    expect(found(spec, '1.33', gates)).not.toContain(limits)
    expect(found(spec, '1.34', gates)).toContain(limits)
    expect(found(spec, '1.34', gates).join()).not.toContain('requests[cpu]')
  })

  it('may not be set for windows since 1.34', () => {
    const spec = { os: { name: 'windows' }, resources: { limits: { cpu: '2' }, requests: { cpu: '2' } } }
    expect([found(spec, '1.33', gates), found(spec, '1.34', gates)]).toEqual([
      [],
      ['spec.resources: Forbidden: may not be set for a windows pod'],
    ])
  })
})

it('init containers that end cannot be restarted for a resize since 1.36', () => {
  const spec = {
    initContainers: [container({ resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }] }, 'i')],
    restartPolicy: 'Always',
  }
  expect(found(spec, '1.35')).toEqual([])
  expect(found(spec, '1.36')).toEqual([
    `spec.initContainers[0].resizePolicy[0].restartPolicy: Invalid value: "RestartContainer": must not be set to 'RestartContainer' for non-sidecar initContainers`,
  ])
})

it('spread constraints select pods by their keys since 1.34', () => {
  const constraint = {
    maxSkew: 1,
    topologyKey: 'zone',
    whenUnsatisfiable: 'ScheduleAnyway',
    labelSelector: { matchLabels: { app: 'a' } },
    matchLabelKeys: ['v'],
  }
  const selector = (release: string) => {
    const object = pod({ topologySpreadConstraints: [structuredClone(constraint)] })
    object.metadata.labels = { v: '1' }
    runPreparation(podStrategy.prepareForCreate?.(object, at(release)))
    const [spread] = object.spec['topologySpreadConstraints'] as { labelSelector: object }[]
    expect(runValidation(podStrategy.validate?.(object, at(release)))).toEqual([])
    return spread?.labelSelector
  }
  expect(selector('1.33')).toEqual({ matchLabels: { app: 'a' } })
  expect(selector('1.34')).toEqual({ matchLabels: { app: 'a' }, matchExpressions: [{ key: 'v', operator: 'In', values: ['1'] }] })
})

it('resources of pods get their defaults when the pod is prepared, behind a gate', () => {
  const limits = { cpu: '1', memory: '1Gi' }
  const spec = () => ({
    resources: { requests: { cpu: '2' } },
    containers: [container({ resources: { limits, requests: limits } })],
  })
  const gates = (on: boolean) => ({ PodLevelResources: true, PodLevelResourcesFixDefaulting: on })
  expect(created(spec(), '1.37', gates(true)).resources).toEqual({
    limits: { cpu: '2', memory: '1Gi' },
    requests: { cpu: '2', memory: '1Gi' },
  })
  expect(created(spec(), '1.37', gates(false)).resources).toEqual({ requests: { cpu: '2' } })
  const next = pod({ containers: spec().containers })
  runPreparation(podStrategy.prepareForUpdate?.(next, pod(spec()), at('1.37', gates(true))))
  expect(next.spec['resources']).toEqual({ requests: { cpu: '2' } })
})

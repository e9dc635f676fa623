import { type ApiObject, createNamingProfile, parseApiVersion } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { formerConversion } from './index.ts'

/** The changes that specification 9.4 names, each as an object of the former version and its conversion. */

function convert(object: object, apiVersion: string): { converted: ApiObject; lost: string[] } {
  const given = object as ApiObject
  const lost: string[] = []
  const gvk = (text: string) => ({ ...parseApiVersion(text), kind: given.kind })
  const conversion = formerConversion(gvk(given.apiVersion), gvk(apiVersion))
  expect(conversion).toBeDefined()
  return { converted: conversion!(given, (path) => void lost.push(path)), lost }
}

const named = (apiVersion: string, kind: string, rest: object) => ({ apiVersion, kind, metadata: { name: 'a' }, ...rest })

describe('conversion of former versions', () => {
  it('writes out the webhook defaults that v1 changed [P336]', () => {
    const webhook = { name: 'a.example.com', clientConfig: { url: 'https://a' } }
    const former = named('admissionregistration.k8s.io/v1beta1', 'ValidatingWebhookConfiguration', { webhooks: [webhook] })
    const { converted } = convert(former, 'admissionregistration.k8s.io/v1')
    expect(converted['webhooks']).toEqual([
      {
        ...webhook,
        failurePolicy: 'Ignore',
        matchPolicy: 'Exact',
        sideEffects: 'Unknown',
        timeoutSeconds: 30,
        admissionReviewVersions: ['v1beta1'],
      },
    ])
    const current = { ...former, apiVersion: 'admissionregistration.k8s.io/v1' }
    expect(convert(current, 'admissionregistration.k8s.io/v1beta1').converted['webhooks']).toEqual([
      { ...webhook, failurePolicy: 'Fail', matchPolicy: 'Equivalent', timeoutSeconds: 10 },
    ])
  })

  it('moves members of definitions into their versions, and renames jsonPath [P337 P338]', () => {
    const schema = { openAPIV3Schema: { type: 'object' } }
    const column = { name: 'Size', type: 'integer' }
    const former = named('apiextensions.k8s.io/v1beta1', 'CustomResourceDefinition', {
      spec: {
        group: 'example.com',
        version: 'v1',
        names: { kind: 'Widget', plural: 'widgets' },
        validation: schema,
        subresources: { status: {} },
        additionalPrinterColumns: [{ ...column, JSONPath: '.spec.size' }],
        conversion: { strategy: 'Webhook', webhookClientConfig: { url: 'https://a' } },
      },
    })
    const { converted } = convert(former, 'apiextensions.k8s.io/v1')
    expect(converted['spec']).toEqual({
      group: 'example.com',
      scope: 'Namespaced',
      preserveUnknownFields: true,
      names: { kind: 'Widget', plural: 'widgets' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema,
          subresources: { status: {} },
          additionalPrinterColumns: [{ ...column, jsonPath: '.spec.size' }],
        },
      ],
      conversion: { strategy: 'Webhook', webhook: { clientConfig: { url: 'https://a' }, conversionReviewVersions: ['v1beta1'] } },
    })
    const back = convert(converted, 'apiextensions.k8s.io/v1beta1').converted
    expect(back['spec']).toMatchObject({ ...(former as unknown as { spec: object }).spec, versions: [{ name: 'v1' }] })
  })

  it('keeps what differs between the versions of a definition within them', () => {
    const version = (name: string, type: string) => ({ name, served: true, storage: true, schema: { openAPIV3Schema: { type } } })
    const versions = [version('v1', 'object'), version('v2', 'string')]
    const current = named('apiextensions.k8s.io/v1', 'CustomResourceDefinition', { spec: { group: 'a', versions } })
    expect(convert(current, 'apiextensions.k8s.io/v1beta1').converted['spec']).toEqual({
      group: 'a',
      version: 'v1',
      preserveUnknownFields: false,
      versions,
    })
  })

  it.each(['extensions/v1beta1', 'networking.k8s.io/v1beta1'])(
    'gives backends of %s a service and a path type [P339]',
    (version) => {
      const path = (backend: object, rest = {}) => ({ path: '/', ...rest, backend })
      const former = named(version, 'Ingress', {
        spec: {
          backend: { serviceName: 'web', servicePort: 80 },
          rules: [
            {
              http: { paths: [path({ serviceName: 'web', servicePort: 'http' }), path({ resource: {} }, { pathType: 'Exact' })] },
            },
          ],
        },
      })
      const { converted } = convert(former, 'networking.k8s.io/v1')
      const spec = {
        defaultBackend: { service: { name: 'web', port: { number: 80 } } },
        rules: [
          {
            http: {
              paths: [
                path({ service: { name: 'web', port: { name: 'http' } } }, { pathType: 'ImplementationSpecific' }),
                path({ resource: {} }, { pathType: 'Exact' }),
              ],
            },
          },
        ],
      }
      expect(converted).toEqual(named('networking.k8s.io/v1', 'Ingress', { spec }))
    },
  )

  it('names the groups of an access review in the plural [P340]', () => {
    const former = named('authorization.k8s.io/v1beta1', 'SubjectAccessReview', { spec: { user: 'a', group: ['x'] } })
    const { converted } = convert(former, 'authorization.k8s.io/v1')
    expect(converted['spec']).toEqual({ user: 'a', groups: ['x'] })
    expect(convert(converted, 'authorization.k8s.io/v1beta1').converted).toEqual(former)
  })

  it('keeps the meaning of an empty budget selector: no pods before v1, all pods since [P341]', () => {
    const budget = (version: string, selector: object) =>
      named(`policy/${version}`, 'PodDisruptionBudget', { spec: { selector } })
    const key = 'pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match'
    const reserved = (operator: string) => ({ matchExpressions: [{ key, operator }] })
    expect(convert(budget('v1beta1', {}), 'policy/v1').converted).toEqual(budget('v1', reserved('Exists')))
    expect(convert(budget('v1', {}), 'policy/v1beta1').converted).toEqual(budget('v1beta1', reserved('DoesNotExist')))
    expect(convert(budget('v1beta1', reserved('DoesNotExist')), 'policy/v1').converted).toEqual(budget('v1', {}))
    expect(convert(budget('v1', reserved('Exists')), 'policy/v1beta1').converted).toEqual(budget('v1beta1', {}))
    const labels = { matchLabels: { app: 'a' } }
    expect(convert(budget('v1beta1', labels), 'policy/v1').converted).toEqual(budget('v1', labels))
  })

  it('converts between events of the core group and former versions of the events group [P342]', () => {
    const core = { ...named('v1', 'Event', {}), involvedObject: { kind: 'Pod' }, message: 'm', type: 'Normal' }
    const { converted } = convert(core, 'events.k8s.io/v1beta1')
    expect(converted).toMatchObject({ apiVersion: 'events.k8s.io/v1beta1', regarding: { kind: 'Pod' }, note: 'm' })
    expect(convert(converted, 'v1').converted).toMatchObject({ apiVersion: 'v1', involvedObject: { kind: 'Pod' }, message: 'm' })
  })

  it('restructures metrics of v2beta1 autoscalers, and keeps behavior in an annotation', () => {
    const metrics = [
      { type: 'Resource', resource: { name: 'cpu', targetAverageUtilization: 60 } },
      { type: 'Pods', pods: { metricName: 'qps', targetAverageValue: '1k', selector: { matchLabels: { a: 'b' } } } },
      { type: 'Object', object: { target: { kind: 'Service', name: 's' }, metricName: 'hits', targetValue: '5' } },
    ]
    const former = named('autoscaling/v2beta1', 'HorizontalPodAutoscaler', { spec: { maxReplicas: 3, metrics } })
    const { converted } = convert(former, 'autoscaling/v2')
    expect(converted['spec']).toEqual({
      maxReplicas: 3,
      metrics: [
        { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 60 } } },
        {
          type: 'Pods',
          pods: {
            metric: { name: 'qps', selector: { matchLabels: { a: 'b' } } },
            target: { type: 'AverageValue', averageValue: '1k' },
          },
        },
        {
          type: 'Object',
          object: {
            describedObject: { kind: 'Service', name: 's' },
            metric: { name: 'hits' },
            target: { type: 'Value', value: '5' },
          },
        },
      ],
    })
    expect(convert(converted, 'autoscaling/v2beta1').converted).toEqual(former)
    const behaved = { ...converted, spec: { maxReplicas: 3, behavior: { scaleDown: { selectPolicy: 'Max' } } } }
    const older = convert(behaved, 'autoscaling/v2beta1')
    expect(older.lost).toEqual([])
    expect(convert(older.converted, 'autoscaling/v2').converted).toEqual(behaved)
    expect(convert(former, 'autoscaling/v1').converted['spec']).toMatchObject({ targetCPUUtilizationPercentage: 60 })
  })

  it('moves the zone of an endpoint out of its topology', () => {
    const topology = { 'topology.kubernetes.io/zone': 'z', 'kubernetes.io/hostname': 'n', other: 'o' }
    const former = named('discovery.k8s.io/v1beta1', 'EndpointSlice', { endpoints: [{ nodeName: 'n', topology }] })
    const { converted } = convert(former, 'discovery.k8s.io/v1')
    expect(converted['endpoints']).toEqual([{ nodeName: 'n', zone: 'z', deprecatedTopology: { other: 'o' } }])
    expect(convert(converted, 'discovery.k8s.io/v1beta1').converted).toEqual(former)
  })

  it('keeps a zero of concurrency shares where an annotation can, and reports it where not', () => {
    const zero = named('flowcontrol.apiserver.k8s.io/v1', 'PriorityLevelConfiguration', {
      spec: { type: 'Limited', limited: { nominalConcurrencyShares: 0 } },
    })
    const older = convert(zero, 'flowcontrol.apiserver.k8s.io/v1beta3').converted
    expect(convert(older, 'flowcontrol.apiserver.k8s.io/v1').converted).toEqual(zero)
    expect(convert(zero, 'flowcontrol.apiserver.k8s.io/v1beta2').lost).toEqual(['spec.limited.nominalConcurrencyShares'])
    const implied = { ...zero, apiVersion: 'flowcontrol.apiserver.k8s.io/v1beta2', spec: { type: 'Limited', limited: {} } }
    expect(convert(implied, 'flowcontrol.apiserver.k8s.io/v1').converted['spec']).toEqual({
      type: 'Limited',
      limited: { nominalConcurrencyShares: 30 },
    })
  })

  it('removes no annotation of priority levels before v1beta3', () => {
    const annotations = { 'flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares': '' }
    const level = (version: string) => ({
      ...named(`flowcontrol.apiserver.k8s.io/${version}`, 'PriorityLevelConfiguration', { spec: { type: 'Exempt' } }),
      metadata: { name: 'a', annotations },
    })
    expect(convert(level('v1beta2'), 'flowcontrol.apiserver.k8s.io/v1').converted).toEqual(level('v1'))
    expect(convert(level('v1beta3'), 'flowcontrol.apiserver.k8s.io/v1').converted.metadata).toEqual({ name: 'a' })
  })

  it('determines the type of a target from the values that are set', () => {
    const external = { metricName: 'q', targetValue: '1', targetAverageValue: '2' }
    const metrics = [
      { type: 'External', external },
      { type: 'Resource', resource: { name: 'cpu' } },
    ]
    const former = named('autoscaling/v2beta1', 'HorizontalPodAutoscaler', { spec: { metrics } })
    expect(convert(former, 'autoscaling/v2').converted['spec']).toEqual({
      metrics: [
        { type: 'External', external: { metric: { name: 'q' }, target: { type: 'Value', value: '1', averageValue: '2' } } },
        { type: 'Resource', resource: { name: 'cpu', target: { type: 'AverageValue' } } },
      ],
    })
  })

  it('gives subjects of v1alpha1 bindings a group in place of the version', () => {
    const group = 'rbac.authorization.k8s.io'
    const binding = (version: string, subjects: object[]) => named(`${group}/${version}`, 'RoleBinding', { subjects })
    const account = { kind: 'ServiceAccount', name: 'sa', namespace: 'n' }
    const older = binding('v1alpha1', [
      { apiVersion: `${group}/v1alpha1`, kind: 'User', name: '*' },
      { ...account, apiVersion: 'v1' },
    ])
    const everyone = { kind: 'Group', name: 'system:authenticated' }
    const newer = binding('v1', [{ ...everyone, apiGroup: group }, account])
    expect(convert(older, `${group}/v1`).converted).toEqual(newer)
    expect(convert(newer, `${group}/v1alpha1`).converted['subjects']).toEqual([
      { ...everyone, apiVersion: `${group}/v1alpha1` },
      { ...account, apiVersion: 'v1' },
    ])
  })

  it('treats an empty service name without a port as no service', () => {
    const ingress = (version: string, backend: object, name: string) =>
      named(`networking.k8s.io/${version}`, 'Ingress', { spec: { [name]: backend } })
    const resource = { apiGroup: 'example.com', kind: 'Bucket', name: 'b' }
    const former = ingress('v1beta1', { serviceName: '', servicePort: 0, resource }, 'backend')
    expect(convert(former, 'networking.k8s.io/v1').converted).toEqual(ingress('v1', { resource }, 'defaultBackend'))
  })

  it('writes no defaults where the caller excludes them', () => {
    const gvk = (version: string) => ({ group: 'flowcontrol.apiserver.k8s.io', version, kind: 'PriorityLevelConfiguration' })
    const level = { apiVersion: 'flowcontrol.apiserver.k8s.io/v1beta2', kind: 'PriorityLevelConfiguration', metadata: {} }
    const spec = { type: 'Limited', limited: { assuredConcurrencyShares: 0 } }
    const converted = formerConversion(gvk('v1beta2'), gvk('v1'), { defaults: false })!({ ...level, spec })
    expect(converted['spec']).toEqual({ type: 'Limited', limited: { nominalConcurrencyShares: 0 } })
  })

  it('keeps the only preferred strategy of a lease candidate, and reports further ones', () => {
    const candidate = (preferredStrategies: readonly string[]) =>
      named('coordination.k8s.io/v1alpha1', 'LeaseCandidate', { spec: { leaseName: 'l', preferredStrategies } })
    const { converted, lost } = convert(candidate(['OldestEmulationVersion']), 'coordination.k8s.io/v1beta1')
    expect([converted['spec'], lost]).toEqual([{ leaseName: 'l', strategy: 'OldestEmulationVersion' }, []])
    expect(convert(converted, 'coordination.k8s.io/v1alpha1').converted).toEqual(candidate(['OldestEmulationVersion']))
    expect(convert(candidate(['a', 'b']), 'coordination.k8s.io/v1beta1').lost).toEqual(['spec.preferredStrategies'])
  })

  it('reports a member that the older version cannot express', () => {
    const port = { name: 'http', number: 80 }
    const current = named('networking.k8s.io/v1', 'Ingress', { spec: { defaultBackend: { service: { name: 'a', port } } } })
    expect(convert(current, 'extensions/v1beta1').lost).toEqual(['spec.defaultBackend.service.port.number'])
  })

  it('accepts groups in the spelling of a profile', () => {
    const profile = createNamingProfile({ apiDomain: 'api.example' })
    const gvk = (version: string) => ({ group: 'policy', version, kind: 'PodDisruptionBudget' })
    expect(formerConversion(gvk('v1beta1'), gvk('v1'), { profile })).toBeDefined()
    const node = (version: string) => ({ group: 'node.api.example', version, kind: 'RuntimeClass' })
    const former = { apiVersion: 'node.api.example/v1alpha1', kind: 'RuntimeClass', metadata: {}, spec: { runtimeHandler: 'h' } }
    expect(formerConversion(node('v1alpha1'), node('v1'), { profile })!(former)).toEqual({
      apiVersion: 'node.api.example/v1',
      kind: 'RuntimeClass',
      metadata: {},
      handler: 'h',
    })
  })

  it('writes labels and annotations in the spelling of a profile', () => {
    const profile = createNamingProfile({ domain: 'acme.example' })
    const budget = (version: string) => ({ group: 'policy', version, kind: 'PodDisruptionBudget' })
    const former = { apiVersion: 'policy/v1beta1', kind: 'PodDisruptionBudget', metadata: {}, spec: { selector: {} } }
    expect(formerConversion(budget('v1beta1'), budget('v1'), { profile })!(former)['spec']).toEqual({
      selector: { matchExpressions: [{ key: 'pdb.acme.example/deprecated-v1beta1-empty-selector-match', operator: 'Exists' }] },
    })
    const slice = (version: string) => ({ group: 'discovery.k8s.io', version, kind: 'EndpointSlice' })
    const topology = { 'topology.acme.example/zone': 'z' }
    const older = { apiVersion: 'discovery.k8s.io/v1beta1', kind: 'EndpointSlice', metadata: {}, endpoints: [{ topology }] }
    expect(formerConversion(slice('v1beta1'), slice('v1'), { profile })!(older)['endpoints']).toEqual([{ zone: 'z' }])
  })

  it('knows no conversion of other kinds and versions', () => {
    const gvk = (group: string, version: string, kind: string) => ({ group, version, kind })
    expect(formerConversion(gvk('', 'v1', 'Pod'), gvk('', 'v2', 'Pod'))).toBeUndefined()
    expect(
      formerConversion(gvk('policy', 'v1beta1', 'PodDisruptionBudget'), gvk('policy', 'v9', 'PodDisruptionBudget')),
    ).toBeUndefined()
    expect(formerConversion(gvk('apps', 'v1beta1', 'Deployment'), gvk('apps', 'v1', 'ReplicaSet'))).toBeUndefined()
  })
})

import { describe, expect, it } from 'vitest'
import type { Attributes, StoredObject } from '../interfaces.ts'
import { attributesOf } from '../testing/samples.fixture.ts'
import { NodeGraph } from './graph.ts'
import { createNodeAuthorizer } from './node-authorizer.ts'

const n1 = { username: 'system:node:n1', groups: ['system:nodes', 'system:authenticated'] }
const n2 = { username: 'system:node:n2', groups: ['system:nodes', 'system:authenticated'] }

function pod(name: string, spec: object, rest: { annotations?: Record<string, string>; status?: object } = {}): StoredObject {
  const { annotations = {}, status = {} } = rest
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: 'ns', name, annotations },
    spec: { nodeName: 'n1', ...spec },
    status,
  } as StoredObject
}

function volume(name: string, spec: object): StoredObject {
  return { apiVersion: 'v1', kind: 'PersistentVolume', metadata: { name }, spec } as StoredObject
}

function authorizerOf(...pods: StoredObject[]) {
  const graph = new NodeGraph()
  for (const each of pods) graph.pods.put(each)
  const authorizer = createNodeAuthorizer({ graph })
  const may = (verb: string, resource: string, rest: Partial<Attributes> = {}) =>
    authorizer.authorize(attributesOf(verb, resource, { user: n1, namespace: 'ns', ...rest }))
  return { graph, authorizer, may }
}

const unrelated = { decision: 'noOpinion', reason: "no relationship found between node 'n1' and this object" }

describe('references of pods', () => {
  const container = (name: string, env: object) => ({ name, ...env })
  it.each<[string, string, string, object]>([
    ['secrets', 'pull', 'image pull secrets', { imagePullSecrets: [{ name: 'pull' }] }],
    ['secrets', 'v', 'secret volumes', { volumes: [{ name: 'a', secret: { secretName: 'v' } }] }],
    ['secrets', 'p', 'projected secrets', { volumes: [{ name: 'a', projected: { sources: [{ secret: { name: 'p' } }] } }] }],
    ['secrets', 'c', 'CSI volumes', { volumes: [{ name: 'a', csi: { nodePublishSecretRef: { name: 'c' } } }] }],
    ['secrets', 'f', 'flexible volumes', { volumes: [{ name: 'a', flexVolume: { secretRef: { name: 'f' } } }] }],
    ['secrets', 'z', 'file shares', { volumes: [{ name: 'a', azureFile: { secretName: 'z' } }] }],
    ['secrets', 'i', 'iSCSI volumes', { volumes: [{ name: 'a', iscsi: { secretRef: { name: 'i' } } }] }],
    [
      'secrets',
      'e',
      'environment variables',
      { containers: [container('x', { env: [{ valueFrom: { secretKeyRef: { name: 'e' } } }] })] },
    ],
    [
      'secrets',
      'g',
      'variables of init containers',
      { initContainers: [container('x', { envFrom: [{ secretRef: { name: 'g' } }] })] },
    ],
    [
      'secrets',
      'h',
      'variables of ephemeral containers',
      { ephemeralContainers: [container('x', { envFrom: [{ secretRef: { name: 'h' } }] })] },
    ],
    ['configmaps', 'v', 'volumes', { volumes: [{ name: 'a', configMap: { name: 'v' } }] }],
    ['configmaps', 'p', 'projected', { volumes: [{ name: 'a', projected: { sources: [{ configMap: { name: 'p' } }] } }] }],
    [
      'configmaps',
      'e',
      'environment variables',
      { containers: [container('x', { env: [{ valueFrom: { configMapKeyRef: { name: 'e' } } }] })] },
    ],
    [
      'configmaps',
      'f',
      'environment variables',
      { containers: [container('x', { envFrom: [{ configMapRef: { name: 'f' } }] })] },
    ],
    ['persistentvolumeclaims', 'c', 'claims', { volumes: [{ name: 'a', persistentVolumeClaim: { claimName: 'c' } }] }],
    ['persistentvolumeclaims', 'p-a', 'generated claims', { volumes: [{ name: 'a', ephemeral: {} }] }],
  ])('allows %s %s of %s', (resource, name, _, spec) => {
    const { graph, may } = authorizerOf(pod('p', spec))
    expect(may('get', resource, { name }).decision).toBe('allow')
    expect(may('get', resource, { name, user: n2 }).decision).toBe('noOpinion')
    expect(may('get', resource, { name, namespace: 'other' })).toEqual(unrelated)
    expect(may('get', resource, { name: 'another' })).toEqual(unrelated)
    graph.pods.remove(pod('p', {}))
    expect(may('get', resource, { name })).toEqual(unrelated)
  })

  it('allows tokens for service accounts of pods, by name only', () => {
    const { may } = authorizerOf(pod('p', { serviceAccountName: 'robot' }))
    expect(may('create', 'serviceaccounts/token', { name: 'robot' }).decision).toBe('allow')
    expect(may('create', 'serviceaccounts/token', { name: 'other' })).toEqual(unrelated)
    expect(may('get', 'serviceaccounts', { name: 'a' }).reason).toBe('not allowed to get service accounts')
    expect(may('create', 'serviceaccounts/token').reason).toBe('can only create tokens for individual service accounts')
    expect(may('get', 'serviceaccounts', { name: 'robot' }).decision).toBe('noOpinion')
    expect(may('create', 'serviceaccounts', { name: 'robot' }).reason).toBe('can only create token subresource of serviceaccount')
  })

  it('allows resource claims, including generated ones', () => {
    const status = { resourceClaimStatuses: [{ name: 'b', resourceClaimName: 'made' }] }
    const claims = [
      { name: 'a', resourceClaimName: 'given' },
      { name: 'b', resourceClaimTemplateName: 't' },
    ]
    const { may } = authorizerOf(pod('p', { resourceClaims: claims }, { status }))
    const group = 'resource.k8s.io'
    expect(['given', 'made', 't'].map((name) => may('get', 'resourceclaims', { group, name }).decision)).toEqual([
      'allow',
      'allow',
      'noOpinion',
    ])
  })

  it('ignores references of mirror pods', () => {
    const annotations = { 'kubernetes.io/config.mirror': 'x' }
    const { may } = authorizerOf(pod('p', { volumes: [{ name: 'a', secret: { secretName: 's' } }] }, { annotations }))
    expect(may('get', 'secrets', { name: 's' })).toEqual(unrelated)
    expect(may('get', 'pods', { name: 'p' }).decision).toBe('allow')
  })

  it('counts references per pod, and follows rescheduled pods', () => {
    const spec = { volumes: [{ name: 'a', secret: { secretName: 's' } }] }
    const { graph, may } = authorizerOf(pod('a', spec), pod('b', spec))
    graph.pods.remove(pod('a', {}))
    expect(may('get', 'secrets', { name: 's' }).decision).toBe('allow')
    graph.pods.put(pod('b', { ...spec, nodeName: 'n2' }))
    expect(may('get', 'secrets', { name: 's' })).toEqual(unrelated)
    expect(may('get', 'secrets', { name: 's', user: n2 }).decision).toBe('allow')
    graph.pods.put(pod('b', { ...spec, nodeName: '' }))
    expect(may('get', 'secrets', { name: 's', user: n2 }).decision).toBe('noOpinion')
    graph.pods.put(pod('b', spec))
    graph.pods.clear()
    expect(may('get', 'secrets', { name: 's' })).toEqual(unrelated)
  })
})

describe('volumes', () => {
  const spec = { volumes: [{ name: 'a', persistentVolumeClaim: { claimName: 'c' } }] }
  const csi = {
    claimRef: { namespace: 'ns', name: 'c' },
    csi: {
      nodePublishSecretRef: { name: 'publish', namespace: 'keys' },
      nodeStageSecretRef: { name: 'stage' },
      nodeExpandSecretRef: { name: 'expand', namespace: 'keys' },
      controllerPublishSecretRef: { name: 'controller', namespace: 'keys' },
    },
  }

  it('allows volumes of claims of pods, with their secrets', () => {
    const { graph, may } = authorizerOf(pod('p', spec))
    const read = () => may('get', 'persistentvolumes', { namespace: '', name: 'pv' }).decision
    expect(read()).toBe('noOpinion')
    graph.volumes.put(volume('pv', csi))
    expect(read()).toBe('allow')
    const secret = (namespace: string, name: string) => may('get', 'secrets', { namespace, name }).decision
    expect([secret('keys', 'publish'), secret('ns', 'stage'), secret('keys', 'expand')]).toEqual(['allow', 'allow', 'allow'])
    expect(secret('keys', 'controller')).toBe('noOpinion')
    graph.volumes.put(volume('pv', { claimRef: { namespace: 'ns', name: 'other' }, csi: csi.csi }))
    expect([read(), secret('keys', 'publish')]).toEqual(['noOpinion', 'noOpinion'])
    graph.volumes.put(volume('pv', csi))
    graph.volumes.remove(volume('pv', csi))
    expect([read(), secret('keys', 'publish')]).toEqual(['noOpinion', 'noOpinion'])
  })

  it('forbids unbound volumes', () => {
    const { graph, may } = authorizerOf(pod('p', spec))
    graph.volumes.put(volume('pv', { csi: csi.csi }))
    expect(may('get', 'persistentvolumes', { namespace: '', name: 'pv' })).toEqual(unrelated)
  })

  it('allows writing the status of claims only', () => {
    const { may } = authorizerOf(pod('p', spec))
    for (const verb of ['update', 'patch'])
      expect(may(verb, 'persistentvolumeclaims/status', { name: 'c' }).decision).toBe('allow')
    expect(may('patch', 'persistentvolumeclaims/status', { name: 'd' })).toEqual(unrelated)
    expect(may('get', 'persistentvolumeclaims/status', { name: 'c' }).reason).toBe('can only get/update/patch this type')
    expect(may('patch', 'persistentvolumeclaims', { name: 'c' }).reason).toBe('can only get individual resources of this type')
    expect(may('list', 'persistentvolumeclaims').decision).toBe('noOpinion')
  })

  it('restricts attachments and slices to the node that they name', () => {
    const { graph, may } = authorizerOf()
    const named = (nodeName: string) => ({ ...volume('x', { nodeName }), kind: 'VolumeAttachment' })
    graph.attachments.put(named('n1'))
    graph.slices.put(named('n1'))
    const attachment = { group: 'storage.k8s.io', namespace: '', name: 'x' }
    const slice = { group: 'resource.k8s.io', namespace: '', name: 'x' }
    expect(may('get', 'volumeattachments', attachment).decision).toBe('allow')
    expect(may('get', 'volumeattachments', { ...attachment, user: n2 }).decision).toBe('noOpinion')
    for (const verb of ['get', 'update', 'delete']) expect(may(verb, 'resourceslices', slice).decision).toBe('allow')
    expect(may('update', 'resourceslices', { ...slice, user: n2 }).decision).toBe('noOpinion')
    const fieldSelector = [{ field: 'spec.nodeName', operator: '=' as const, value: 'n1' }]
    expect(may('list', 'resourceslices', { ...slice, name: '', fieldSelector }).decision).toBe('allow')
    expect(may('list', 'resourceslices', { ...slice, name: '', fieldSelector, user: n2 }).decision).toBe('noOpinion')
    graph.attachments.put(named('n2'))
    graph.slices.remove(named('n1'))
    expect(may('get', 'volumeattachments', attachment).decision).toBe('noOpinion')
    expect(may('get', 'resourceslices', slice).decision).toBe('noOpinion')
  })
})

describe('other resources', () => {
  it('requires a name to list or watch secrets', () => {
    const { may } = authorizerOf(pod('p', { volumes: [{ name: 'a', secret: { secretName: 's' } }] }))
    for (const verb of ['get', 'list', 'watch']) expect(may(verb, 'secrets', { name: 's' }).decision).toBe('allow')
    expect(may('list', 'secrets').reason).toBe('No Object name found')
    expect(may('update', 'secrets', { name: 's' }).reason).toBe('can only read resources of this type')
    expect(may('get', 'secrets/x', { name: 's' }).reason).toBe('cannot read subresource')
    expect(may('get', 'secrets', { name: 's', namespace: '' }).reason).toBe('can only read namespaced object of this type')
  })

  it('allows pods of the node by name or by field selector', () => {
    const { may } = authorizerOf(pod('p', {}))
    expect(may('get', 'pods', { name: 'p' }).decision).toBe('allow')
    expect(may('get', 'pods', { name: 'p', user: n2 }).decision).toBe('noOpinion')
    expect(may('watch', 'pods', { name: 'p' }).decision).toBe('allow')
    const own = (operator: '=' | '!=', value: string) => ({
      namespace: '',
      fieldSelector: [{ field: 'spec.nodeName', operator, value }],
    })
    expect(may('list', 'pods', own('=', 'n1')).decision).toBe('allow')
    for (const other of [own('=', 'n2'), own('!=', 'n1')]) {
      expect(may('list', 'pods', other).reason).toBe('can only list/watch pods with spec.nodeName field selector')
    }
    for (const [verb, resource] of [
      ['create', 'pods'],
      ['delete', 'pods'],
      ['patch', 'pods/status'],
      ['create', 'pods/eviction'],
    ] as const) {
      expect(may(verb, resource, { name: 'p' }).decision).toBe('allow')
    }
    for (const [verb, resource] of [
      ['update', 'pods'],
      ['create', 'pods/exec'],
      ['get', 'pods/log'],
      ['deletecollection', 'pods'],
    ] as const) {
      expect(may(verb, resource, { name: 'p' }).decision).toBe('noOpinion')
    }
  })

  it('allows reading the Node of the kubelet and writing any Node, which admission restricts', () => {
    const { may } = authorizerOf()
    const rest = { namespace: '' }
    expect(may('get', 'nodes', { ...rest, name: 'n1' }).decision).toBe('allow')
    expect(may('get', 'nodes', { ...rest, name: 'n2' }).reason).toBe("node 'n1' cannot read 'n2', only its own Node object")
    expect(may('list', 'nodes', rest).reason).toBe("node 'n1' cannot read all nodes, only its own Node object")
    for (const verb of ['create', 'update', 'patch']) expect(may(verb, 'nodes', rest).decision).toBe('allow')
    expect(may('patch', 'nodes/status', rest).decision).toBe('allow')
    expect(may('delete', 'nodes', { ...rest, name: 'n1' })).toEqual({ decision: 'noOpinion', reason: '' })
    expect(may('get', 'nodes/proxy', { ...rest, name: 'n1' }).decision).toBe('noOpinion')
  })

  it('restricts leases and CSINodes to the name of the node', () => {
    const { may } = authorizerOf()
    const lease = { group: 'coordination.k8s.io', namespace: 'kube-node-lease' }
    for (const verb of ['get', 'update', 'delete']) expect(may(verb, 'leases', { ...lease, name: 'n1' }).decision).toBe('allow')
    expect(may('create', 'leases', lease).decision).toBe('allow')
    expect(may('get', 'leases', { ...lease, name: 'n2' }).reason).toMatch(/same name as the requesting node$/)
    expect(may('get', 'leases', { ...lease, namespace: 'ns', name: 'n1' }).reason).toMatch(/"kube-node-lease" system namespace$/)
    expect(may('list', 'leases', lease).reason).toMatch(/^can only get, create/)
    const csi = { group: 'storage.k8s.io', namespace: '' }
    expect(may('create', 'csinodes', csi).decision).toBe('allow')
    expect(may('patch', 'csinodes', { ...csi, name: 'n1' }).decision).toBe('allow')
    expect(may('patch', 'csinodes', { ...csi, name: 'n2' }).decision).toBe('noOpinion')
    expect(may('list', 'csinodes', csi).decision).toBe('noOpinion')
  })

  it('applies the rules of system:node to everything else', () => {
    const { may } = authorizerOf()
    expect(may('list', 'services', { namespace: '' }).decision).toBe('allow')
    expect(may('create', 'subjectaccessreviews', { group: 'authorization.k8s.io', namespace: '' }).decision).toBe('allow')
    expect(may('list', 'deployments', { group: 'apps' })).toEqual({ decision: 'noOpinion', reason: '' })
  })

  it('has no opinion on users that are not nodes', () => {
    const { authorizer, may } = authorizerOf(pod('p', { volumes: [{ name: 'a', secret: { secretName: 's' } }] }))
    for (const user of [
      { username: 'system:node:n1', groups: [] },
      { username: 'jane', groups: ['system:nodes'] },
    ]) {
      expect(may('get', 'secrets', { name: 's', user })).toEqual({ decision: 'noOpinion', reason: '' })
      expect(authorizer.rulesFor?.(user, 'ns')).toMatchObject({ incomplete: false, errors: [] })
    }
    const nameless = { username: 'system:node:', groups: ['system:nodes'] }
    expect(may('get', 'secrets', { name: 's', user: nameless })).toEqual({
      decision: 'noOpinion',
      reason: 'unknown node for user "system:node:"',
    })
    expect(authorizer.rulesFor?.(n1, 'ns')).toMatchObject({ incomplete: true })
  })
})

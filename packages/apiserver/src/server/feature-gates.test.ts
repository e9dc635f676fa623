import { defaultAdmissionPlugins } from '@krmkit/admission'
import { type Authorizer, createNodeAuthorizerFromInformer } from '@krmkit/authorization'
import { bootstrapPolicy } from '@krmkit/authorization/bootstrap'
import { createFeatures, type Features, type JsonObject, seededRandom, stockProfile } from '@krmkit/meta'
import { createFeatureGates } from '@krmkit/versioning'
import { describe, expect, it } from 'vitest'
import { logOptions } from '../proxy/log-options.ts'
import { parseQuery } from '../request/query.ts'
import { sampleServer } from '../testing/sample-server.ts'

/** Behaviour of the server that depends on configurable feature gates, tested through requests. */

const gates = (set: string, release?: string) => createFeatureGates({ set, ...(release === undefined ? {} : { release }) })
const without = (gate: string) => createFeatures('1.33', { [gate]: false })

it('StorageVersionHash shows the hash of the storage version in discovery [P332]', async () => {
  const hashes = async (features: Features) => {
    const { ask } = await sampleServer({ features })
    const resources = (await ask('/api/v1')).json.resources as JsonObject[]
    return resources.filter(({ storageVersionHash }) => storageVersionHash !== undefined).length
  }
  expect(await hashes(gates(''))).toBeGreaterThan(10)
  expect(await hashes(gates('StorageVersionHash=false'))).toBe(0)
})

it('AggregatedDiscoveryRemoveBetaType leaves v2beta1 out of aggregated discovery [P332]', async () => {
  const accept = 'application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList'
  const form = async (features: Features) => {
    const { ask } = await sampleServer({ features })
    const { status, json } = await ask('/apis', { headers: { accept } })
    return `${status} ${json.apiVersion}`
  }
  expect(await form(gates('AggregatedDiscoveryRemoveBetaType=false'))).toBe('200 apidiscovery.k8s.io/v2beta1')
  expect(await form(gates(''))).toBe('406 v1')
})

it('OpenAPIEnums lists the values of enums in OpenAPI documents [P332]', async () => {
  const document = async (features: Features, path: string) => {
    const { ask } = await sampleServer({ features })
    const { json, headers } = await ask(path)
    return { schema: json.components?.schemas['io.k8s.api.core.v1.ServicePort'].properties.protocol, etag: headers.etag }
  }
  const [listed, hidden] = [
    await document(gates(''), '/openapi/v3/api/v1'),
    await document(gates('OpenAPIEnums=false'), '/openapi/v3/api/v1'),
  ]
  expect(listed.schema.enum).toEqual(['SCTP', 'TCP', 'UDP'])
  expect(hidden.schema).toEqual({ ...listed.schema, enum: undefined })
  expect(hidden.etag).not.toBe(listed.etag)
})

describe('WatchList', () => {
  const path = '/api/v1/configmaps?watch=true&sendInitialEvents=true&timeoutSeconds=1&allowWatchBookmarks=true'

  it('is needed for streamed lists [P332]', async () => {
    const { ask } = await sampleServer({ features: gates('WatchList=false') })
    const { status, json } = await ask(`${path}&resourceVersionMatch=NotOlderThan`)
    const text =
      'sendInitialEvents: Forbidden: sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled'
    expect([status, json.message]).toEqual([422, `ListOptions.meta.k8s.io "" is invalid: ${text}`])
    const causes = async (query: string) =>
      (await ask(path + query)).json.details.causes.map(({ field, reason }: { field: string; reason: string }) => [field, reason])
    const both = [
      ['resourceVersionMatch', 'FieldValueForbidden'],
      ['sendInitialEvents', 'FieldValueForbidden'],
    ]
    expect(await causes('')).toEqual(both)
    expect(await causes('&resourceVersionMatch=Exact')).toEqual([...both, ['resourceVersionMatch', 'FieldValueNotSupported']])
  })

  it('makes a watch that begins with the existing objects a streamed list, where the gate is set [P332]', async () => {
    const first = async (features: Features, query: string) => {
      const { server } = await sampleServer({ features })
      const abort = new AbortController()
      const { body } = await server.handle({
        ...{ method: 'GET', path: '/api/v1/configmaps', headers: {}, peer: {}, signal: abort.signal },
        query: `watch=true&timeoutSeconds=1&allowWatchBookmarks=true&${query}`,
        body: async () => new Uint8Array(),
      })
      if (body.kind !== 'stream') throw new Error('no stream')
      const piece = await Promise.race([
        body.stream[Symbol.asyncIterator]().next(),
        new Promise((resolve) => setTimeout(resolve, 50)),
      ])
      abort.abort()
      return piece === undefined ? '' : Buffer.from((piece as IteratorResult<Uint8Array>).value).toString()
    }
    for (const set of ['WatchList=true', 'AllBeta=true']) {
      for (const query of ['', 'resourceVersion=0'])
        expect(await first(gates(set), query)).toMatch(/"BOOKMARK".*"metadata":\{"resourceVersion":"\d+"\}/)
    }
    expect(await first(gates(''), '')).toBe('')
    expect(await first(gates('WatchList=true'), 'sendInitialEvents=false&resourceVersionMatch=NotOlderThan')).toBe('')
  })

  it('does not exist before 1.27, so that the parameter has no effect [P332]', async () => {
    const { server } = await sampleServer({ emulate: '1.26' })
    const query = 'watch=true&sendInitialEvents=true&timeoutSeconds=1'
    const abort = new AbortController()
    const { status } = await server.handle({
      ...{ method: 'GET', path: '/api/v1/configmaps', query, headers: {}, peer: {}, signal: abort.signal },
      body: async () => new Uint8Array(),
    })
    abort.abort()
    expect(status).toBe(200)
  })
})

it('PodLogsQuerySplitStreams lets clients choose a stream of a log [P332]', () => {
  const read = (query: string, features: Features) => {
    try {
      return logOptions(parseQuery(query), 'web', features).kubeletQuery
    } catch (error) {
      return (error as Error).message
    }
  }
  const on = createFeatures('1.33', { PodLogsQuerySplitStreams: true })
  const refused = 'PodLogOptions "web" is invalid: '
  expect(read('stream=Stdout', createFeatures('1.33'))).toBe(`${refused}stream: Forbidden: may not be specified`)
  expect(read('', createFeatures('1.33'))).toBe('')
  expect([read('stream=Stdout', on), read('', on)]).toEqual(['?stream=Stdout', '?stream=All'])
  expect(read('stream=x', on)).toBe(`${refused}stream: Unsupported value: "x": supported values: "All", "Stderr", "Stdout"`)
  expect(read('stream=Stderr&tailLines=1', on)).toContain('mutually exclusive for now')
})

describe('ComponentStatusz and ComponentFlagz', () => {
  const headers = { accept: 'text/plain' }

  it('serve debug pages [P332]', async () => {
    const features = gates('ComponentStatusz=true,ComponentFlagz=true')
    const { ask, clock } = await sampleServer({ features, flags: { 'emulated-version': '1.33', v: '2' } })
    clock.advance(62 * 60_000)
    const [status, flags] = [await ask('/statusz', { headers }), await ask('/flagz', { headers })]
    expect(status.text).toMatch(/^\nkube-apiserver statusz\nWarning: This endpoint/)
    expect(status.text).toContain('Up: 1 hr 02 min 00 sec\n')
    expect(status.text).toContain('Emulation version: 1.33\n')
    expect(flags.text).toMatch(/^\nkube-apiserver flags\nWarning: .*\n\nemulated-version=1\.33\nv=2\n$/)
    expect((await ask('/')).json.paths).toEqual(expect.arrayContaining(['/flagz', '/statusz']))
    expect((await ask('/statusz', { headers: { accept: 'application/json' } })).status).toBe(406)
  })

  it('are off by default [P332]', async () => {
    const { ask } = await sampleServer({ flags: {} })
    expect([(await ask('/statusz', { headers })).status, (await ask('/flagz', { headers })).status]).toEqual([404, 404])
  })
})

it('AuthorizeWithSelectors shows selectors to authorizers and in reviews [P332]', async () => {
  const seen = async (release: string) => {
    const selectors: unknown[] = []
    const authorizer: Authorizer = {
      authorize({ fieldSelector }) {
        selectors.push(fieldSelector?.length ?? 0)
        return { decision: 'allow', reason: '' }
      },
    }
    const { ask } = await sampleServer({ features: gates('', release), authorizer })
    await ask('/api/v1/pods?fieldSelector=spec.nodeName%3Dn')
    const requirements = [{ key: 'spec.nodeName', operator: 'In', values: ['n'] }]
    const resourceAttributes = { verb: 'list', resource: 'pods', fieldSelector: { requirements } }
    const body = { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview', spec: { resourceAttributes } }
    await ask('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', { method: 'POST', body })
    return selectors
  }
  expect(await seen('1.33')).toEqual([1, 0, 1])
  expect(await seen('1.31')).toEqual([0, 0, 0])
})

describe('tokens of service accounts', () => {
  const token = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { audiences: ['a'] } }
  const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' } }
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p' },
    spec: { nodeName: 'n', serviceAccountName: 'a', containers: [{ name: 'c', image: 'i' }] },
  }

  async function bind(features: Features, kind: 'Node' | 'Pod') {
    const bound: unknown[] = []
    const { ask } = await sampleServer({
      features,
      serviceAccountIssuer: {
        issuer: 'https://issuer.test',
        async issue(request) {
          bound.push(request.bound)
          return { token: 't', expiresAt: 0, audiences: [] }
        },
      },
    })
    await ask('/api/v1/nodes', { method: 'POST', body: node })
    const accounts = '/api/v1/namespaces/default/serviceaccounts'
    await ask(accounts, { method: 'POST', body: { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'a' } } })
    await ask('/api/v1/namespaces/default/pods', { method: 'POST', body: pod })
    const boundObjectRef = { apiVersion: 'v1', kind, name: kind === 'Node' ? 'n' : 'p' }
    const body = { ...token, spec: { ...token.spec, boundObjectRef } }
    const { status, json } = await ask(`${accounts}/a/token`, { method: 'POST', body })
    return { status, message: json.message, bound: bound[0] }
  }

  it('ServiceAccountTokenNodeBinding binds them to nodes [P332]', async () => {
    expect((await bind(gates(''), 'Node')).status).toBe(201)
    expect(await bind(without('ServiceAccountTokenNodeBinding'), 'Node')).toMatchObject({
      status: 400,
      message: 'cannot bind token to a Node object as the "ServiceAccountTokenNodeBinding" feature-gate is disabled',
    })
  })

  it('ServiceAccountTokenPodNodeInfo names the node of the pod [P332]', async () => {
    expect((await bind(gates(''), 'Pod')).bound).toMatchObject({ kind: 'Pod', name: 'p', node: { name: 'n' } })
    expect((await bind(without('ServiceAccountTokenPodNodeInfo'), 'Pod')).bound).not.toHaveProperty('node')
  })
})

it('PodTopologyLabelsAdmission copies the topology of a node to pods that are bound to it [P332]', async () => {
  const labelsOf = async (features: Features) => {
    const { ask } = await sampleServer({ features, admission: defaultAdmissionPlugins })
    const labels = { 'topology.k8s.io/zone': 'a', disk: 'ssd' }
    await ask('/api/v1/nodes', { method: 'POST', body: { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n', labels } } })
    const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default' } }
    await ask('/api/v1/namespaces/default/serviceaccounts', { method: 'POST', body: account })
    const pods = '/api/v1/namespaces/default/pods'
    const spec = { containers: [{ name: 'c', image: 'i' }] }
    await ask(pods, { method: 'POST', body: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web' }, spec } })
    const target = { kind: 'Node', name: 'n' }
    const binding = { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'web' }, target }
    expect((await ask(`${pods}/web/binding`, { method: 'POST', body: binding })).status).toBe(201)
    return (await ask(`${pods}/web`)).json.metadata.labels
  }
  expect(await labelsOf(gates('PodTopologyLabelsAdmission=true'))).toEqual({ 'topology.k8s.io/zone': 'a' })
  expect(await labelsOf(gates(''))).toBeUndefined()
})

it('RetryGenerateName tries another name when a generated one is taken [P332]', async () => {
  const create = async (release: string) => {
    let drawn = 0
    // Each suffix is drawn twice.
    const random = { ...seededRandom(1), nameSuffix: () => `x${Math.floor(drawn++ / 2)}` }
    const { ask } = await sampleServer({ features: gates('', release), random })
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'a-' } }
    const post = async () => (await ask('/api/v1/namespaces/default/configmaps', { method: 'POST', body })).status
    const statuses: number[] = []
    for (let i = 0; i < 12; i++) statuses.push(await post())
    return new Set(statuses)
  }
  expect(await create('1.30')).toEqual(new Set([201, 409]))
  expect(await create('1.33')).toEqual(new Set([201]))
})

describe('default roles', () => {
  const roles = (features?: Features) =>
    bootstrapPolicy(stockProfile, features === undefined ? {} : { features }).clusterRoles.map(({ metadata }) => metadata.name)
  const rule = (role: string, resource: string, features: Features) =>
    bootstrapPolicy(stockProfile, { features })
      .clusterRoles.find(({ metadata }) => metadata.name === role)
      ?.rules?.some(({ resources = [], nonResourceURLs = [] }) => [...resources, ...nonResourceURLs].includes(resource))

  it.each([
    ['ClusterTrustBundle', 'system:cluster-trust-bundle-discovery'],
    ['ClusterTrustBundle', 'system:controller:kube-apiserver-serving-clustertrustbundle-publisher'],
    ['DynamicResourceAllocation', 'system:controller:resource-claim-controller'],
    ['VolumeAttributesClass', 'system:controller:volumeattributesclass-protection-controller'],
    ['StorageVersionAPI', 'system:controller:storage-version-garbage-collector'],
    ['StorageVersionMigrator', 'system:controller:storage-version-migrator-controller'],
  ])('%s brings %s [P332]', (gate, role) => {
    expect(roles(createFeatures('1.33', { [gate]: true }))).toContain(role)
    expect(roles()).not.toContain(role)
  })

  it.each([
    ['MultiCIDRServiceAllocator', 'system:controller:service-cidrs-controller'],
    ['SELinuxChangePolicy', 'system:controller:selinux-warning-controller'],
  ])('without %s there is no %s [P332]', (gate, role) => {
    expect(roles()).toContain(role)
    expect(roles(without(gate))).not.toContain(role)
  })

  it.each([
    ['DynamicResourceAllocation', 'system:aggregate-to-view', 'resourceclaims'],
    ['DynamicResourceAllocation', 'system:kube-scheduler', 'deviceclasses'],
    ['ClusterTrustBundle', 'system:node', 'clustertrustbundles'],
    ['KubeletServiceAccountTokenForCredentialProviders', 'system:node', 'serviceaccounts'],
    ['KubeletFineGrainedAuthz', 'system:kubelet-api-admin', 'nodes/pods'],
    ['MultiCIDRServiceAllocator', 'system:node-proxier', 'servicecidrs'],
    ['StatefulSetAutoDeletePVC', 'system:controller:statefulset-controller', 'pods/finalizers'],
    ['ComponentStatusz', 'system:monitoring', '/statusz'],
    ['ComponentFlagz', 'system:monitoring', '/flagz'],
  ])('%s lets %s use %s [P332]', (gate, role, resource) => {
    expect(rule(role, resource, createFeatures('1.33', { [gate]: true }))).toBe(true)
    expect(rule(role, resource, without(gate))).toBe(false)
  })
})

describe('the node authorizer', () => {
  const decide = async (features: Features, verb: string, resource: string, name: string) => {
    const { authorize } = await createNodeAuthorizerFromInformer({ follow: async () => undefined }, { features })
    const user = { username: 'system:node:n', groups: ['system:nodes'] }
    const at = { group: '', version: 'v1', resource, subresource: '', namespace: 'default', name, path: '' }
    return authorize({ ...at, user, verb, isResource: true })
  }

  it('limits kubelets to their own pods and node with AuthorizeNodeWithSelectors [P332]', async () => {
    expect((await decide(createFeatures('1.33'), 'list', 'pods', '')).decision).toBe('noOpinion')
    expect((await decide(createFeatures('1.31'), 'list', 'pods', '')).decision).toBe('allow')
  })

  it('relates service accounts with KubeletServiceAccountTokenForCredentialProviders [P332]', async () => {
    const gate = 'KubeletServiceAccountTokenForCredentialProviders'
    const related = "no relationship found between node 'n' and this object"
    expect((await decide(createFeatures('1.33', { [gate]: true }), 'get', 'serviceaccounts', 'a')).reason).toBe(related)
    expect((await decide(createFeatures('1.33'), 'get', 'serviceaccounts', 'a')).reason).toBe(
      'not allowed to get service accounts',
    )
  })
})

it('CRDObservedGenerationTracking keeps observed generations in the status of definitions [P332]', async () => {
  const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
  const names = { plural: 'boats', kind: 'Boat' }
  const versions = [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }]
  const condition = { type: 'Other', status: 'True', observedGeneration: 1 }
  const kept = async (emulate: string, set = '') => {
    const { ask } = await sampleServer({ emulate, features: gates(set, emulate) })
    const body = { metadata: { name: 'boats.x.io' }, spec: { group: 'x.io', scope: 'Cluster', names, versions } }
    expect((await ask(definitions, { method: 'POST', body })).status).toBe(201)
    const headers = { 'content-type': 'application/merge-patch+json' }
    const patch = { status: { observedGeneration: 1, conditions: [condition] } }
    const { json } = await ask(`${definitions}/boats.x.io/status`, { method: 'PATCH', body: patch, headers })
    return [json.status.observedGeneration, json.status.conditions[0].observedGeneration]
  }
  expect(await kept('1.34')).toEqual([undefined, undefined])
  expect(await kept('1.35')).toEqual([undefined, undefined])
  expect(await kept('1.35', 'CRDObservedGenerationTracking=true')).toEqual([1, 1])
  expect(await kept('1.36')).toEqual([1, 1])
  expect(await kept('1.36', 'CRDObservedGenerationTracking=false')).toEqual([undefined, undefined])
})

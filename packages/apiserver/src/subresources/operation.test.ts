import type { AdmissionAttributes, AdmissionPlugin } from '@krmkit/admission'
import type { ApiObject } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { sampleServer } from '../testing/sample-server.ts'

/** What admission receives for each kind of request, recorded by a plugin. */

interface Told {
  readonly phase: 'admit' | 'validate' | 'check'
  readonly attributes: AdmissionAttributes
  readonly object: ApiObject | undefined
}

function recorder(change?: (object: ApiObject, attributes: AdmissionAttributes) => ApiObject) {
  const calls: Told[] = []
  const plugin: AdmissionPlugin = {
    name: 'Recorder',
    changes: 'whole',
    handles: () => true,
    check(attributes, _, object) {
      if (object === undefined) calls.push({ phase: 'check', attributes, object: undefined })
    },
    admit(object, attributes) {
      calls.push({ phase: 'admit', attributes, object })
      return change?.(object, attributes) ?? object
    },
    validate(object, attributes) {
      calls.push({ phase: 'validate', attributes, object: object as ApiObject | undefined })
    },
  }
  const about = (subresource: string) => calls.filter(({ attributes }) => attributes.subresource === subresource)
  return { plugin, calls, about }
}

const pods = '/api/v1/namespaces/default/pods'
const pod = (name: string) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  spec: { containers: [{ name: 'c', image: 'i' }] },
})
const deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'd' },
  spec: {
    replicas: 1,
    selector: { matchLabels: { a: 'b' } },
    template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
  },
}
const setup = async (change?: Parameters<typeof recorder>[0]) => {
  const { plugin, calls, about } = recorder(change)
  const sample = await sampleServer({ admission: [plugin] })
  // Drop the calls for objects that the server creates at start.
  calls.length = 0
  return { ...sample, calls, about }
}
const shown = ({ phase, attributes: { operation, kind, name }, object }: Told) => [
  phase,
  operation,
  kind.kind,
  name,
  object?.kind,
]

describe('admission of operations', () => {
  it('sees connections with their options, without old object and verb options [P48]', async () => {
    const { ask, about } = await setup()
    await ask(pods, { method: 'POST', body: pod('p') })
    await ask(`${pods}/p/exec?command=ls&command=-l&stdin=true&tty=0&container=c`, { method: 'POST' })
    expect(about('exec').map(shown)).toEqual([
      ['admit', 'CONNECT', 'PodExecOptions', 'p', 'PodExecOptions'],
      ['validate', 'CONNECT', 'PodExecOptions', 'p', 'PodExecOptions'],
    ])
    const [{ attributes, object } = { attributes: undefined, object: undefined }] = about('exec')
    expect(object).toEqual({ kind: 'PodExecOptions', apiVersion: 'v1', stdin: true, container: 'c', command: ['ls', '-l'] })
    expect(attributes).not.toHaveProperty('oldObject')
  })

  it('sees path and ports of a proxied request [P48]', async () => {
    const { ask, about } = await setup()
    await ask('/api/v1/namespaces/default/services/s:80/proxy/a/b?x=y')
    expect(about('proxy')[0]?.object).toEqual({ kind: 'ServiceProxyOptions', apiVersion: 'v1', path: '/a/b' })
    await ask(`${pods}/p/portforward?ports=80&ports=443`)
    expect(about('portforward')[0]?.object).toMatchObject({ ports: [80, 443] })
  })

  it('does not run for logs', async () => {
    const { ask, about } = await setup()
    await ask(`${pods}/p/log`)
    expect(about('log')).toEqual([])
  })

  it('sees a binding once, and not the resulting update [P44]', async () => {
    const { ask, about } = await setup()
    await ask(pods, { method: 'POST', body: pod('p') })
    const binding = { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'p' }, target: { kind: 'Node', name: 'n' } }
    expect((await ask(`${pods}/p/binding`, { method: 'POST', body: binding })).status).toBe(201)
    expect(about('binding').map(shown)).toEqual([
      ['admit', 'CREATE', 'Binding', 'p', 'Binding'],
      ['validate', 'CREATE', 'Binding', 'p', 'Binding'],
    ])
    expect(about('binding')[0]?.object?.metadata).toMatchObject({ name: 'p', namespace: 'default' })
  })

  it('may change the target of a binding [P44]', async () => {
    const { ask } = await setup((object, { subresource }) =>
      subresource === 'binding' ? ({ ...object, target: { kind: 'Node', name: 'other' } } as ApiObject) : object,
    )
    await ask(pods, { method: 'POST', body: pod('p') })
    const binding = { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'p' }, target: { kind: 'Node', name: 'n' } }
    await ask(`${pods}/p/binding`, { method: 'POST', body: binding })
    expect((await ask(`${pods}/p`)).json.spec.nodeName).toBe('other')
  })

  it('sees an eviction, and not the resulting deletion [P44]', async () => {
    const { ask, calls, about } = await setup()
    await ask(pods, { method: 'POST', body: pod('p') })
    const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'p' } }
    expect((await ask(`${pods}/p/eviction`, { method: 'POST', body: eviction })).status).toBe(201)
    expect(about('eviction').map(shown)).toEqual([
      ['admit', 'CREATE', 'Eviction', 'p', 'Eviction'],
      ['validate', 'CREATE', 'Eviction', 'p', 'Eviction'],
    ])
    expect(calls.filter(({ attributes }) => attributes.operation === 'DELETE')).toEqual([])
  })

  it('sees a Scale before and after, and may change it [P44]', async () => {
    const { ask, about } = await setup((object, { subresource }) =>
      subresource === 'scale' ? ({ ...object, spec: { replicas: 7 } } as ApiObject) : object,
    )
    const path = '/apis/apps/v1/namespaces/default/deployments'
    await ask(path, { method: 'POST', body: deployment })
    const headers = { 'content-type': 'application/merge-patch+json' }
    const { json } = await ask(`${path}/d/scale`, { method: 'PATCH', body: { spec: { replicas: 3 } }, headers })
    expect(json.spec.replicas).toBe(7)
    expect((await ask(`${path}/d`)).json.spec.replicas).toBe(7)
    const [first, second] = about('scale')
    expect(first?.attributes).toMatchObject({
      operation: 'UPDATE',
      kind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
      resource: { group: 'apps', version: 'v1', resource: 'deployments' },
      oldObject: { kind: 'Scale', spec: { replicas: 1 } },
    })
    expect([first?.object?.['spec'], second?.object?.['spec']]).toEqual([{ replicas: 3 }, { replicas: 7 }])
  })

  it('sees reviews', async () => {
    const { ask, calls } = await setup()
    const review = {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectAccessReview',
      spec: { nonResourceAttributes: { path: '/' } },
    }
    await ask('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', { method: 'POST', body: review })
    expect(calls.map(({ phase, attributes }) => [phase, attributes.kind.kind])).toEqual([
      ['admit', 'SelfSubjectAccessReview'],
      ['validate', 'SelfSubjectAccessReview'],
    ])
  })
})

describe('admission of writes', () => {
  const collection = '/api/v1/namespaces/default/configmaps'
  const configMap = (metadata: object) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata })

  it('sees the deleted object in both phases, and the options as sent [P50]', async () => {
    const { ask, calls } = await setup()
    await ask(collection, { method: 'POST', body: configMap({ name: 'a', labels: { t: 'x' } }) })
    calls.length = 0
    await ask(`${collection}/a?propagationPolicy=Background`, { method: 'DELETE' })
    expect(calls.map(({ phase }) => phase)).toEqual(['check', 'validate'])
    for (const { attributes } of calls) {
      expect(attributes).toMatchObject({
        name: 'a',
        options: { propagationPolicy: 'Background' },
        oldObject: { metadata: { labels: { t: 'x' } } },
      })
    }
  })

  it('sees no names in a deletecollection', async () => {
    const { ask, calls } = await setup()
    await ask(collection, { method: 'POST', body: configMap({ name: 'a' }) })
    calls.length = 0
    await ask(collection, { method: 'DELETE' })
    expect(calls.map(({ attributes }) => [attributes.name, attributes.oldObject?.metadata.name])).toContainEqual(['', 'a'])
  })

  it('validates with the generated name', async () => {
    const { ask, calls } = await setup()
    await ask(collection, { method: 'POST', body: configMap({ generateName: 'g-' }) })
    const [admitted, judged] = calls
    expect(admitted?.attributes.name).toBe('')
    expect(judged?.attributes.name).toMatch(/^g-.{5}$/)
  })

  it('sees the options of a write [P52]', async () => {
    const { ask, calls } = await setup()
    await ask(`${collection}?fieldManager=me&fieldValidation=Strict&dryRun=All`, {
      method: 'POST',
      body: configMap({ name: 'a' }),
    })
    expect(calls[0]?.attributes.options).toEqual({ dryRun: ['All'], fieldManager: 'me', fieldValidation: 'Strict' })
  })

  it('cannot corrupt managedFields or repeat owner references', async () => {
    const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid: '1' }
    const { ask } = await setup((object) => ({
      ...object,
      metadata: { ...object.metadata, managedFields: [{ operation: 'Bogus' }], ownerReferences: [owner, { ...owner }] },
    }))
    const { json, headers } = await ask(collection, { method: 'POST', body: { ...configMap({ name: 'a' }), data: { k: 'v' } } })
    expect(json.metadata.managedFields).toMatchObject([{ operation: 'Update', fieldsV1: { 'f:data': {} } }])
    expect(json.metadata.ownerReferences).toEqual([owner])
    expect(headers['warning']).toEqual([
      expect.stringContaining('.metadata.managedFields was in an invalid state after admission'),
      expect.stringContaining('.metadata.ownerReferences contains duplicate entries after mutating admission happens'),
    ])
  })

  it('cannot move an object to another namespace', async () => {
    const { ask } = await setup((object) => ({ ...object, metadata: { ...object.metadata, namespace: 'kube-system' } }))
    expect((await ask(collection, { method: 'POST', body: configMap({ name: 'a' }) })).status).toBe(400)
  })

  it('drops repeated owner references of the client, with a warning', async () => {
    const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid: '1' }
    const { ask } = await setup()
    const { json, headers } = await ask(collection, {
      method: 'POST',
      body: configMap({ name: 'a', ownerReferences: [owner, owner] }),
    })
    expect(json.metadata.ownerReferences).toEqual([owner])
    expect(headers['warning']).toEqual([
      expect.stringContaining('.metadata.ownerReferences contains duplicate entries; API server'),
    ])
  })
})

import { createAdmissionPlugins } from '@krmkit/admission'
import type { InProcessWebhook } from '@krmkit/admission/webhooks'
import type { ApiObject, JsonObject } from '@krmkit/meta'
import { afterEach, describe, expect, it } from 'vitest'
import { definitionsPath, widgetDefinition, widgetVersion } from '../custom-resources/testing/widgets.ts'
import type { EmbeddedServer } from '../server/server.ts'
import { administrator, requestOf, type SampleServer, sampleServer } from '../testing/sample-server.ts'

/** How admission webhooks, policies and selectors see converted objects. */

const servers: EmbeddedServer[] = []
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()))
})

// biome-ignore lint/suspicious/noExplicitAny: objects are untyped JSON
type Body = any

const group = 'g.example.com'
const convertUrl = 'https://hooks.example.com/convert'
const admitUrl = 'https://hooks.example.com/admit'
const at = (version: string, name = '') => `/apis/${group}/${version}/namespaces/default/widgets${name === '' ? '' : `/${name}`}`
const merge = { 'content-type': 'application/merge-patch+json' }

/** v1 has `spec.size`, v2 has `spec.count`; each sets a label to its version. */
function translated(given: Body, apiVersion: string): ApiObject {
  const { spec = {}, ...rest } = structuredClone(given) as Body
  const number = spec.size ?? spec.count
  const version = apiVersion.slice(group.length + 1)
  rest.metadata.labels = { ...rest.metadata.labels, seen: version }
  return { ...rest, apiVersion, spec: version === 'v1' ? { size: number } : { count: number } }
}

const version = (name: string, member: string, storage: boolean) =>
  widgetVersion(name, { [member]: { type: 'integer' } }, storage)

const definition = widgetDefinition([version('v1', 'size', true), version('v2', 'count', false)], {
  conversion: { strategy: 'Webhook', webhook: { clientConfig: { url: convertUrl }, conversionReviewVersions: ['v1'] } },
})

const widget = (name: string, rest: JsonObject, apiVersion = 'v1'): JsonObject => ({
  apiVersion: `${group}/${apiVersion}`,
  kind: 'Widget',
  metadata: { name },
  ...rest,
})

/** A server whose admission webhooks match version v2 only. */
async function start(hook: InProcessWebhook = () => ({ allowed: true })): Promise<SampleServer & { fails: { next: boolean } }> {
  const fails = { next: false }
  const sample = await sampleServer({
    conversion: {
      inProcess: {
        [convertUrl]: (objects, desired) => {
          if (fails.next) throw new Error('no such day')
          return objects.map((object) => translated(object, desired))
        },
      },
    },
    admission: (parts) =>
      createAdmissionPlugins({ ...parts, webhooks: { inProcess: { [admitUrl]: hook } } }, { disable: ['ServiceAccount'] }),
  })
  servers.push(sample.server)
  await sample.ask(definitionsPath, { method: 'POST', body: definition })
  for (let turn = 0; turn < 200 && (await sample.ask(at('v2'))).status !== 200; turn++)
    await new Promise((resolve) => setImmediate(resolve))
  return { ...sample, fails }
}

async function configure({ ask }: SampleServer, kind: 'Mutating' | 'Validating'): Promise<void> {
  const body = {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: `${kind}WebhookConfiguration`,
    metadata: { name: 'hooks' },
    webhooks: [
      {
        name: 'one.example.com',
        clientConfig: { url: admitUrl },
        rules: [{ operations: ['*'], apiGroups: [group], apiVersions: ['v2'], resources: ['widgets'] }],
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
      },
    ],
  }
  const path = `/apis/admissionregistration.k8s.io/v1/${kind.toLowerCase()}webhookconfigurations`
  expect((await ask(path, { method: 'POST', body })).status).toBe(201)
}

describe('objects converted by a webhook', () => {
  it('are sent to validating webhooks in the version of their rules [P73]', async () => {
    const seen: Body[] = []
    const sample = await start(({ request }) => {
      seen.push(request)
      return { allowed: true }
    })
    await configure(sample, 'Validating')
    await sample.ask(at('v1'), { method: 'POST', body: widget('a', { spec: { size: 3 } }) })
    await sample.ask(at('v1', 'a'), { method: 'PATCH', headers: merge, body: { spec: { size: 4 } } })
    expect(seen.map(({ object, oldObject }) => [object.apiVersion, object.spec, oldObject?.apiVersion, oldObject?.spec])).toEqual(
      [
        [`${group}/v2`, { count: 3 }, undefined, undefined],
        [`${group}/v2`, { count: 4 }, `${group}/v2`, { count: 3 }],
      ],
    )
    expect(seen[0]).toMatchObject({ kind: { version: 'v2' }, requestKind: { version: 'v1' } })
  })

  it('are mutated in the version of the rules, and returned in the version of the request [P73]', async () => {
    const patch = [{ op: 'replace', path: '/spec/count', value: 7 }]
    const sample = await start(({ request }) => {
      expect((request['object'] as Body).spec).toEqual({ count: 3 })
      return { allowed: true, patch }
    })
    await configure(sample, 'Mutating')
    const { status, json } = await sample.ask(at('v1'), { method: 'POST', body: widget('a', { spec: { size: 3 } }) })
    expect([status, json.apiVersion, json.spec]).toEqual([201, `${group}/v1`, { size: 7 }])
  })

  it('are rejected when the conversion for an admission webhook fails', async () => {
    const sample = await start()
    await configure(sample, 'Validating')
    sample.fails.next = true
    const { status, json } = await sample.ask(at('v1'), { method: 'POST', body: widget('a', { spec: { size: 3 } }) })
    expect(status).toBe(500)
    expect(json.message).toBe(`Internal error occurred: conversion webhook for ${group}/v1, Kind=Widget failed: no such day`)
  })

  it('are evaluated by policies in the matched version [P73]', async () => {
    const sample = await start()
    const { ask } = sample
    const policies = '/apis/admissionregistration.k8s.io/v1'
    const policy = {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingAdmissionPolicy',
      metadata: { name: 'small' },
      spec: {
        matchConstraints: {
          resourceRules: [{ operations: ['*'], apiGroups: [group], apiVersions: ['v2'], resources: ['widgets'] }],
        },
        validations: [{ expression: 'object.spec.count < 5' }],
      },
    }
    await ask(`${policies}/validatingadmissionpolicies`, { method: 'POST', body: policy })
    const binding = {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata: { name: 'small' },
      spec: { policyName: 'small', validationActions: ['Deny'] },
    }
    await ask(`${policies}/validatingadmissionpolicybindings`, { method: 'POST', body: binding })
    const make = async (name: string, size: number) =>
      (await ask(at('v1'), { method: 'POST', body: widget(name, { spec: { size } }) })).status
    expect([await make('a', 4), await make('b', 6)]).toEqual([201, 422])
  })

  it('are selected by their labels in the version of the request', async () => {
    const { ask, server } = await start()
    await ask(at('v1'), { method: 'POST', body: widget('a', { spec: { size: 3 } }) })
    const names = async (path: string) => (await ask(path)).json.items.map(({ metadata }: Body) => metadata.name)
    expect(await names(`${at('v2')}?labelSelector=seen%3Dv2`)).toEqual(['a'])
    expect(await names(`${at('v1')}?labelSelector=seen%3Dv2`)).toEqual([])
    expect(await names(`${at('v2')}?labelSelector=seen%3Dv2&fieldSelector=metadata.name%3Da`)).toEqual(['a'])
    const { body } = await server.handle(requestOf(`${at('v2')}?watch=true&labelSelector=seen%3Dv2`, { user: administrator }))
    if (body.kind !== 'stream') throw new Error('no stream')
    const received: string[] = []
    await ask(at('v1'), { method: 'POST', body: widget('b', { spec: { size: 4 } }) })
    for await (const piece of body.stream) {
      for (const line of new TextDecoder().decode(piece).trim().split('\n')) {
        const { type, object } = JSON.parse(line)
        received.push(`${type} ${object.metadata.name}`)
      }
      if (received.length === 2) break
    }
    expect(received).toEqual(['ADDED a', 'ADDED b'])
  })
})

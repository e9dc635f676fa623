/** Requests about large documents: patches and conversions of webhooks, CBOR, wide definitions, watches, bodies. */
import type { WebhookTransport } from '@krmkit/protocol'
import { loadCbor } from '@krmkit/schema/cbor'
import type { Call, Caller } from '../e2e/caller.ts'
import { bytesOf } from '../objects.ts'
import type { StallRow } from './rows.ts'

const group = 'data.bench.example.com'
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const namespace = '/api/v1/namespaces/stalls'
const hooks = '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations'
const json = 'application/json'
const cborType = 'application/cbor'
const encoder = new TextEncoder()

/** An object of many short members. */
const members = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, i]))

const custom = (kind: string, name: string, spec: object, version = 'v1') => ({
  apiVersion: `${group}/${version}`,
  kind,
  metadata: { name },
  spec,
})

const patched = (operations: object[]) =>
  JSON.stringify({
    allowed: true,
    patchType: 'JSONPatch',
    patch: Buffer.from(JSON.stringify(operations)).toString('base64'),
  }).slice(1)

/** Responses of admission webhooks by path, without their opening. */
const patches: Readonly<Record<string, string>> = {
  '/one': patched([{ op: 'add', path: '/spec', value: members(90_000) }]),
  '/many': patched(Array.from({ length: 10_000 }, (_, i) => ({ op: 'replace', path: `/spec/k${i}`, value: 'a'.repeat(30) }))),
}

const manyMembers = JSON.stringify(members(500_000))

/** Converts texts: parsing would count as time of the server. */
function convertedText(body: string, version: string): string {
  const objects = body.slice(body.indexOf('"objects":') + '"objects":'.length, -2)
  return objects
    .replaceAll(/"apiVersion":"data\.bench\.example\.com\/v\d"/g, `"apiVersion":"${version}"`)
    .replaceAll('"spec":{"keys":500000}', () => `"spec":${manyMembers}`)
}

/** Answers reviews in this process. */
export const reviewTransport: WebhookTransport = {
  open:
    () =>
    async ({ body, path }) => {
      const [hook = ''] = path.split('?', 1)
      const uid = /"uid":"([^"]*)"/.exec(body)?.[1] ?? ''
      const [kind, patch] = [body.slice(0, body.indexOf(',"request"')), patches[hook]]
      const version = /"desiredAPIVersion":"([^"]*)"/.exec(body)?.[1] ?? ''
      const rest = patch ?? `"result":{"status":"Success"},"convertedObjects":${convertedText(body, version)}}`
      const text = `${kind},"response":{"uid":"${uid}",${rest}}`
      return { status: 200, headers: { 'content-type': json }, body: encoder.encode(text) }
    },
}

function creation(path: string, object: object): Call {
  return { method: 'POST', path, contentType: json, body: bytesOf(object) }
}

const free = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
const typed = {
  openAPIV3Schema: {
    type: 'object',
    properties: { spec: { type: 'object', additionalProperties: { type: 'integer', default: 3 } } },
  },
}

function definition(plural: string, kind: string, versions: object[], rest: object = {}): object {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: { group, scope: 'Namespaced', names: { plural, kind }, versions, ...rest },
  }
}

const url = (path: string) => `https://hooks.bench.example.com${path}`

export async function dataRows(): Promise<StallRow[]> {
  const cbor = await loadCbor()
  return [...patchRows(), ...conversionRows(), ...cborRows(cbor), ...wideRows(), ...watchRows(), ...yamlRows()]
}

/** The bodies of requests are made ahead, since that takes time too. */
const requestRow = (name: string, request: Call): StallRow => ({ name, run: (call) => call(request) })

const at = (plural: string, name = '', version = 'v1') =>
  `/apis/${group}/${version}/namespaces/stalls/${plural}${name === '' ? '' : `/${name}`}`

/** Creates a definition and waits until it is served. */
async function define(call: Caller, body: object | Uint8Array, plural: string): Promise<void> {
  await call({ ...creation(definitions, {}), body: body instanceof Uint8Array ? body : bytesOf(body) })
  for (let tries = 0; tries < 500; tries++) {
    try {
      await call({ method: 'GET', path: at(plural) })
      return
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  }
}

function patchRows(): StallRow[] {
  const hook = (path: string) => ({
    name: `${path.slice(1)}.bench.example.com`,
    clientConfig: { url: url(path) },
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    objectSelector: { matchLabels: { hook: path.slice(1) } },
    rules: [{ operations: ['CREATE'], apiGroups: [group], apiVersions: ['*'], resources: ['*'] }],
  })
  const labelled = (name: string, spec: object) => ({
    ...custom('Free', name, spec),
    metadata: { name, labels: { hook: name } },
  })
  return [
    {
      name: 'webhook patch of 90 000 members',
      async prepare(call) {
        await define(call, definition('frees', 'Free', [{ name: 'v1', served: true, storage: true, schema: free }]), 'frees')
        const webhooks = [hook('/one'), hook('/many')]
        const type = { apiVersion: 'admissionregistration.k8s.io/v1', kind: 'MutatingWebhookConfiguration' }
        await call(creation(hooks, { ...type, metadata: { name: 'patches' }, webhooks }))
        await call(creation(at('frees'), custom('Free', 'warm', {})))
      },
      run: (call) => call(creation(at('frees'), labelled('one', {}))),
    },
    requestRow('webhook patch of 10 000 operations on 70 000 members', creation(at('frees'), labelled('many', members(70_000)))),
  ]
}

function conversionRows(): StallRow[] {
  const conversion = {
    strategy: 'Webhook',
    webhook: { clientConfig: { url: url('/convert') }, conversionReviewVersions: ['v1'] },
  }
  const keep = { name: 'v1', served: true, storage: true, schema: free }
  const row = (name: string, path: string, rest: Partial<Call> = {}): StallRow => ({
    name,
    run: (call) => call({ method: 'GET', path, ...rest }),
  })
  return [
    {
      ...row('converted object of 500 000 keys', at('things', 'a', 'v2')),
      async prepare(call) {
        const versions = [keep, { name: 'v2', served: true, storage: false, schema: typed }]
        await define(call, definition('things', 'Thing', versions, { conversion }), 'things')
        await call(creation(at('things'), custom('Thing', 'a', { keys: 500_000 })))
        await call(creation(at('things'), custom('Thing', 'b', members(90_000))))
      },
    },
    {
      ...row('converted objects of 500 000 keys in a list', at('things', '', 'v2')),
      prepare: (call) => call(creation(at('things'), custom('Thing', 'c', { keys: 500_000 }))),
    },
    row('patch of a converted object of 90 000 keys', at('things', 'b', 'v2'), {
      method: 'PATCH',
      contentType: 'application/merge-patch+json',
      body: bytesOf({ metadata: { labels: { a: 'b' } } }),
    }),
  ]
}

function cborRows(cbor: Awaited<ReturnType<typeof loadCbor>>): StallRow[] {
  // A map of CBOR has at most 1 024 members.
  const thing = custom('Free', 'cbor', Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`m${i}`, members(1000)])))
  const post = (path: string, object: object): Call => ({
    method: 'POST',
    path,
    contentType: cborType,
    accept: cborType,
    body: cbor.encode(object),
  })
  return [
    requestRow('CBOR: create a custom object of 100 000 members', post(at('frees'), thing)),
    requestRow('CBOR: read a custom object', { method: 'GET', path: at('frees', 'cbor'), accept: cborType }),
    requestRow('CBOR: list custom objects', { method: 'GET', path: at('frees'), accept: cborType }),
  ]
}

function wideRows(): StallRow[] {
  const property = { type: 'string', maxLength: 10 }
  const properties = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`p${i}`, property]))
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties } } } }
  const version = { name: 'v1', served: true, storage: true, schema }
  const spec = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`p${i}`, 'x']))
  const wide = bytesOf(definition('wides', 'Wide', [version]))
  const pause = () => new Promise((resolve) => setTimeout(resolve, 1500))
  return [
    {
      name: 'definition of 20 000 properties',
      async run(call) {
        await define(call, wide, 'wides')
        await pause()
      },
    },
    requestRow('its first object', creation(at('wides'), custom('Wide', 'a', spec))),
    requestRow('its second object', creation(at('wides'), custom('Wide', 'b', spec))),
    requestRow('the first apply', {
      method: 'PATCH',
      path: at('wides', 'c'),
      query: 'fieldManager=bench&force=true',
      contentType: 'application/apply-patch+yaml',
      body: bytesOf(custom('Wide', 'c', spec)),
    }),
    requestRow('its OpenAPI v3', { method: 'GET', path: `/openapi/v3/apis/${group}/v1` }),
    requestRow('OpenAPI v2 with it', { method: 'GET', path: '/openapi/v2' }),
    {
      name: 'update of the definition',
      async run(call) {
        const body = bytesOf({ spec: { names: { shortNames: ['wd'] } } })
        const path = `${definitions}/wides.${group}`
        await call({ method: 'PATCH', path, contentType: 'application/merge-patch+json', body })
        await pause()
      },
    },
  ]
}

function watchRows(): StallRow[] {
  const forms: [string, string, string][] = [
    ['JSON', 'frees', json],
    ['CBOR', 'frees', cborType],
    ['Table', 'frees', 'application/json;as=Table;g=meta.k8s.io;v=v1'],
    ['metadata', 'frees', 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1'],
  ]
  const rows = forms.map(([name, plural, accept]) => watchRow(`watch of large objects: ${name}`, at(plural), accept))
  return [
    ...rows,
    watchRow(
      'watch of large ConfigMaps: protobuf',
      `${namespace}/configmaps`,
      'application/vnd.kubernetes.protobuf;stream=watch',
    ),
    watchRow('watch of large ConfigMaps: Table', `${namespace}/configmaps`, 'application/json;as=Table;g=meta.k8s.io;v=v1'),
    {
      ...watchRow('watch of converted objects', at('things', '', 'v2'), json),
      prepare: (call) => call(creation(at('things'), custom('Thing', 'd', { keys: 500_000 }))),
    },
  ]
}

/** Reads the present objects from a watch. */
function watchRow(name: string, path: string, accept: string): StallRow {
  return {
    name,
    async run(call) {
      const { body } = await call({ method: 'GET', path, query: 'watch=true&timeoutSeconds=2', accept })
      if (body.kind !== 'stream') throw new Error(`${name}: no stream`)
      for await (const _ of body.stream) await new Promise((resolve) => setImmediate(resolve))
    },
  }
}

function yamlRows(): StallRow[] {
  const yaml = (name: string, bytes: number): Call => {
    const lines = Array.from({ length: Math.floor(bytes / 32) }, (_, i) => `  key-${String(i).padStart(8, '0')}: some text\n`)
    const text = `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\ndata:\n${lines.join('')}`
    return { method: 'POST', path: `${namespace}/configmaps`, contentType: 'application/yaml', body: encoder.encode(text) }
  }
  const refused = (name: string, request: Call): StallRow => ({ name, run: (call) => call(request).catch(() => undefined) })
  const wide = encoder.encode(JSON.stringify(custom('Free', 'json', members(190_000))))
  return [
    requestRow('YAML of 60 KiB', yaml('small', 60 * 1024)),
    // Larger ones are another thread's work, which the server without a translator refuses.
    refused('YAML of 900 KiB', yaml('large', 900 * 1024)),
    refused('JSON of 2.9 MiB, refused', { method: 'POST', path: at('frees'), contentType: json, body: wide }),
  ]
}

import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { ensureServingCertificate, type ServingCertificate } from '@krmkit/certificates'
import { type Client, createRemoteClient, loadKubeconfig } from '@krmkit/client'
import { stockProfile, systemClock, systemRandom } from '@krmkit/meta'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type RunningServer, serve } from '../serve.ts'
import { serveOptions } from '../testing/run-command.ts'
import { temporaryFolder } from '../testing/temporary-folder.ts'

/** A server started by the command, and a conversion webhook behind TLS. */

interface CustomObject {
  readonly apiVersion: string
  readonly spec: { readonly size?: number; readonly count?: number }
}

/** The members of objects, lists and Status that the tests read. */
interface ResponseBody extends Partial<CustomObject> {
  readonly items?: readonly CustomObject[]
  readonly message?: string
}

interface ConversionReview {
  readonly apiVersion: string
  readonly kind: string
  readonly request: { readonly uid: string; readonly objects: readonly CustomObject[]; readonly desiredAPIVersion: string }
}

const group = 'g.example.com'
const folder = temporaryFolder()
let serving: RunningServer
let client: Client
let certificate: ServingCertificate
let stranger: ServingCertificate
let hook: Server
const calls: { readonly path: string; readonly host: string; readonly review: ConversionReview }[] = []

/** v1 has `spec.size`, v2 has `spec.count`. */
function converted({ spec, ...rest }: CustomObject, apiVersion: string): object {
  const number = spec.size ?? spec.count
  return { ...rest, apiVersion, spec: apiVersion.endsWith('v1') ? { size: number } : { count: number } }
}

beforeAll(async () => {
  const made = { clock: systemClock, random: systemRandom, profile: stockProfile }
  certificate = await ensureServingCertificate(join(folder, 'hook'), { ...made, hosts: ['hook.default.svc'] })
  stranger = await ensureServingCertificate(join(folder, 'stranger'), { ...made, hosts: [] })
  hook = createServer({ cert: certificate.certificate, key: certificate.key }, async (request, response) => {
    const pieces: Uint8Array[] = []
    for await (const piece of request) pieces.push(piece)
    const review = JSON.parse(Buffer.concat(pieces).toString()) as ConversionReview
    const { uid, objects, desiredAPIVersion } = review.request
    calls.push({ path: request.url ?? '', host: request.headers.host ?? '', review })
    response.writeHead(200, { 'content-type': 'application/json' })
    const convertedObjects = objects.map((object) => converted(object, desiredAPIVersion))
    const { apiVersion, kind } = review
    response.end(JSON.stringify({ apiVersion, kind, response: { uid, result: { status: 'Success' }, convertedObjects } }))
  })
  await new Promise<void>((listening) => hook.listen(0, '127.0.0.1', listening))
  serving = await serve(await serveOptions(`${folder}/data`), { info: () => undefined, error: () => undefined })
  client = createRemoteClient(await loadKubeconfig({ path: serving.kubeconfig! }))
})
afterAll(async () => {
  await client.close()
  await serving.close()
  await new Promise((closed) => hook.close(closed))
})

const portOf = (server: Server): number => (server.address() as AddressInfo).port

const json = { 'content-type': 'application/json' }

async function send(method: string, path: string, body?: object): Promise<{ status: number; json: ResponseBody }> {
  const response = await client.request({
    method,
    path,
    ...(body === undefined ? {} : { body: JSON.stringify(body), headers: json }),
  })
  const text = await response.text()
  return { status: response.status, json: text.startsWith('{') ? (JSON.parse(text) as ResponseBody) : { message: text } }
}

/** Defines a kind converted by the webhook, and waits until it is served. */
async function define(plural: string, kind: string, clientConfig: object): Promise<void> {
  const version = (name: string, member: string, storage: boolean) => ({
    name,
    served: true,
    storage,
    schema: {
      openAPIV3Schema: {
        type: 'object',
        properties: { spec: { type: 'object', properties: { [member]: { type: 'integer' } } } },
      },
    },
  })
  const made = await send('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural, kind },
      conversion: { strategy: 'Webhook', webhook: { clientConfig, conversionReviewVersions: ['v1'] } },
      versions: [version('v1', 'size', true), version('v2', 'count', false)],
    },
  })
  expect(made.status).toBe(201)
  for (let turn = 0; turn < 500; turn++) if ((await send('GET', at('v2', plural))).status === 200) return
  throw new Error(`${plural} are not served`)
}

const at = (version: string, plural: string, name = '') =>
  `/apis/${group}/${version}/namespaces/default/${plural}${name === '' ? '' : `/${name}`}`
const object = (version: string, kind: string, spec: object) => ({
  apiVersion: `${group}/${version}`,
  kind,
  metadata: { name: 'a' },
  spec,
})

it('calls the webhook by URL, trusting the authorities of the definition', async () => {
  calls.length = 0
  const url = `https://127.0.0.1:${portOf(hook)}/by-url`
  await define('widgets', 'Widget', { url, caBundle: btoa(certificate.authority) })
  expect((await send('POST', at('v2', 'widgets'), object('v2', 'Widget', { count: 3 }))).json.spec).toEqual({ count: 3 })
  expect((await send('GET', at('v1', 'widgets', 'a'))).json.spec).toEqual({ size: 3 })
  expect(calls.map(({ path }) => path)).toContain('/by-url?timeout=30s')
  expect(calls[0]?.review).toMatchObject({ apiVersion: 'apiextensions.k8s.io/v1', kind: 'ConversionReview' })
})

it('calls the webhook at the address of its service, verifying the name of the service', async () => {
  calls.length = 0
  const port = portOf(hook)
  const service = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'hook' }, spec: {} }
  const made = await send('POST', '/api/v1/namespaces/default/services', {
    ...service,
    spec: { type: 'ExternalName', externalName: 'localhost' },
  })
  expect(made.status).toBe(201)
  await define('gears', 'Gear', {
    service: { namespace: 'default', name: 'hook', path: '/by-service', port },
    caBundle: btoa(certificate.authority),
  })
  expect((await send('POST', at('v2', 'gears'), object('v2', 'Gear', { count: 5 }))).json.spec).toEqual({ count: 5 })
  const listed = await send('GET', at('v1', 'gears'))
  expect(listed.json.items?.map(({ spec }) => spec)).toEqual([{ size: 5 }])
  expect(calls.map(({ path, host }) => [path, host])).toContainEqual(['/by-service?timeout=30s', `hook.default.svc:${port}`])
})

it('does not call a webhook with a certificate of another authority', async () => {
  calls.length = 0
  const url = `https://127.0.0.1:${portOf(hook)}/never`
  await define('nails', 'Nail', { url, caBundle: btoa(stranger.authority) })
  const { status, json } = await send('POST', at('v2', 'nails'), object('v2', 'Nail', { count: 1 }))
  expect(status).toBe(500)
  expect(json.message).toBe(
    `conversion webhook for ${group}/v2, Kind=Nail failed: Post "${url}?timeout=30s": tls: failed to verify certificate: x509: certificate signed by unknown authority`,
  )
  expect(calls).toEqual([])
})

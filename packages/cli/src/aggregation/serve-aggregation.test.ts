import { X509Certificate } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { type CertificateAuthority, createCertificateAuthority } from '@krmkit/authentication/testing'
import { type Client, createRemoteClient, type KubeconfigConnection, loadKubeconfig, resourceType } from '@krmkit/client'
import { type Listener, listen, selfSigned } from '@krmkit/http'
import { type ApiObject, stockProfile, systemClock, systemRandom } from '@krmkit/meta'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type RunningServer, serve } from '../serve.ts'
import { serveOptions } from '../testing/run-command.ts'
import { temporaryFolder } from '../testing/temporary-folder.ts'

/** Servers on ports: an aggregator and, behind it, a second `serve` or a scripted server. */

const environment = { clock: systemClock, random: systemRandom }
const definitions = resourceType({
  group: 'apiextensions.k8s.io',
  version: 'v1',
  resource: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  namespaced: false,
})
const apiServices = resourceType<ApiServiceObject>({
  group: 'apiregistration.k8s.io',
  version: 'v1',
  resource: 'apiservices',
  kind: 'APIService',
  namespaced: false,
})
const services = resourceType({ group: '', version: 'v1', resource: 'services', kind: 'Service' })
const flunders = resourceType<Flunder>({
  group: 'wardle.example.com',
  version: 'v1',
  resource: 'flunders',
  kind: 'Flunder',
})

interface Flunder extends ApiObject {
  spec?: { size?: number }
}
interface ApiServiceObject extends ApiObject {
  status?: { conditions?: { type: string; status: string; reason: string; message: string }[] }
}

const folder = temporaryFolder({ perTest: true })
let front: CertificateAuthority
const closing: (() => Promise<unknown>)[] = []
beforeEach(async () => {
  front = createCertificateAuthority({ name: 'front', ...environment })
})
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

const file = async (name: string, text: string) => {
  await writeFile(join(folder, name), text)
  return join(folder, name)
}

interface Started extends RunningServer {
  readonly admin: Client
  readonly connection: KubeconfigConnection
  readonly port: number
}

async function start(name: string, ...flags: string[]): Promise<Started> {
  const serving = await serve(await serveOptions(`${folder}/${name}`, ['--controllers=', ...flags]), {
    info: () => undefined,
    error: () => undefined,
  })
  closing.push(() => serving.close())
  const connection = await loadKubeconfig({ path: serving.kubeconfig! })
  const admin = createRemoteClient({ ...connection, namespace: 'default' })
  closing.push(() => admin.close())
  return { ...serving, admin, connection, port: Number(new URL(serving.url).port) }
}

/** The aggregator, with a client certificate for the servers behind it. */
async function startFront(): Promise<Started> {
  const { certificate, key } = front.issue({ commonName: 'proxy' })
  return start(
    'front',
    `--proxy-client-cert-file=${await file('proxy.pem', certificate)}`,
    `--proxy-client-key-file=${await file('proxy.key', key)}`,
  )
}

/** Registers a server on a local port for the group version. */
async function give(admin: Client, to: { readonly port: number; readonly spec: object }): Promise<void> {
  const name = 'back'
  await admin.create(services, { metadata: { name }, spec: { type: 'ExternalName', externalName: '127.0.0.1' } } as never)
  const service = { namespace: 'default', name, port: to.port }
  const spec = { group: 'wardle.example.com', version: 'v1', groupPriorityMinimum: 100, versionPriority: 10, service, ...to.spec }
  await admin.create(apiServices, { metadata: { name: 'v1.wardle.example.com' }, spec } as never)
}

async function condition(admin: Client) {
  const { status } = await admin.get(apiServices, 'v1.wardle.example.com')
  return status?.conditions?.find(({ type }) => type === 'Available')
}

/** Repeats a request until the response has the wanted status. */
async function eventually<T>(ask: () => Promise<T>, holds: (answer: T) => boolean): Promise<T> {
  for (;;) {
    const answer = await ask()
    if (holds(answer)) return answer
    await new Promise((resolve) => setImmediate(resolve))
  }
}

async function jsonOf<T>(admin: Client, path: string, headers: Record<string, string> = {}): Promise<T> {
  const response = await admin.request({ path, headers })
  return (await response.json()) as T
}

interface Index {
  readonly paths: Record<string, { serverRelativeURL: string }>
}

describe('an aggregated krmkit server', () => {
  it('serves objects, watches, discovery and documents until its APIService is deleted [P192]', async () => {
    const authority = await file('front.pem', front.certificate)
    const back = await start(
      'back',
      '--external-hostname=back.default.svc',
      `--requestheader-client-ca-file=${authority}`,
      '--requestheader-username-headers=X-Remote-User',
      '--requestheader-group-headers=X-Remote-Group',
      '--requestheader-extra-headers-prefix=X-Remote-Extra-',
    )
    const schema = { type: 'object', properties: { spec: { type: 'object', properties: { size: { type: 'integer' } } } } }
    const version = { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }
    const names = { plural: 'flunders', kind: 'Flunder', shortNames: ['fl'] }
    await back.admin.create(definitions, {
      metadata: { name: 'flunders.wardle.example.com' },
      spec: { group: 'wardle.example.com', scope: 'Namespaced', names, versions: [version] },
    } as never)
    const { admin } = await startFront()
    const caBundle = Buffer.from(back.connection.ca ?? '').toString('base64')
    await give(admin, { port: back.port, spec: { caBundle } })
    await eventually(
      () => condition(admin),
      (found) => found?.status === 'True',
    )
    expect(await condition(admin)).toMatchObject({ reason: 'Passed', message: 'all checks passed' })

    await eventually(
      () => admin.create(flunders, { metadata: { name: 'a' }, spec: { size: 1 } }).catch(() => undefined),
      (made) => made !== undefined,
    )
    expect((await back.admin.get(flunders, 'a')).spec).toEqual({ size: 1 })
    const events: string[] = []
    for await (const event of admin.watch(flunders, { namespace: 'default' })) {
      events.push(`${event.type} ${event.object.metadata.name}`)
      if (events.length === 1) await back.admin.create(flunders, { metadata: { name: 'b' } })
      if (events.length === 2) break
    }
    expect(events).toEqual(['ADDED a', 'ADDED b'])

    const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
    type Groups = { metadata: { name: string }; versions: { freshness: string; resources: { shortNames: string[] }[] }[] }[]
    const group = await eventually(
      async () =>
        (await jsonOf<{ items: Groups }>(admin, '/apis', { accept })).items.find((each) =>
          each.metadata.name.startsWith('wardle'),
        ),
      (found) => found?.versions[0]?.resources !== undefined,
    )
    expect(group?.versions[0]).toMatchObject({ freshness: 'Current', resources: [{ resource: 'flunders', shortNames: ['fl'] }] })
    const index = await eventually(
      async () => (await jsonOf<Index>(admin, '/openapi/v3')).paths,
      (paths) => paths['apis/wardle.example.com/v1'] !== undefined,
    )
    const address = index['apis/wardle.example.com/v1']!.serverRelativeURL
    const there = (await jsonOf<Index>(back.admin, '/openapi/v3')).paths
    expect(address).toBe(there['apis/wardle.example.com/v1']!.serverRelativeURL)
    const { components } = await jsonOf<{ components: { schemas: object } }>(admin, address)
    expect(Object.keys(components.schemas)).toContain('com.example.wardle.v1.Flunder')
    const v2 = await jsonOf<{ definitions: object; paths: object }>(admin, '/openapi/v2')
    expect(Object.keys(v2.definitions)).toContain('com.example.wardle.v1.Flunder')
    expect(Object.keys(v2.paths)).toContain('/apis/wardle.example.com/v1/namespaces/{namespace}/flunders')

    await admin.delete(apiServices, 'v1.wardle.example.com')
    await eventually(
      async () => Object.keys((await jsonOf<Index>(admin, '/openapi/v3')).paths),
      (paths) => !paths.some((path) => path.includes('wardle')),
    )
    expect(
      Object.keys((await jsonOf<{ paths: object }>(admin, '/openapi/v2')).paths).some((path) => path.includes('wardle')),
    ).toBe(false)
    expect((await admin.request({ path: '/apis/wardle.example.com' })).status).toBe(404)
  })
})

describe('an aggregated scripted server', () => {
  const list = {
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion: 'wardle.example.com/v1',
    resources: [{ name: 'flunders', singularName: '', namespaced: true, kind: 'Flunder', verbs: ['get'] }],
  }
  type Handle = Parameters<typeof listen>[0]['handle']
  const answer = (object: unknown, status = 200, headers: Record<string, string> = {}) => ({
    status,
    headers: { 'content-type': 'application/json', ...headers },
    body: { kind: 'bytes' as const, bytes: new TextEncoder().encode(JSON.stringify(object)) },
  })

  async function startBack(handle: Handle): Promise<Listener> {
    const hosts = ['back.default.svc']
    const tls = selfSigned(join(folder, 'other'), { ...environment, profile: stockProfile, hosts, clientCa: front.certificate })
    const back = await listen({ handle }, { tls })
    closing.push(() => back.close({ graceMs: 0 }))
    return back
  }

  const whenAvailable = (admin: Client) =>
    eventually(
      () => condition(admin),
      (found) => found?.status === 'True',
    )

  it('receives the user in headers that clients cannot set, and the certificate of the aggregator', async () => {
    const seen: Record<string, unknown>[] = []
    const back = await startBack(async (request) => {
      if (request.path.endsWith('/flunders')) {
        const [shown = new Uint8Array()] = request.peer.certificates ?? []
        seen.push({ ...request.headers, subject: new X509Certificate(shown).subject })
        return answer({ kind: 'FlunderList', items: [] })
      }
      return request.path === '/apis/wardle.example.com/v1' ? answer(list) : answer({}, 404)
    })
    const { admin } = await startFront()
    await give(admin, { port: back.port, spec: { insecureSkipTLSVerify: true } })
    await whenAvailable(admin)
    const path = '/apis/wardle.example.com/v1/flunders'
    await admin.request({
      path,
      headers: { 'x-remote-user': 'root', 'x-remote-group': 'system:masters', 'x-remote-extra-a': 'b' },
    })
    expect(seen.at(-1)).toMatchObject({
      'x-remote-user': 'kubernetes-admin',
      'x-remote-group': ['system:masters', 'system:authenticated'],
      host: `127.0.0.1:${back.port}`,
      subject: 'CN=proxy',
    })
    expect(seen.at(-1)).not.toHaveProperty('x-remote-extra-a')
    expect(seen.at(-1)).not.toHaveProperty('authorization')
  })

  it('is unreachable with a wrong authority, but its availability check ignores the authority', async () => {
    const back = await startBack(async () => answer(list))
    const { admin } = await startFront()
    await give(admin, { port: back.port, spec: { caBundle: Buffer.from(front.certificate).toString('base64') } })
    await whenAvailable(admin)
    const response = await admin.request({ path: '/apis/wardle.example.com/v1/flunders' })
    expect(response.status).toBe(503)
    expect(new TextDecoder().decode(await response.bytes())).toBe(
      'error trying to reach service: tls: failed to verify certificate: x509: certificate signed by unknown authority\n',
    )
  })

  it('has its redirects rejected', async () => {
    const back = await startBack(async ({ path }) =>
      path.endsWith('/away') ? answer({}, 307, { location: 'https://elsewhere.example.com/' }) : answer(list),
    )
    const { admin } = await startFront()
    await give(admin, { port: back.port, spec: { insecureSkipTLSVerify: true } })
    await whenAvailable(admin)
    const response = await admin.request({ path: '/apis/wardle.example.com/v1/away' })
    expect(response.status).toBe(502)
    expect(new TextDecoder().decode(await response.bytes())).toBe(
      'the backend attempted to redirect this request, which is not permitted',
    )
  })

  it('an idle watch ends with its client', async () => {
    let left: Promise<void> | undefined
    const back = await startBack(async ({ query, signal }) => {
      if (!query.includes('watch')) return answer(list)
      left = new Promise((resolve) => signal.addEventListener('abort', () => resolve()))
      async function* nothingYet() {
        yield new TextEncoder().encode('{"type":"BOOKMARK"}\n')
        await left
      }
      return { status: 200, headers: { 'content-type': 'application/json' }, body: { kind: 'stream', stream: nothingYet() } }
    })
    const { admin, connection } = await startFront()
    await give(admin, { port: back.port, spec: { insecureSkipTLSVerify: true } })
    await whenAvailable(admin)
    await new Promise<void>((resolve, reject) => {
      const outgoing = httpsRequest(`${connection.server}/apis/wardle.example.com/v1/flunders?watch=true`, {
        ca: connection.ca,
        headers: { authorization: `Bearer ${connection.token}` },
      })
      outgoing.on('response', (incoming: IncomingMessage) => {
        incoming.once('data', () => {
          outgoing.destroy()
          resolve()
        })
      })
      outgoing.on('error', reject).end()
    })
    await left
  })

  it('upgrades the connection with the client', async () => {
    const back = await startBack(async ({ path, upgradable, headers }) => {
      if (!path.endsWith('/stream')) return answer(list)
      if (upgradable !== true) return answer({}, 400)
      const upgrade = String(headers.upgrade)
      return {
        status: 101,
        headers: { connection: 'Upgrade', upgrade },
        body: { kind: 'connection', connection: new PassThrough() },
      }
    })
    const { admin, connection } = await startFront()
    await give(admin, { port: back.port, spec: { insecureSkipTLSVerify: true } })
    await whenAvailable(admin)
    const text = await new Promise<string>((resolve, reject) => {
      const outgoing = httpsRequest(`${connection.server}/apis/wardle.example.com/v1/stream`, {
        ca: connection.ca,
        headers: { authorization: `Bearer ${connection.token}`, connection: 'Upgrade', upgrade: 'SPDY/3.1' },
      })
      outgoing.on('upgrade', (incoming: IncomingMessage, socket) => {
        socket.once('data', (data) => {
          socket.destroy()
          resolve(`${incoming.statusCode} ${incoming.headers.upgrade} ${String(data)}`)
        })
        socket.write('there and back')
      })
      outgoing.on('response', ({ statusCode }) => reject(new Error(String(statusCode))))
      outgoing.on('error', reject).end()
    })
    expect(text).toBe('101 SPDY/3.1 there and back')
  })
})

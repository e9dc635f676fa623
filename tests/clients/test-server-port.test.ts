import { writeFile } from 'node:fs/promises'
import { Agent as HttpAgent, request as httpRequest } from 'node:http'
import { connect } from 'node:http2'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { join } from 'node:path'
import { type Listener, listen, selfSigned } from '@krmkit/http'
import { systemClock } from '@krmkit/meta'
import { createTestServer, type TestServer } from '@krmkit/testing'
import { CoreV1Api, KubeConfig, PatchStrategy, setHeaderOptions, Watch } from '@kubernetes/client-node'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { temporaryFolder } from '../temporary-folder.ts'
import { type Kubectl, kubectlIn, kubectlMissing, skipNote } from './support/kubectl.ts'
import { kubeconfigOf } from './support/local-server.ts'
import { configMap } from './support/manifests.ts'

/** A test server on ports: reads, writes and watches of stock clients, over HTTP/1.1 and HTTP/2, with and without TLS. */

const folder = temporaryFolder()
let cluster: TestServer
let plain: Listener
let secure: Listener
let path: string
const faults: unknown[] = []

beforeAll(async () => {
  cluster = await createTestServer({ clock: systemClock })
  const onError = (error: unknown) => void faults.push(error)
  plain = await cluster.listen((server) => listen(server, { tls: false, onError }))
  secure = await cluster.listen((server) => listen(server, { tls: selfSigned(join(folder, 'pki')), onError }))
  path = join(folder, 'kubeconfig')
  const authority = secure.authority ?? ''
  const token = cluster.tokenOf({ username: 'alice', groups: ['system:masters', 'system:authenticated'] })
  await writeFile(path, JSON.stringify(kubeconfigOf({ address: secure.url, authority, token })), { mode: 0o600 })
})

afterAll(async () => {
  await cluster?.close()
  expect(faults).toEqual([])
})

const configMaps = '/api/v1/namespaces/default/configmaps'

interface Sent {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: assertions check these
  readonly json: any
}
type Send = (method: string, path: string, body?: object, type?: string) => Promise<Sent>

/** Sends over HTTP/1.1 with the client of node. */
function sendHttp1(url: string, ca: string | undefined): { readonly send: Send; close(): void } {
  const agent = ca === undefined ? new HttpAgent({ keepAlive: true }) : new HttpsAgent({ keepAlive: true, ca })
  const send: Send = (method, path, body, type = 'application/json') =>
    new Promise((resolve, reject) => {
      const start = ca === undefined ? httpRequest : httpsRequest
      const text = body === undefined ? '' : JSON.stringify(body)
      // Node sends the body of a DELETE without its length unless the length is given.
      const headers = body === undefined ? {} : { 'content-type': type, 'content-length': Buffer.byteLength(text) }
      const request = start(`${url}${path}`, { method, agent, headers }, (response) => {
        let received = ''
        response.setEncoding('utf8').on('data', (piece: string) => {
          received += piece
        })
        response.on('end', () => resolve({ status: response.statusCode ?? 0, json: JSON.parse(received) }))
      })
      request.on('error', reject)
      request.end(text)
    })
  return { send, close: () => agent.destroy() }
}

function sendHttp2(url: string, ca: string): { readonly send: Send; close(): void } {
  const session = connect(url, { ca })
  const send: Send = (method, path, body, type = 'application/json') =>
    new Promise((resolve, reject) => {
      const headers = body === undefined ? {} : { 'content-type': type }
      const stream = session.request({ ':method': method, ':path': path, ...headers }, { endStream: body === undefined })
      let status = 0
      let text = ''
      stream.on('response', (head) => {
        status = Number(head[':status'])
      })
      stream.setEncoding('utf8').on('data', (piece: string) => {
        text += piece
      })
      stream.on('error', reject)
      stream.on('close', () => {
        if (stream.rstCode === 0) resolve({ status, json: JSON.parse(text) })
      })
      if (body !== undefined) stream.end(JSON.stringify(body))
    })
  return { send, close: () => session.destroy() }
}

describe('a test server on a port', () => {
  it.each([
    ['HTTP/1.1', 'http', () => sendHttp1(plain.url, undefined)],
    ['HTTP/1.1 over TLS', 'https', () => sendHttp1(secure.url, secure.authority ?? '')],
    ['HTTP/2', 'h2', () => sendHttp2(secure.url, secure.authority ?? '')],
  ])('reads and writes over %s with the clients of node', async (_, name, open) => {
    const { send, close } = open()
    try {
      const made = await send('POST', configMaps, { metadata: { name }, data: { n: '1' } })
      expect([made.status, made.json.data], JSON.stringify(made.json)).toEqual([201, { n: '1' }])
      const put = await send('PUT', `${configMaps}/${name}`, { ...made.json, data: { n: '2' } })
      expect([put.status, put.json.data]).toEqual([200, { n: '2' }])
      const patch = { data: { m: '3' } }
      const patched = await send('PATCH', `${configMaps}/${name}`, patch, 'application/merge-patch+json')
      expect([patched.status, patched.json.data]).toEqual([200, { n: '2', m: '3' }])
      const read = await send('GET', `${configMaps}/${name}`)
      expect([read.status, read.json.data]).toEqual([200, { n: '2', m: '3' }])
      const gone = await send('DELETE', `${configMaps}/${name}`, { kind: 'DeleteOptions', apiVersion: 'v1', dryRun: ['All'] })
      expect([gone.status, gone.json.status]).toEqual([200, 'Success'])
      expect((await send('DELETE', `${configMaps}/${name}`)).json.status).toBe('Success')
      expect((await send('GET', `${configMaps}/${name}`)).status).toBe(404)
    } finally {
      close()
    }
  })

  it.each([
    ['HTTP/1.1', 'lost-1', () => sendHttp1(plain.url, undefined)],
    ['HTTP/2', 'lost-2', () => sendHttp2(secure.url, secure.authority ?? '')],
  ])('drops the request when a fault loses the response over %s', async (_, name, open) => {
    const { send, close } = open()
    cluster.faults.next({ verb: 'create' }, { lose: true })
    await expect(send('POST', configMaps, { metadata: { name } })).rejects.toThrow()
    close()
    expect((await cluster.client.request({ path: `${configMaps}/${name}` })).status).toBe(200)
    cluster.ledger.expect({ verb: 'get', resource: 'configmaps', name }, 1)
    expect(cluster.ledger.find({ verb: 'create' }).at(-1)).toMatchObject({ code: 0 })
  })

  it('serves @kubernetes/client-node', async () => {
    const config = new KubeConfig()
    config.loadFromFile(path)
    const api = config.makeApiClient(CoreV1Api)
    const namespace = 'default'
    const events: string[] = []
    const { metadata } = await api.listNamespacedConfigMap({ namespace })
    let seen: () => void = () => undefined
    const deleted = new Promise<void>((resolve) => {
      seen = resolve
    })
    const watch = await new Watch(config).watch(
      configMaps,
      { resourceVersion: metadata?.resourceVersion },
      (type, object) => {
        events.push(`${type} ${object.metadata.name}`)
        if (type === 'DELETED') seen()
      },
      () => undefined,
    )
    const made = await api.createNamespacedConfigMap({ namespace, body: { metadata: { name: 'node' }, data: { n: '1' } } })
    const body = { ...made, data: { n: '2' } }
    expect((await api.replaceNamespacedConfigMap({ name: 'node', namespace, body })).data).toEqual({ n: '2' })
    const patched = await api.patchNamespacedConfigMap(
      { name: 'node', namespace, body: { data: { m: '3' } } },
      setHeaderOptions('Content-Type', PatchStrategy.MergePatch),
    )
    expect(patched.data).toEqual({ n: '2', m: '3' })
    await api.deleteNamespacedConfigMap({ name: 'node', namespace, body: { gracePeriodSeconds: 0 } })
    await deleted
    watch.abort()
    expect(events).toEqual(['ADDED node', 'MODIFIED node', 'MODIFIED node', 'DELETED node'])
  })
})

describe.skipIf(kubectlMissing !== undefined)(`kubectl and a test server on a port${skipNote}`, () => {
  let kubectl: Kubectl

  beforeAll(async () => {
    kubectl = await kubectlIn(folder, path)
  })

  it('creates, applies, patches, edits, watches and deletes', async () => {
    const watching = kubectl.follow('get configmaps --watch-only --output-watch-events')
    const file = await kubectl.file('cm.json', configMap('made', { n: '1' }))
    expect(await kubectl.run('create configmap other --from-literal=a=b')).toBe('configmap/other created')
    expect(await kubectl.run(`create -f ${file}`)).toBe('configmap/made created')
    expect(await kubectl.run(`apply -f ${file}`)).toContain('configmap/made configured')
    expect(await kubectl.run(`apply --server-side --force-conflicts -f ${file}`)).toBe('configmap/made serverside-applied')
    const merge = JSON.stringify({ data: { n: '2' } })
    for (const type of ['merge', 'strategic'])
      expect(await kubectl.run(`patch configmap made --type ${type} -p ${merge}`)).toContain('configmap/made patched')
    expect(await kubectl.run('label configmap made tier=gold')).toBe('configmap/made labeled')
    expect(await kubectl.run('annotate configmap made note=x')).toBe('configmap/made annotated')
    const replaced = await kubectl.file('replace.json', configMap('made', { n: '9' }))
    expect(await kubectl.run(`replace -f ${replaced}`)).toBe('configmap/made replaced')
    expect((await kubectl.json('get configmap made')).data).toEqual({ n: '9' })
    expect(await kubectl.run('create namespace team')).toBe('namespace/team created')
    expect(await kubectl.run('create deployment web --image=registry.example.com/web')).toBe('deployment.apps/web created')
    expect(await kubectl.run('scale deployment web --replicas=3')).toBe('deployment.apps/web scaled')
    expect((await kubectl.json('get deployment web')).spec.replicas).toBe(3)
    expect(await kubectl.run('auth can-i create pods')).toBe('yes')
    expect(await kubectl.run('delete deployment web')).toBe('deployment.apps "web" deleted')
    expect(await kubectl.run('delete configmap made --wait=true')).toBe('configmap "made" deleted')
    expect(await kubectl.refused('get configmap made')).toContain('NotFound')
    await expect.poll(() => watching.text, { timeout: 10_000 }).toMatch(/ADDED +made[\s\S]*DELETED +made/)
    await watching.stop()
  })
})

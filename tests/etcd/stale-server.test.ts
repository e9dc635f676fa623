/**
 * Two servers on one etcd, one of which learns of changes late: its writes take effect on the newest state all the same. Needs the program
 * that `KRMKIT_ETCD` names.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RunningServer, serve } from '../../packages/cli/src/serve.ts'
import { serveOptions } from '../../packages/cli/src/testing/run-command.ts'
import { ApiEndpoint, type ApiObject } from '../../packages/conformance/src/api-endpoint.ts'
import { EtcdProcess, etcdProgram, withoutEtcd } from '../../packages/storage/src/etcd/testing/etcd-process.ts'
import { LoopbackProxy } from '../../packages/storage/src/etcd/testing/loopback-proxy.ts'
import { writeTokens } from './stock-server.ts'

const program = etcdProgram()
const maps = '/api/v1/namespaces/default/configmaps'
const delayMs = 300
const mergePatch = 'application/merge-patch+json'
const deleteOptions = { apiVersion: 'v1', kind: 'DeleteOptions' }
const apply = 'application/apply-patch+yaml'

type ConfigMap = ApiObject & { readonly data?: Record<string, string> }
const configMap = (name: string, data: object = {}, resourceVersion?: string) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...(resourceVersion === undefined ? {} : { resourceVersion }) },
  data,
})

if (program === undefined) it.skip(`a server that learns of changes late: ${withoutEtcd}`)
else describe('a server that learns of changes late', () => late(program))

function late(program: string): void {
  let folder: string
  let etcd: EtcdProcess
  let proxy: LoopbackProxy
  const running: RunningServer[] = []
  let prompt: ApiEndpoint
  let stale: ApiEndpoint

  const start = async (name: string, url: string) => {
    const flags = ['--storage=etcd', `--etcd-servers=${url}`, `--token-auth-file=${writeTokens(folder, 'token')}`]
    const log = { info: () => undefined, error: () => undefined }
    const server = await serve(await serveOptions(join(folder, name), flags), log)
    running.push(server)
    return new ApiEndpoint(name, Number(new URL(server.url).port), 'token')
  }
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'krmkit-stale-'))
    etcd = await EtcdProcess.start(program)
    proxy = await LoopbackProxy.start(etcd.port)
    prompt = await start('prompt', etcd.url)
    stale = await start('stale', proxy.url)
    proxy.delay(delayMs)
  })
  afterAll(async () => {
    proxy?.delay(0)
    prompt?.close()
    stale?.close()
    await Promise.all(running.map((server) => server.close()))
    proxy?.close()
    await etcd?.dispose()
    await rm(folder, { recursive: true, force: true })
  })

  /** A ConfigMap that the late server does not know, or knows as it was before. */
  const changed = async (name: string): Promise<ConfigMap> => {
    await prompt.send('POST', maps, configMap(name, { a: '1' }))
    // The late server knows the first version.
    expect((await stale.send('GET', `${maps}/${name}`)).status).toBe(200)
    const { text } = await prompt.send('PATCH', `${maps}/${name}`, { data: { b: '2' } }, mergePatch)
    return JSON.parse(text) as ConfigMap
  }
  const dataOf = async (name: string) => (JSON.parse((await prompt.send('GET', `${maps}/${name}`)).text) as ConfigMap).data

  it('creates objects in a namespace that another server has just created', async () => {
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'new' } }
    expect((await prompt.send('POST', '/api/v1/namespaces', namespace)).status).toBe(201)
    expect((await stale.send('POST', '/api/v1/namespaces/new/configmaps', configMap('a'))).status).toBe(201)
    expect((await stale.send('POST', '/api/v1/namespaces/none/configmaps', configMap('a'))).status).toBe(404)
  })

  it('refuses a name that another server has just taken', async () => {
    expect((await prompt.send('POST', maps, configMap('taken'))).status).toBe(201)
    const { status, text } = await stale.send('POST', maps, configMap('taken'))
    expect([status, JSON.parse(text).reason]).toEqual([409, 'AlreadyExists'])
  })

  it('patches what another server has just written', async () => {
    await changed('patched')
    expect((await stale.send('PATCH', `${maps}/patched`, { data: { c: '3' } }, mergePatch)).status).toBe(200)
    expect(await dataOf('patched')).toEqual({ a: '1', b: '2', c: '3' })
    expect((await prompt.send('POST', maps, configMap('unknown'))).status).toBe(201)
    expect((await stale.send('PATCH', `${maps}/unknown`, { data: { c: '3' } }, mergePatch)).status).toBe(200)
  })

  it('accepts the newest resourceVersion in a PUT, and refuses a former one', async () => {
    const { metadata } = await changed('put')
    const put = (version: string) => stale.send('PUT', `${maps}/put`, configMap('put', { d: '4' }, version))
    expect((await put(metadata.resourceVersion)).status).toBe(200)
    expect((await put(metadata.resourceVersion)).status).toBe(409)
    expect(await dataOf('put')).toEqual({ d: '4' })
  })

  it('shows the newest state after a patch or an apply without a change', async () => {
    const { metadata } = await changed('same')
    const { text } = await stale.send('PATCH', `${maps}/same`, { data: { a: '1' } }, mergePatch)
    expect(JSON.parse(text)).toMatchObject({ metadata: { resourceVersion: metadata.resourceVersion }, data: { b: '2' } })
    const applied = configMap('applied', { a: '1' })
    const path = `${maps}/applied?fieldManager=x`
    expect((await prompt.send('PATCH', path, applied, apply)).status).toBe(201)
    expect((await stale.send('GET', `${maps}/applied`)).status).toBe(200)
    const newer = await prompt.send('PATCH', `${maps}/applied`, { data: { b: '2' } }, mergePatch)
    expect((await stale.send('PATCH', path, applied, apply)).text).toBe(newer.text)
  })

  it('deletes what another server has just written, on its newest resourceVersion', async () => {
    const { metadata } = await changed('deleted')
    const on = (resourceVersion: string) =>
      stale.send('DELETE', `${maps}/deleted`, { ...deleteOptions, preconditions: { resourceVersion } })
    expect((await on('1')).status).toBe(409)
    expect((await on(metadata.resourceVersion)).status).toBe(200)
    expect((await prompt.send('GET', `${maps}/deleted`)).status).toBe(404)
    expect((await stale.send('DELETE', `${maps}/deleted`)).status).toBe(404)
    expect((await prompt.send('POST', maps, configMap('unknown-too'))).status).toBe(201)
    expect((await stale.send('DELETE', `${maps}/unknown-too`)).status).toBe(200)
  })

  it('creates a pod with a service account that another server has just created', async () => {
    const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'late' } }
    const pod = {
      ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' } },
      spec: { serviceAccountName: 'late', containers: [{ name: 'c', image: 'i' }] },
    }
    expect((await prompt.send('POST', '/api/v1/namespaces/default/serviceaccounts', account)).status).toBe(201)
    expect((await stale.send('POST', '/api/v1/namespaces/default/pods', pod)).status).toBe(201)
  })
}

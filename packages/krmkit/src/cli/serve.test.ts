import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Client, loadKubeconfig, remoteClient, resourceType, subresourceType } from '@krmkit/client'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { testTerminal } from './offline/testing/test-terminal.ts'
import { createProgram } from './program.ts'
import { type Serving, serve } from './serve.ts'
import type { ServeOptions } from './serve-options.ts'

const ConfigMap = resourceType({ group: '', version: 'v1', resource: 'configmaps', kind: 'ConfigMap' })

let folder: string
const running: Serving[] = []
const clients: Client[] = []
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'krmkit-serve-'))
})
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close()
  for (const serving of running.splice(0)) await serving.close()
  await rm(folder, { recursive: true })
})

const logged: string[] = []
const log = { info: (text: string) => void logged.push(text), error: (text: string) => void logged.push(text) }
const optionsOf = async (flags: readonly string[]): Promise<ServeOptions> => {
  let options: ServeOptions | undefined
  const take = async (given: ServeOptions) => {
    options = given
  }
  await createProgram({ terminal: testTerminal(), serve: take }).parseAsync([
    'node',
    'krmkit',
    'serve',
    '--secure-port=0',
    `--data-dir=${folder}/data`,
    ...flags,
  ])
  return options!
}
const start = async (...flags: string[]) => {
  const serving = await serve(await optionsOf(flags), log)
  running.push(serving)
  return serving
}
const connect = async (path: string | undefined, token?: string) => {
  const connection = await loadKubeconfig({ path: path! })
  const client = remoteClient({ ...connection, ...(token === undefined ? {} : { token }) })
  clients.push(client)
  return client
}

describe('serve', () => {
  it('writes a kubeconfig with which an administrator does everything', async () => {
    const { kubeconfig, url } = await start()
    expect(url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/)
    expect((await stat(kubeconfig!)).mode & 0o777).toBe(0o600)
    const client = await connect(kubeconfig)
    await client.create(ConfigMap, { metadata: { name: 'a' }, data: { k: 'v' } })
    expect(await client.get(ConfigMap, 'a')).toMatchObject({ data: { k: 'v' } })
  })

  it('lets nobody else do more than look around', async () => {
    const { kubeconfig } = await start()
    const anonymous = await connect(kubeconfig, '')
    expect((await anonymous.request({ path: '/healthz' })).status).toBe(200)
    expect((await anonymous.request({ path: '/api' })).status).toBe(403)
    await expect(anonymous.list(ConfigMap)).rejects.toMatchObject({ code: 403 })
    const wrong = await connect(kubeconfig, 'wrong')
    expect((await wrong.request({ path: '/healthz' })).status).toBe(401)
  })

  it('P248 keeps anonymous callers out when it is told to', async () => {
    const { kubeconfig } = await start('--anonymous-auth=false')
    expect((await (await connect(kubeconfig, '')).request({ path: '/healthz' })).status).toBe(401)
  })

  it('keeps the token, the authority and durable data over a restart', async () => {
    const first = await start('--storage=durable')
    const client = await connect(first.kubeconfig)
    await client.create(ConfigMap, { metadata: { name: 'kept' } })
    const before = await readFile(first.kubeconfig!, 'utf8')
    await client.close()
    await running.pop()!.close()
    const second = await start('--storage=durable')
    const after = await readFile(second.kubeconfig!, 'utf8')
    const stable = (text: string) => text.replace(/127\.0\.0\.1:\d+/, '')
    expect(stable(after)).toBe(stable(before))
    expect(await (await connect(second.kubeconfig)).get(ConfigMap, 'kept')).toMatchObject({ metadata: { name: 'kept' } })
  })

  it('knows the users of a token file', async () => {
    const tokens = join(folder, 'tokens.csv')
    await writeFile(tokens, 'root-token,root,1,"system:masters"\nalice-token,alice,2,"dev"\n')
    const { kubeconfig } = await start(`--token-auth-file=${tokens}`, `--write-kubeconfig=${folder}/admin.conf`)
    expect(kubeconfig).toBe(join(folder, 'admin.conf'))
    expect((await (await connect(kubeconfig)).list(ConfigMap)).items).toEqual(expect.any(Array))
    const alice = await connect(kubeconfig, 'alice-token')
    expect((await alice.request({ path: '/api' })).status).toBe(200)
    await expect(alice.list(ConfigMap)).rejects.toMatchObject({ code: 403, message: expect.stringContaining('"alice"') })
  })

  it('runs controllers, and issues tokens that it knows again', async () => {
    const { kubeconfig } = await start()
    const client = await connect(kubeconfig)
    const accounts = resourceType({ group: '', version: 'v1', resource: 'serviceaccounts', kind: 'ServiceAccount' })
    for await (const { object } of client.watch(accounts, { namespace: 'default' })) {
      if (object.metadata.name === 'default') break
    }
    const TokenRequest = subresourceType(accounts, {
      name: 'token',
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
    })
    const issued = await client.create(TokenRequest, { metadata: { name: 'default' }, spec: {} })
    const { token } = issued.status as { token: string }
    const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview', metadata: {} }
    const answer = await (await connect(kubeconfig, token)).request({
      method: 'POST',
      path: '/apis/authentication.k8s.io/v1/selfsubjectreviews',
      body: review,
    })
    expect(await answer.json()).toMatchObject({ status: { userInfo: { username: 'system:serviceaccount:default:default' } } })
  })

  it('runs no controllers when it is told to', async () => {
    const { kubeconfig } = await start('--controllers=')
    const names = (await (await connect(kubeconfig)).request({ path: '/api/v1/serviceaccounts' })).json()
    expect(await names).toMatchObject({ items: [] })
  })

  it('keeps its own service and Lease whichever controllers run', async () => {
    const { kubeconfig, url } = await start(
      '--controllers=',
      '--advertise-address=192.0.2.9',
      '--service-cluster-ip-range=10.9.0.0/16',
    )
    const client = await connect(kubeconfig)
    const read = async (path: string) => (await client.request({ path })).json()
    const port = Number(new URL(url).port)
    await expect
      .poll(() => read('/api/v1/namespaces/default/services/kubernetes'))
      .toMatchObject({
        spec: { clusterIP: '10.9.0.1', ports: [{ port: 443, targetPort: port }] },
      })
    await expect
      .poll(() => read('/api/v1/namespaces/default/endpoints/kubernetes'))
      .toMatchObject({
        subsets: [{ addresses: [{ ip: '192.0.2.9' }], ports: [{ port }] }],
      })
    const classOf = async () => (await client.request({ path: '/version' })).headers['x-kubernetes-pf-flowschema-uid']
    await expect.poll(classOf).toMatch(/^[0-9a-f-]{36}$/)
    const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases'
    await expect.poll(() => read(leases)).toMatchObject({ items: [{ spec: { leaseDurationSeconds: 3600 } }] })
  })

  it('tells every request when it is asked to', async () => {
    const { kubeconfig } = await start('--v=2')
    await (await connect(kubeconfig)).request({ path: '/version' })
    expect(logged.some((line) => /get \/version 200 \d+ms kubernetes-admin/.test(line))).toBe(true)
  })

  it('leaves no kubeconfig when it is told to', async () => {
    expect((await start('--write-kubeconfig=')).kubeconfig).toBeUndefined()
  })

  it.each([
    [['--enable-admission-plugins=Nonsense'], '"Nonsense" is no admission plugin'],
    [['--disable-admission-plugins=NamespaceLifecycle'], 'cannot be switched off'],
    [['--controllers=nonsense'], 'unknown controller "nonsense"'],
    [['--service-account-signing-key-file=missing.pem'], 'cannot read missing.pem'],
    [['--tls-cert-file=x'], 'go together'],
    [['--token-auth-file=missing.csv'], 'cannot read missing.csv'],
    [['--client-ca-file=missing.pem'], 'cannot read missing.pem'],
    [['--runtime-config=nonsense'], 'runtime-config'],
  ])('refuses %j', async (flags, sentence) => {
    const failure = await start(...flags).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(Error)
    expect((failure as Error).message).toContain(sentence)
    expect(failure).toHaveProperty('code')
  })

  it('refuses priority and fairness without a single seat', async () => {
    const flags = ['--max-requests-inflight=0', '--max-mutating-requests-inflight=0']
    const message = expect.stringContaining('must add up to something positive')
    await expect(start(...flags)).rejects.toMatchObject({ code: 'InvalidFlag', message })
    const { url } = await start(...flags, '--enable-priority-and-fairness=false')
    expect(url).toContain('https://')
  })

  it('refuses a port that is taken, before it touches the data', async () => {
    const { url } = await start()
    const flags = [`--secure-port=${new URL(url).port}`, '--storage=durable', `--data-dir=${folder}/other`]
    await expect(start(...flags)).rejects.toMatchObject({ code: 'ListenFailed' })
    await expect(stat(`${folder}/other/data`)).rejects.toMatchObject({ code: 'ENOENT' })
  })
})

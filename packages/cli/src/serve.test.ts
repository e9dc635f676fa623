import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Client, createRemoteClient, loadKubeconfig, resourceType, subresourceType } from '@krmkit/client'
import { afterEach, describe, expect, it } from 'vitest'
import { type RunningServer, serve } from './serve.ts'
import { serveOptions } from './testing/run-command.ts'
import { temporaryFolder } from './testing/temporary-folder.ts'

const ConfigMap = resourceType({ group: '', version: 'v1', resource: 'configmaps', kind: 'ConfigMap' })

const folder = temporaryFolder({ perTest: true })
const running: RunningServer[] = []
const clients: Client[] = []
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close()
  for (const serving of running.splice(0)) await serving.close()
})

const logged: string[] = []
const log = { info: (text: string) => void logged.push(text), error: (text: string) => void logged.push(text) }
const start = async (...flags: string[]) => {
  const serving = await serve(await serveOptions(`${folder}/data`, flags), log)
  running.push(serving)
  return serving
}
const connect = async (path: string | undefined, token?: string) => {
  const connection = await loadKubeconfig({ path: path! })
  const client = createRemoteClient({ ...connection, ...(token === undefined ? {} : { token }) })
  clients.push(client)
  return client
}

describe('serve', () => {
  it('writes the kubeconfig of an administrator', async () => {
    const { kubeconfig, url } = await start()
    expect(url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/)
    expect((await stat(kubeconfig!)).mode & 0o777).toBe(0o600)
    const client = await connect(kubeconfig)
    await client.create(ConfigMap, { metadata: { name: 'a' }, data: { k: 'v' } })
    expect(await client.get(ConfigMap, 'a')).toMatchObject({ data: { k: 'v' } })
  })

  it('serves the inspector to administrators with --inspector', async () => {
    const { kubeconfig } = await start('--inspector')
    const client = await connect(kubeconfig)
    await client.create(ConfigMap, { metadata: { name: 'a' }, data: { k: 'v' } })
    const page = await client.request({ path: '/debug/inspector' })
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('ConfigMap default/a')])
    expect((await (await connect(kubeconfig, '')).request({ path: '/debug/inspector' })).status).toBe(403)
    const plain = await connect((await start('--data-dir', `${folder}/plain`)).kubeconfig)
    expect((await plain.request({ path: '/debug/inspector' })).status).toBe(404)
    await expect(start('--inspector', '--threads=1')).rejects.toThrow('--inspector needs --threads=0')
  })

  it('limits anonymous requests to health and version', async () => {
    const { kubeconfig } = await start()
    const anonymous = await connect(kubeconfig, '')
    expect((await anonymous.request({ path: '/healthz' })).status).toBe(200)
    expect((await anonymous.request({ path: '/api' })).status).toBe(403)
    await expect(anonymous.list(ConfigMap)).rejects.toMatchObject({ code: 403 })
    const wrong = await connect(kubeconfig, 'wrong')
    expect((await wrong.request({ path: '/healthz' })).status).toBe(401)
  })

  it('rejects anonymous requests with --anonymous-auth=false [P248]', async () => {
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

  it('authenticates the users of a token file', async () => {
    const tokens = join(folder, 'tokens.csv')
    await writeFile(tokens, 'root-token,root,1,"system:masters"\nalice-token,alice,2,"dev"\n')
    const { kubeconfig } = await start(`--token-auth-file=${tokens}`, `--write-kubeconfig=${folder}/admin.conf`)
    expect(kubeconfig).toBe(join(folder, 'admin.conf'))
    expect((await (await connect(kubeconfig)).list(ConfigMap)).items).toEqual(expect.any(Array))
    const alice = await connect(kubeconfig, 'alice-token')
    expect((await alice.request({ path: '/api' })).status).toBe(200)
    await expect(alice.list(ConfigMap)).rejects.toMatchObject({ code: 403, message: expect.stringContaining('"alice"') })
  })

  it('runs controllers, and authenticates the tokens that it issues', async () => {
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

  it('runs no controllers with an empty --controllers', async () => {
    const { kubeconfig } = await start('--controllers=')
    const names = (await (await connect(kubeconfig)).request({ path: '/api/v1/serviceaccounts' })).json()
    expect(await names).toMatchObject({ items: [] })
  })

  it('maintains its service and Lease with any selection of controllers', async () => {
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

  it('logs the requests of clients with --v=2, and those of controllers with --v=4', async () => {
    const { kubeconfig } = await start('--v=2')
    await (await connect(kubeconfig)).request({ path: '/version' })
    expect(logged.some((line) => /get \/version 200 \d+ms kubernetes-admin/.test(line))).toBe(true)
    const ofControllers = () => logged.filter((line) => /\dms system:(?:kube-controller-manager|apiserver) /.test(line)).length
    expect(ofControllers()).toBe(0)
    await start('--v=4', `--data-dir=${folder}/other`)
    await expect.poll(ofControllers).toBeGreaterThan(0)
  })

  it('does not overwrite the kubeconfig of a running server', async () => {
    const { kubeconfig, url } = await start()
    const before = await readFile(kubeconfig!, 'utf8')
    const refused = { code: 'FileFailed', message: expect.stringContaining(`is the kubeconfig of a running server, ${url}`) }
    await expect(start()).rejects.toMatchObject(refused)
    await expect(start(`--data-dir=${folder}/other`, `--write-kubeconfig=${kubeconfig}`)).rejects.toMatchObject(refused)
    expect(await readFile(kubeconfig!, 'utf8')).toBe(before)
    const { kubeconfig: own } = await start(`--write-kubeconfig=${folder}/own`)
    expect(await readFile(own!, 'utf8')).not.toBe(before)
    await (await connect(kubeconfig)).get(ConfigMap, 'kube-root-ca.crt', { namespace: 'kube-system' })
  })

  it.each([
    ['a stopped server', async () => await running.pop()!.close()],
    ['something else', async (path: string) => writeFile(path, 'not a kubeconfig: [')],
    [
      'another program at its port',
      async (path: string) => {
        const other = await start(`--data-dir=${folder}/other`)
        const text = await readFile(path, 'utf8')
        await writeFile(path, text.replace(/https:[^"]*/, other.url))
      },
    ],
  ])('overwrites the kubeconfig of %s', async (_, change) => {
    const { kubeconfig } = await start()
    await change(kubeconfig!)
    expect(await (await connect((await start()).kubeconfig)).list(ConfigMap)).toMatchObject({ kind: 'ConfigMapList' })
  })

  it('writes no kubeconfig with an empty --write-kubeconfig', async () => {
    expect((await start('--write-kubeconfig=')).kubeconfig).toBeUndefined()
  })

  it.each([
    [['--enable-admission-plugins=Nonsense'], 'unknown admission plugin "Nonsense"'],
    [['--disable-admission-plugins=Nonsense'], 'unknown admission plugin "Nonsense"'],
    [['--controllers=nonsense'], 'unknown controller "nonsense"'],
    [['--service-account-signing-key-file=missing.pem'], 'cannot read missing.pem'],
    [['--tls-cert-file=x'], 'go together'],
    [['--token-auth-file=missing.csv'], 'cannot read missing.csv'],
    [['--client-ca-file=missing.pem'], 'cannot read missing.pem'],
    [['--runtime-config=nonsense'], 'runtime-config invalid key nonsense'],
    [['--runtime-config=nope/v1,batch/v1'], 'unknown api groups nope'],
    [['--runtime-config=api/ga=false'], '--runtime-config=api/ga=false conflicts with --enable-priority-and-fairness=true'],
    [['--feature-gates=Nonsense=true'], '--feature-gates: unrecognized feature gate: Nonsense'],
    [['--feature-gates=SidecarContainers=false'], 'feature is locked to true'],
    [['--feature-gates=AuthorizeWithSelectors=false'], 'requires AuthorizeWithSelectors feature'],
  ])('rejects %j', async (flags, sentence) => {
    const failure = await start(...flags).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(Error)
    expect((failure as Error).message).toContain(sentence)
    expect(failure).toHaveProperty('code')
  })

  it('emulates a release', async () => {
    const client = await connect(
      (await start('--emulated-version=kube=1.24', '--runtime-config=policy/v1beta1=false')).kubeconfig,
    )
    const cronJobs = { group: 'batch', version: 'v1beta1', kind: 'CronJob', resource: 'cronjobs', namespaced: true }
    expect(await client.list(cronJobs)).toMatchObject({ kind: 'CronJobList' })
    const policies = {
      group: 'policy',
      version: 'v1beta1',
      kind: 'PodSecurityPolicy',
      resource: 'podsecuritypolicies',
      namespaced: false,
    }
    await expect(client.list(policies)).rejects.toMatchObject({ code: 404 })
    const group = { group: 'flowcontrol.apiserver.k8s.io', namespaced: false }
    const levels = { ...group, version: 'v1beta2', kind: 'PriorityLevelConfiguration', resource: 'prioritylevelconfigurations' }
    const shares = async () => {
      const { items } = await client.list(levels)
      return items.find(({ metadata }) => metadata.name === 'workload-low')?.spec
    }
    await expect.poll(shares).toMatchObject({ limited: { assuredConcurrencyShares: 100 } })
  })

  it('rejects priority and fairness without seats', async () => {
    const flags = ['--max-requests-inflight=0', '--max-mutating-requests-inflight=0']
    const message = expect.stringContaining('must add up to something positive')
    await expect(start(...flags)).rejects.toMatchObject({ code: 'InvalidFlag', message })
    const { url } = await start(...flags, '--enable-priority-and-fairness=false')
    expect(url).toContain('https://')
  })

  it('rejects a port in use before it opens the storage', async () => {
    const { url } = await start()
    const flags = [`--secure-port=${new URL(url).port}`, '--storage=durable', `--data-dir=${folder}/other`]
    await expect(start(...flags)).rejects.toMatchObject({ code: 'ListenFailed' })
    await expect(stat(`${folder}/other/data`)).rejects.toMatchObject({ code: 'ENOENT' })
  })
})

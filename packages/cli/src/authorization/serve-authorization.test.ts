import { writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { join } from 'node:path'
import { type Client, createRemoteClient, loadKubeconfig, resourceType } from '@krmkit/client'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type RunningServer, serve } from '../serve.ts'
import { runCommand } from '../testing/run-command.ts'
import { temporaryFolder } from '../testing/temporary-folder.ts'

const rbac = 'rbac.authorization.k8s.io'
const ConfigMap = resourceType({ group: '', version: 'v1', resource: 'configmaps', kind: 'ConfigMap' })
const ClusterRole = resourceType({ group: rbac, version: 'v1', resource: 'clusterroles', kind: 'ClusterRole', namespaced: false })
const RoleBinding = resourceType({ group: rbac, version: 'v1', resource: 'rolebindings', kind: 'RoleBinding' })

const folder = temporaryFolder({ perTest: true })
const running: RunningServer[] = []
const clients: Client[] = []
const services: Server[] = []
beforeEach(async () => {
  await writeFile(join(folder, 'tokens.csv'), 'root-token,root,1,"system:masters"\njane-token,jane,2,"dev"\n')
})
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close()
  for (const serving of running.splice(0)) await serving.close()
  for (const service of services.splice(0)) service.close()
})

const log = { info: () => undefined, error: () => undefined }

const run = (...args: string[]) => runCommand(args)

const start = async (...flags: string[]) => {
  const own = ['--secure-port=0', `--data-dir=${folder}/data`, `--token-auth-file=${folder}/tokens.csv`]
  const { options, err } = await run('serve', ...own, ...flags)
  if (options === undefined) throw new Error(err)
  const serving = await serve(options, log)
  running.push(serving)
  const connection = await loadKubeconfig({ path: serving.kubeconfig! })
  const as = (token: string) => {
    const client = createRemoteClient({ ...connection, token })
    clients.push(client)
    return client
  }
  return { serving, root: as('root-token'), jane: as('jane-token'), anonymous: as('') }
}

const status = async (client: Client, path: string) => (await client.request({ path })).status

describe('--authorization-mode', () => {
  it('Node,RBAC: creates the bootstrap roles and aggregates them', async () => {
    const { root, jane, anonymous, serving } = await start('--authorization-mode=Node,RBAC')
    expect(await status(anonymous, '/healthz')).toBe(200)
    expect(await status(anonymous, '/healthz/poststarthook/rbac/bootstrap-roles')).toBe(403)
    expect(await status(root, '/healthz/poststarthook/rbac/bootstrap-roles')).toBe(200)
    expect(await status(jane, '/api')).toBe(200)
    await expect(jane.list(ConfigMap)).rejects.toMatchObject({ code: 403 })
    const roleRef = { apiGroup: rbac, kind: 'ClusterRole', name: 'view' }
    const subjects = [{ apiGroup: rbac, kind: 'Group', name: 'dev' }]
    await root.create(RoleBinding, { metadata: { name: 'b', namespace: 'default' }, roleRef, subjects } as never)
    const isGathered = async () => ((await root.get(ClusterRole, 'view')) as { rules?: unknown[] }).rules?.length
    await expect.poll(isGathered, { interval: 10 }).toBeGreaterThan(5)
    await jane.list(ConfigMap, { namespace: 'default' })
    const config = ['--kubeconfig', serving.kubeconfig!]
    expect(await run('can-i', 'list', 'configmaps', '--as', 'jane', '--as-group', 'dev', ...config)).toMatchObject({
      out: 'yes - RBAC: allowed by RoleBinding "b/default" of ClusterRole "view" to Group "dev"\n',
      code: 0,
    })
    expect(await run('can-i', 'delete', 'configmaps', '--as', 'jane', ...config)).toMatchObject({ out: 'no\n', code: 1 })
    expect(await run('can-i', '*', '*', ...config)).toMatchObject({ out: 'yes\n', code: 0 })
    expect((await run('can-i', '--list', '--as', 'jane', '--as-group', 'dev', ...config)).out).toContain('configmaps')
    expect((await run('who-can', 'list', 'configmaps', ...config)).out).toContain('RoleBinding "b/default"')
    expect((await run('explain-access', 'get', 'secrets', '--as', 'jane', '--as-group', 'dev', ...config)).out).toMatch(
      /^no: jane/,
    )
  })

  it('ABAC: allows the policies of the file, and administrators', async () => {
    const policy = { apiVersion: 'abac.authorization.kubernetes.io/v1beta1', kind: 'Policy' }
    const spec = { group: 'dev', namespace: 'default', resource: 'configmaps', apiGroup: '', readonly: true }
    await writeFile(join(folder, 'policy.jsonl'), `${JSON.stringify({ ...policy, spec })}\n`)
    const { root, jane } = await start('--authorization-mode=ABAC', `--authorization-policy-file=${folder}/policy.jsonl`)
    await jane.list(ConfigMap, { namespace: 'default' })
    await expect(jane.create(ConfigMap, { metadata: { name: 'a' } })).rejects.toMatchObject({ code: 403 })
    await root.create(ConfigMap, { metadata: { name: 'a' } })
  })

  it('AlwaysDeny: allows administrators', async () => {
    const { root, jane } = await start('--authorization-mode=AlwaysDeny')
    expect(await status(jane, '/healthz')).toBe(403)
    await root.create(ConfigMap, { metadata: { name: 'a' } })
  })

  it('Webhook: the webhook decides; a failure denies the request', async () => {
    const reviews: { spec: { user: string } }[] = []
    let fails = false
    const service = createServer((request, response) => {
      const parts: Buffer[] = []
      request.on('data', (part) => parts.push(part))
      request.on('end', () => {
        const review = JSON.parse(Buffer.concat(parts).toString())
        reviews.push(review)
        const allowed = review.spec.resourceAttributes?.verb === 'list'
        response.writeHead(fails ? 503 : 200, { 'content-type': 'application/json' })
        response.end(JSON.stringify({ ...review, status: { allowed, reason: 'decided by the webhook' } }))
      })
    })
    services.push(service)
    await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve))
    const { port } = service.address() as { port: number }
    const cluster = { name: 'c', cluster: { server: `http://127.0.0.1:${port}/review` } }
    const config = { apiVersion: 'v1', kind: 'Config', clusters: [cluster], users: [{ name: 'u', user: {} }] }
    const contexts = [{ name: 'x', context: { cluster: 'c', user: 'u' } }]
    await writeFile(join(folder, 'webhook.json'), JSON.stringify({ ...config, contexts, 'current-context': 'x' }))
    const { root, jane } = await start(
      '--authorization-mode=Webhook',
      `--authorization-webhook-config-file=${folder}/webhook.json`,
      '--authorization-webhook-version=v1',
      '--authorization-webhook-cache-unauthorized-ttl=0s',
    )
    for (let i = 0; i < 3; i++) await jane.list(ConfigMap, { namespace: 'default' })
    expect(reviews.filter(({ spec }) => spec.user === 'jane')).toHaveLength(1)
    await expect(jane.get(ConfigMap, 'a')).rejects.toMatchObject({
      code: 403,
      message: expect.stringContaining(': decided by the webhook'),
    })
    fails = true
    await expect(jane.get(ConfigMap, 'a')).rejects.toMatchObject({ code: 500 })
    await root.list(ConfigMap)
  })

  it('--authorization-config: uses the authorizers of the file instead of modes', async () => {
    const head = 'apiVersion: apiserver.config.k8s.io/v1\nkind: AuthorizationConfiguration\nauthorizers:\n'
    const path = join(folder, 'authorization.yaml')
    await writeFile(path, `${head}- {type: Node, name: node}\n- {type: RBAC, name: rbac}\n`)
    const { root, jane } = await start(`--authorization-config=${path}`)
    expect(await status(root, '/healthz/poststarthook/rbac/bootstrap-roles')).toBe(200)
    expect(await status(jane, '/api')).toBe(200)
    await expect(jane.list(ConfigMap)).rejects.toMatchObject({ code: 403 })
    const mutual =
      '--authorization-config can not be specified when --authorization-mode or --authorization-webhook-* flags are defined'
    for (const flag of ['--authorization-mode=RBAC', '--authorization-webhook-version=v1'])
      await expect(start(`--authorization-config=${path}`, flag)).rejects.toMatchObject({ message: mutual })
    await writeFile(path, `${head}- {type: ABAC, name: abac}\n`)
    await expect(start(`--authorization-config=${path}`)).rejects.toMatchObject({
      message: 'an authorizer of type ABAC and --authorization-policy-file go together',
    })
  })

  it.each([
    [['--authorization-mode=ABAC'], '--authorization-mode=ABAC and --authorization-policy-file go together'],
    [
      ['--authorization-webhook-config-file=x'],
      '--authorization-mode=Webhook and --authorization-webhook-config-file go together',
    ],
    [['--authorization-mode=ABAC', '--authorization-policy-file=/none'], '--authorization-policy-file: cannot read /none'],
    [
      ['--authorization-mode=Webhook', '--authorization-webhook-config-file=/none'],
      '--authorization-webhook-config-file: kubeconfig',
    ],
  ])('rejects %j with a message', async (flags, sentence) => {
    await expect(start(...flags)).rejects.toMatchObject({ message: expect.stringContaining(sentence) })
  })
})

import { writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AuthorizerEnvironment } from '@krmkit/apiserver'
import {
  type Attributes,
  type AuthorizationMetrics,
  type Authorizer,
  alwaysAllowAuthorizer,
  alwaysDenyAuthorizer,
} from '@krmkit/authorization'
import { createFeatures, fakeClock, seededRandom, stockProfile } from '@krmkit/meta'
import { afterEach, describe, expect, it } from 'vitest'
import { temporaryFolder } from '../testing/temporary-folder.ts'
import { type ConfiguredAuthorization, createConfiguredAuthorization } from './authorization-configuration.ts'
import { inClusterConnection } from './in-cluster.ts'

const folder = temporaryFolder({ perTest: true })
const services: Server[] = []
const made: ConfiguredAuthorization[] = []
afterEach(async () => {
  for (const one of made.splice(0)) await one[Symbol.asyncDispose]()
  for (const service of services.splice(0)) service.close()
})

/** A webhook that allows users whose name ends with `ok` and denies user `bad`. */
async function hookService() {
  const reviews: { apiVersion: string; spec: { user: string } }[] = []
  const service = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part) => parts.push(part))
    request.on('end', () => {
      const review = JSON.parse(Buffer.concat(parts).toString())
      reviews.push(review)
      const { user } = review.spec
      const status = { allowed: user.endsWith('ok'), denied: user === 'bad' }
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ ...review, status }))
    })
  })
  services.push(service)
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve))
  const { port } = service.address() as { port: number }
  const path = join(folder, `hook-${port}.json`)
  const clusters = [{ name: 'c', cluster: { server: `http://127.0.0.1:${port}/review` } }]
  const contexts = [{ name: 'x', context: { cluster: 'c', user: 'u' } }]
  const users = [{ name: 'u', user: {} }]
  const config = { apiVersion: 'v1', kind: 'Config', clusters, users, contexts, 'current-context': 'x' }
  await writeFile(path, JSON.stringify(config))
  return { reviews, path }
}
const hook = (path: string, more = '') => `
- type: Webhook
  name: hook
  webhook:
    timeout: 3s
    subjectAccessReviewVersion: v1
    matchConditionSubjectAccessReviewVersion: v1
    failurePolicy: Deny
    connectionInfo: {type: KubeConfigFile, kubeConfigFile: ${path}}
${more}`
const text = (authorizers: string) => `
apiVersion: apiserver.config.k8s.io/v1
kind: AuthorizationConfiguration
authorizers:${authorizers}`
const rbac = '\n- {type: RBAC, name: rbac}'

async function follow(authorizers: string, parts: Partial<Record<'rbac' | 'nodes', Authorizer>> = {}) {
  const clock = fakeClock(0)
  const errors: string[] = []
  const reloads: string[] = []
  const path = join(folder, 'authorization.yaml')
  await writeFile(path, text(authorizers))
  const configured = await createConfiguredAuthorization(path, {
    clock,
    random: seededRandom(1),
    profile: stockProfile,
    features: createFeatures(),
    onError: (error) => errors.push(String(error)),
    onReload: (flag) => reloads.push(flag),
    abac: () => Promise.reject(new Error('no policies here')),
  })
  made.push(configured)
  const { rbac: roles = alwaysDenyAuthorizer, nodes = alwaysDenyAuthorizer } = parts
  const counted: string[] = []
  const metrics: AuthorizationMetrics = {
    decisions: (type, name) => ({
      allowed: () => counted.push(`${type} ${name} allowed`),
      denied: () => counted.push(`${type} ${name} denied`),
    }),
    evaluated: (name, { result }) => counted.push(`${name} ${result}`),
    failedOpen: (name) => counted.push(`${name} failed open`),
    conditionsEvaluated: (name, { excluded }) => counted.push(`${name} ${excluded ? 'excluded' : 'included'}`),
    reloaded: (status) => counted.push(status),
  }
  const environment = { rbac: async () => roles, nodes: async () => nodes, metrics } as unknown as AuthorizerEnvironment
  const authorizer = await configured.authorizer(environment)
  const change = async (next: string) => {
    await writeFile(path, text(next))
    const before = errors.length + reloads.length
    clock.advance(10_000)
    await expect.poll(() => errors.length + reloads.length > before, { interval: 5 }).toBe(true)
  }
  const ask = async (username: string, more: Partial<Attributes> = {}) => {
    const rest = {
      isResource: true,
      group: '',
      version: 'v1',
      resource: 'pods',
      subresource: '',
      namespace: 'n',
      name: '',
      path: '',
    }
    return (await authorizer.authorize({ user: { username, groups: [] }, verb: 'list', ...rest, ...more })).decision
  }
  return { configured, change, ask, errors, reloads, path, counted }
}

describe('createConfiguredAuthorization', () => {
  it('calls authorizers in order, and webhooks only when their match conditions hold', async () => {
    const { path, reviews } = await hookService()
    const conditions = `    matchConditions:
    - expression: has(request.resourceAttributes) && request.resourceAttributes.namespace == 'n'
    - expression: "!('system:nodes' in request.groups)"`
    const { ask, configured } = await follow(hook(path, conditions) + rbac, { rbac: alwaysAllowAuthorizer })
    expect(configured.modes).toEqual(['Webhook', 'RBAC'])
    expect(await ask('ok')).toBe('allow')
    expect(await ask('bad')).toBe('deny')
    expect(await ask('other')).toBe('allow')
    expect(reviews).toHaveLength(3)
    expect(reviews[0]).toMatchObject({ apiVersion: 'authorization.k8s.io/v1', spec: { user: 'ok' } })
    expect(await ask('bad', { namespace: 'elsewhere' })).toBe('allow')
    expect(await ask('bad', { user: { username: 'bad', groups: ['system:nodes'] } })).toBe('allow')
    expect(reviews).toHaveLength(3)
  })

  it('applies the failure policy of an unreachable webhook, except to administrators', async () => {
    const { path } = await hookService()
    services.pop()!.close()
    const { ask, errors } = await follow(hook(path) + rbac, { rbac: alwaysAllowAuthorizer })
    expect(await ask('ok')).toBe('deny')
    expect(errors[0]).toContain('authorizer hook')
    expect(await ask('root', { user: { username: 'root', groups: ['system:masters'] } })).toBe('allow')
  })

  it('reloads its file', async () => {
    const { path } = await hookService()
    const { ask, change, errors, reloads } = await follow(rbac)
    expect(await ask('ok')).toBe('noOpinion')
    await change(hook(path) + rbac)
    expect(await ask('ok')).toBe('allow')
    expect(reloads).toEqual(['authorization-config'])
    // An invalid file changes nothing.
    const cases: [string, string][] = [
      ['\n- {type: Other, name: other}', 'authorizers[0].type: Unsupported value: "Other"'],
      [hook(path), 'missing required types: [RBAC]'],
      [
        `${rbac}\n- {type: Node, name: node}`,
        'authorizer type Node is not allowed if it was not enabled at initial server startup',
      ],
      [`${rbac}\n- nonsense: [`, '--authorization-config'],
      [`${rbac}\n- {type: AlwaysAllow, name: alwaysallow, name: b}`, 'strict decoding error'],
    ]
    for (const [next, message] of cases) {
      await change(next)
      expect(errors.at(-1)).toContain(message)
      expect(await ask('ok')).toBe('allow')
    }
    await change(`${rbac}\n- {type: AlwaysDeny, name: alwaysdeny}`)
    expect(await ask('ok')).toBe('noOpinion')
  })

  it.each([
    ['', 'authorizers: Required value'],
    ['\n- {type: RBAC, name: roles}', 'expected name rbac for authorizer RBAC instead of roles'],
    [hook('/none/hook.conf'), 'error loading file: stat /none/hook.conf: no such file or directory'],
    [hook(tmpdir()), 'must be a regular file'],
    [hook('/dev/null', '    matchConditions: [{expression: request.usr}]'), 'compilation failed'],
  ])('rejects %j at the start', async (authorizers, message) => {
    await expect(follow(authorizers)).rejects.toMatchObject({ code: 'InvalidFlag', message: expect.stringContaining(message) })
  })

  it('counts decisions, webhook calls and reloads', async () => {
    const { path } = await hookService()
    const condition = "    matchConditions: [{expression: request.user != 'out'}]"
    const { ask, change, counted } = await follow(hook(path, condition) + rbac, { rbac: alwaysAllowAuthorizer })
    for (const user of ['ok', 'bad', 'out']) await ask(user)
    expect(counted.splice(0)).toEqual([
      ...['hook included', 'hook success', 'Webhook hook allowed'],
      ...['hook included', 'hook success', 'Webhook hook denied'],
      ...['hook excluded', 'RBAC rbac allowed'],
    ])
    await change('\n- {type: Other, name: other}')
    await change(rbac)
    expect(counted).toEqual(['failure', 'success'])
  })

  it('rejects a missing file', async () => {
    const environment = { clock: fakeClock(), random: seededRandom(1), profile: stockProfile } as never
    await expect(createConfiguredAuthorization('/none', environment)).rejects.toMatchObject({ code: 'FileFailed' })
  })
})

describe('inClusterConnection', () => {
  it('reads the files mounted into a pod, and the token for each request', async () => {
    await writeFile(join(folder, 'ca.crt'), 'PEM')
    await writeFile(join(folder, 'token'), 'one\n')
    const env = { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443' }
    const { server, ca, token } = await inClusterConnection({ env, folder })
    expect([server, ca]).toEqual(['https://[fd00::1]:443', 'PEM'])
    const current = token as () => Promise<string>
    expect(await current()).toBe('one')
    await writeFile(join(folder, 'token'), 'two\n')
    expect(await current()).toBe('two')
    await expect(inClusterConnection({ env: {}, folder })).rejects.toThrow('unable to load in-cluster configuration')
  })
})

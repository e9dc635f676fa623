import { createApiServer } from '@krmkit/apiserver'
import {
  createAuthenticatorChain,
  createBearerTokenAuthenticator,
  createStaticTokenAuthenticator,
  withAuthenticatedGroup,
} from '@krmkit/authentication'
import { type Client, createClient, createFetchTransport, createInformer, createInProcessClient } from '@krmkit/client'
import { apply, blameLines } from '@krmkit/fieldmanager'
import { createFetchHandler } from '@krmkit/http'
import { defineResource } from '@krmkit/kinds'
import { CustomResourceDefinition } from '@krmkit/kinds/apiextensions/v1'
import { Deployment } from '@krmkit/kinds/apps/v1'
import { ConfigMap, Namespace, Pod } from '@krmkit/kinds/core/v1'
import { Role, RoleBinding } from '@krmkit/kinds/rbac/v1'
import { systemRandom } from '@krmkit/meta'
import { parseYaml, printYaml } from '@krmkit/schema'
import { memoryStorage } from '@krmkit/storage'
import { createTestServer } from '@krmkit/testing'
import { validateManifests } from 'krmkit/validate'
import { z } from 'zod'
import type { CheckName, CheckResult } from './check-names.ts'

/**
 * What krmkit does in every runtime: a suite without a test framework, which `runtimes.test.ts` bundles and runs in each of them. A
 * check rejects when it fails.
 */

const admin = { username: 'admin', groups: ['system:masters'] }
const namespace = 'default'

function equal(actual: unknown, expected: unknown): void {
  const [one, other] = [JSON.stringify(actual), JSON.stringify(expected)]
  if (one !== other) throw new Error(`${one} instead of ${other}`)
}

async function rejection(promise: Promise<unknown>): Promise<{ code?: number; reason?: string; message?: string }> {
  return promise.then(
    () => ({}),
    (error: { code?: number; reason?: string; message?: string }) => error,
  )
}

async function withServer(use: (client: Client) => Promise<void>): Promise<void> {
  const server = await createApiServer({ storage: memoryStorage() })
  const client = createInProcessClient(server, { user: admin, namespace })
  await client.create(Namespace, { metadata: { name: 'shop' } })
  await use(client)
  await server.close()
}

const container = { name: 'web', image: 'web:1' }
const labels = { app: 'web' }
const web = (replicas: number) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace: 'shop' },
  spec: { replicas, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers: [container] } } },
})

const checks: Readonly<Record<CheckName, () => Promise<void>>> = {
  'creates, gets, lists and deletes objects': () =>
    withServer(async (client) => {
      await client.create(ConfigMap, { metadata: { name: 'a', namespace: 'shop' }, data: { color: 'grün' } })
      equal((await client.get(ConfigMap, 'a', { namespace: 'shop' })).data, { color: 'grün' })
      const { items } = await client.list(ConfigMap, { namespace: 'shop', labelSelector: '!hidden' })
      equal(
        items.map(({ metadata }) => metadata.name),
        ['a'],
      )
      await client.delete(ConfigMap, 'a', { namespace: 'shop' })
      equal((await rejection(client.get(ConfigMap, 'a', { namespace: 'shop' }))).reason, 'NotFound')
    }),
  'watches changes in their order': () =>
    withServer(async (client) => {
      const watch = client.watch(ConfigMap, { namespace: 'shop' })
      await client.create(ConfigMap, { metadata: { name: 'a', namespace: 'shop' } })
      const next = async () => (await watch.next()).value?.type as string
      const seen = [await next()]
      await client.patch(ConfigMap, 'a', { namespace: 'shop', type: 'merge', patch: { data: { k: 'v' } } })
      await client.delete(ConfigMap, 'a', { namespace: 'shop' })
      seen.push(await next(), await next())
      await watch.return?.()
      equal(seen, ['ADDED', 'MODIFIED', 'DELETED'])
    }),
  'follows a collection with an informer': () =>
    withServer(async (client) => {
      const informer = createInformer(client, ConfigMap, { labels: ['app'] })
      await informer.synced
      const added = new Promise<string | undefined>((resolve) =>
        informer.on({ added: ({ metadata }) => metadata.name === 'a' && resolve(metadata.namespace) }),
      )
      await client.create(ConfigMap, { metadata: { name: 'a', namespace: 'shop', labels } })
      equal(await added, 'shop')
      equal(informer.withLabel('app', 'web').length, 1)
      await informer.stop()
    }),
  'applies with owners and conflicts': () =>
    withServer(async (client) => {
      await client.apply(Deployment, web(1), { fieldManager: 'ci' })
      const conflict = await rejection(client.apply(Deployment, web(2), { fieldManager: 'me' }))
      equal([conflict.reason, conflict.message?.includes('.spec.replicas')], ['Conflict', true])
      const forced = await client.apply(Deployment, web(2), { fieldManager: 'me', force: true })
      equal([forced.spec?.replicas, forced.spec?.strategy?.type], [2, 'RollingUpdate'])
    }),
  'validates with the messages of kube-apiserver': () =>
    withServer(async (client) => {
      const spec = { containers: [{ ...container, ports: [{ containerPort: 80000 }] }] }
      const { code, message } = await rejection(client.create(Pod, { metadata: { name: 'Web', namespace: 'shop' }, spec }))
      equal(code, 422)
      equal(message?.includes('spec.containers[0].ports[0].containerPort: Invalid value: 80000'), true)
    }),
  'serves definitions with expressions': () =>
    withServer(async (client) => {
      const rule = { rule: 'self.min <= self.max', message: 'min must not exceed max' }
      const number = { type: 'integer' }
      const spec = { type: 'object', properties: { min: number, max: number }, 'x-kubernetes-validations': [rule] }
      const schema = { openAPIV3Schema: { type: 'object', properties: { spec } } }
      const names = { kind: 'Range', plural: 'ranges' }
      const versions = [{ name: 'v1', served: true, storage: true, schema }]
      await client.create(CustomResourceDefinition, {
        metadata: { name: 'ranges.example.com' },
        spec: { group: 'example.com', scope: 'Namespaced', names, versions },
      })
      const path = '/apis/example.com/v1/namespaces/shop/ranges'
      const create = async (max: number) => {
        const body = { apiVersion: 'example.com/v1', kind: 'Range', metadata: { generateName: 'r-' }, spec: { min: 1, max } }
        const response = await client.request({ method: 'POST', path, body })
        return [response.status, (await response.text()).includes('min must not exceed max')]
      }
      while ((await create(2))[0] === 404) await new Promise((resolve) => setTimeout(resolve, 10))
      equal(await create(2), [201, false])
      equal(await create(0), [422, true])
    }),
  'serves a kind of a zod schema': async () => {
    const schema = z.object({ spec: z.object({ size: z.int().min(1).default(2) }) })
    const Widget = defineResource({ group: 'example.com', kind: 'Widget', namespaced: false, versions: { v1: { schema } } })
    const server = await createApiServer({ storage: memoryStorage(), kinds: [Widget] })
    const client = createInProcessClient(server, { user: admin })
    equal((await client.create(Widget, { metadata: { name: 'a' }, spec: {} })).spec, { size: 2 })
    equal((await rejection(client.create(Widget, { metadata: { name: 'b' }, spec: { size: 0 } }))).code, 422)
    await server.close()
  },
  'authenticates tokens and authorizes by roles, behind fetch': async () => {
    const tokens = createStaticTokenAuthenticator([{ token: 'jane-token', user: { username: 'jane', groups: [] } }], {
      random: systemRandom,
    })
    const bearer = withAuthenticatedGroup(createBearerTokenAuthenticator(tokens))
    const server = await createApiServer({
      storage: memoryStorage(),
      authenticator: createAuthenticatorChain([bearer], { onRejection: 'stop' }),
      authorizer: ({ rbac }) => rbac(),
      bootstrapRoles: true,
    })
    const owner = createInProcessClient(server, { user: admin, namespace })
    const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['list'] }]
    await owner.create(Role, { metadata: { name: 'reader' }, rules })
    await owner.create(RoleBinding, {
      metadata: { name: 'jane' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'reader' },
      subjects: [{ kind: 'User', name: 'jane', apiGroup: 'rbac.authorization.k8s.io' }],
    })
    const handle = createFetchHandler(server)
    const fetch = (url: string | URL | Request, init?: RequestInit) => handle(new Request(url, init))
    const remote = (token: string) => createClient(createFetchTransport({ server: 'https://host', token, fetch }), { namespace })
    const jane = remote('jane-token')
    equal((await jane.list(ConfigMap, { namespace })).items.length, 0)
    equal((await rejection(jane.create(ConfigMap, { metadata: { name: 'a' } }))).code, 403)
    equal((await rejection(remote('forged').list(ConfigMap, { namespace }))).code, 401)
    await server.close()
  },
  'answers fetch requests in JSON, YAML, protobuf and as streams': async () => {
    const server = await createApiServer({ storage: memoryStorage() })
    const handle = createFetchHandler(server)
    const path = 'http://host/api/v1/namespaces/default/configmaps'
    const body = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {k: v}\n'
    const created = await handle(new Request(path, { method: 'POST', body, headers: { 'content-type': 'application/yaml' } }))
    equal([created.status, ((await created.json()) as { data: object }).data], [201, { k: 'v' }])
    const accept = 'application/vnd.kubernetes.protobuf'
    const encoded = await (await handle(new Request(`${path}/a`, { headers: { accept } }))).arrayBuffer()
    equal([...new Uint8Array(encoded, 0, 4)], [0x6b, 0x38, 0x73, 0])
    const table = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' }
    const { kind } = (await (await handle(new Request(path, { headers: table }))).json()) as { kind: string }
    equal(kind, 'Table')
    const reader = (await handle(new Request(`${path}?watch=true&resourceVersion=0`))).body?.getReader()
    const first = new TextDecoder().decode((await reader?.read())?.value).split('\n')[0] ?? ''
    equal((JSON.parse(first) as { type: string }).type, 'ADDED')
    await reader?.cancel()
    const documents = await handle(new Request('http://host/openapi/v3'))
    equal(Object.keys(((await documents.json()) as { paths: object }).paths).includes('apis/apps/v1'), true)
    await server.close()
  },
  'applies and explains manifests without a server': async () => {
    const { value } = parseYaml(printYaml(web(1)))
    const schema = Deployment.type()
    const live = apply({ applied: value as ReturnType<typeof web>, manager: 'ci', schema, now: 0 }).object
    equal(
      apply({ live, applied: web(2), manager: 'me', schema, now: 0 }).conflicts.map(({ message }) => message),
      ['conflict with "ci"'],
    )
    equal(blameLines(live, schema).find(({ text }) => text.includes('replicas'))?.owners.length, 1)
  },
  'tests controllers on a clock with simulated nodes': async () => {
    const cluster = await createTestServer({ cluster: { nodes: 1 }, controllers: ['*'] })
    await cluster.client.create(Namespace, { metadata: { name: 'shop' } })
    await cluster.client.create(Deployment, web(2))
    await cluster.clock.advance({ minutes: 1 })
    await cluster.settle()
    const { items } = await cluster.client.list(Pod, { namespace: 'shop' })
    equal(
      items.map(({ status }) => status?.phase),
      ['Running', 'Running'],
    )
    equal(cluster.ledger.find({ verb: 'create', resource: 'deployments' }).length, 1)
    await cluster.close()
  },
  'validates manifests without a server': async () => {
    const text = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\nimmutabel: true\n'
    const { findings } = await validateManifests([{ path: 'a.yaml', text }], { release: '1.30' })
    equal(
      findings.map(({ rule, range, suggestion }) => [rule, range?.line, suggestion?.edits[0]?.text]),
      [['unknown-field', 4, 'immutable']],
    )
  },
}

/** Runs all checks, one after the other, and those of a runtime besides them. */
export async function runChecks(more: Readonly<Record<string, () => Promise<void>>> = {}): Promise<CheckResult[]> {
  const results: CheckResult[] = []
  for (const [name, run] of Object.entries({ ...checks, ...more })) {
    const error = await run().then(
      () => undefined,
      (reason: unknown) => (reason instanceof Error ? `${reason.message}\n${reason.stack ?? ''}` : String(reason)),
    )
    results.push(error === undefined ? { name } : { name, error })
  }
  return results
}

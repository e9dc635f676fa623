/** Benchmarks authorization decisions and their cost in requests, and prints the results as JSON. */
import { parseArgs } from 'node:util'
import { type ApiServerOptions, createApiServer } from '@krmkit/apiserver'
import { createPrivilegedGroupsAuthorizer, createUnionAuthorizer, type StoredObject } from '@krmkit/authorization'
import type { Handler } from '@krmkit/protocol'
import { memoryStorage } from '@krmkit/storage'
import { authorizationRows, manyBindings } from './micro/authorization.ts'
import { bytesOf, configMap } from './objects.ts'

const { values } = parseArgs({ options: { time: { type: 'string', default: '400' } } })
const milliseconds = Number(values.time)
const user = { username: 'user-5000', groups: ['dev', 'system:authenticated'] }
const path = '/api/v1/namespaces/ns-0/configmaps'
const signal = new AbortController().signal

interface Call {
  readonly method: string
  readonly path: string
  readonly body?: Uint8Array
}

const calls: Readonly<Record<string, (n: number, round: number) => Call>> = {
  get: () => ({ method: 'GET', path: `${path}/a` }),
  list: () => ({ method: 'GET', path }),
  create: (n, round) => ({ method: 'POST', path, body: bytesOf(configMap(`cm-${round}-${n}`, n)) }),
  update: (n) => ({ method: 'PUT', path: `${path}/a`, body: bytesOf(configMap('a', n)) }),
}

await main()

async function main(): Promise<void> {
  const decisions = authorizationRows().map(([name, run]) => ({ name, microseconds: measure(run) }))
  process.stdout.write(`${JSON.stringify({ decisions, requests: await requests() })}\n`)
}

/** Best of three, after a warm-up of the same length. */
function measure(run: () => unknown): number {
  let best = Number.POSITIVE_INFINITY
  for (let round = 0; round < 4; round++) {
    const from = performance.now()
    let runs = 0
    let spent = 0
    do {
      for (let i = 0; i < 1000; i++) run()
      runs += 1000
      spent = performance.now() - from
    } while (spent < milliseconds)
    if (round > 0) best = Math.min(best, (spent / runs) * 1000)
  }
  return best
}

/** Microseconds per request of a user with few permissions, compared with AlwaysAllow. */
async function requests() {
  const open = await serverOf({})
  const guarded = await serverOf({
    authorizer: async ({ rbac, nodes }) =>
      createUnionAuthorizer([createPrivilegedGroupsAuthorizer(), await nodes(), await rbac()]),
  })
  const grant: StoredObject = {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: 'role-5000' },
    rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list', 'create', 'update'] }],
  }
  await fill(guarded, [...manyBindings('ClusterRoleBinding', (i) => ({ kind: 'User', name: `user-${i}` })), grant])
  const rows = []
  for (const [name, make] of Object.entries(calls)) {
    // Alternating, so that both see the same noise.
    const best = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
    for (let round = 0; round < 6; round++) {
      for (const [i, handle] of [open, guarded].entries()) {
        const from = performance.now()
        let runs = 0
        while (performance.now() - from < milliseconds)
          for (let n = 0; n < 50; n++) await sendRequest(handle, make(runs++, round))
        best[i] = Math.min(best[i]!, ((performance.now() - from) / runs) * 1000)
      }
    }
    rows.push({ name, open: best[0]!, guarded: best[1]! })
  }
  return rows
}

async function serverOf(options: Partial<ApiServerOptions>): Promise<Handler> {
  const { handle } = await createApiServer({ storage: memoryStorage(), ...options })
  const root = { username: 'root', groups: ['system:masters'] }
  const namespace = bytesOf({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'ns-0' } })
  await sendRequest(handle, { method: 'POST', path: '/api/v1/namespaces', body: namespace }, root)
  await sendRequest(handle, { method: 'POST', path, body: bytesOf(configMap('a', 0)) }, root)
  return handle
}

async function fill(handle: Handler, objects: readonly StoredObject[]): Promise<void> {
  const root = { username: 'root', groups: ['system:masters'] }
  for (const object of objects) {
    const { namespace = '', name = '' } = object.metadata
    const home = namespace === '' ? '' : `/namespaces/${namespace}`
    const target = `/apis/rbac.authorization.k8s.io/v1${home}/${object.kind.toLowerCase()}s/${name}`
    await sendRequest(handle, { method: 'PUT', path: target, body: bytesOf(object) }, root)
  }
}

async function sendRequest(handle: Handler, { method, path: target, body }: Call, as: typeof user = user): Promise<void> {
  const { status, body: answer } = await handle({
    method,
    path: target,
    query: '',
    headers: { 'content-type': 'application/json', 'user-agent': 'bench/1' },
    body: async () => body ?? new Uint8Array(),
    peer: {},
    signal,
    user: as,
  })
  if (status >= 300)
    throw new Error(`${method} ${target}: HTTP ${status} ${answer.kind === 'bytes' ? Buffer.from(answer.bytes) : ''}`)
}

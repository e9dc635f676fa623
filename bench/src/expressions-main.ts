/** Benchmarks the cost of expressions: alone, and in requests without a socket. Prints the results as JSON. */

import { parseArgs } from 'node:util'
import { defaultAdmissionPlugins } from '@krmkit/admission'
import { createApiServer, type EmbeddedServer } from '@krmkit/apiserver'
import type { Program } from '@krmkit/cel'
import type { JsonObject } from '@krmkit/meta'
import { cel, loadCel } from '@krmkit/schema'
import { memoryStorage } from '@krmkit/storage'
import { bytesOf } from './objects.ts'

const { values } = parseArgs({ options: { requests: { type: 'string', default: '2000' } } })
const requests = Number(values.requests)
const user = { username: 'bench', groups: ['system:masters', 'system:authenticated'] }
const rounds = 6

interface Row {
  readonly name: string
  readonly microseconds: number
  /** Difference from the run without expressions. */
  readonly added?: number
}

const rule = { rule: 'self.minReplicas <= self.replicas && self.replicas <= self.maxReplicas', message: 'replicas out of range' }
const policyText = 'object.spec.minReplicas <= object.spec.replicas && object.spec.replicas <= object.spec.maxReplicas'
const many = { rule: "self.items.all(i, i.startsWith('item'))" }

await main()

async function main(): Promise<void> {
  process.stdout.write(`${JSON.stringify({ alone: await aloneRows(), server: await serverRows() })}\n`)
}

async function aloneRows(): Promise<Row[]> {
  const from = performance.now()
  await loadCel()
  const { engine, storedExpressions: stored } = cel()
  const rows: Row[] = [{ name: 'loading the engine, once', microseconds: (performance.now() - from) * 1000 }]
  const schema = specSchema([])
  const declared = engine.schemaDeclType(schema, 'T')
  if (declared === undefined) throw new Error('the schema declares nothing')
  const scope = stored.with([['self', declared.type]])
  const self = engine.schemaAdapter(schema)(spec(50))
  for (const [name, text] of [
    ['three comparisons', rule.rule],
    ['fifty items, a call for each', many.rule],
  ] as const) {
    rows.push({ name: `compiling: ${name}`, microseconds: await best(() => void scope.compile(text)) })
    const compiled = scope.compile(text)
    if ('problem' in compiled) throw new Error(compiled.problem)
    const program = compiled.program() as Program
    rows.push({ name: `evaluating: ${name}`, microseconds: await best(() => void program.evaluate({ self })) })
  }
  return rows
}

async function best(run: () => unknown): Promise<number> {
  let least = Number.POSITIVE_INFINITY
  for (let round = 0; round < rounds; round++) {
    const from = performance.now()
    for (let i = 0; i < requests; i++) await run()
    least = Math.min(least, ((performance.now() - from) / requests) * 1000)
  }
  return least
}

function specSchema(rules: readonly JsonObject[]): JsonObject {
  const number = { type: 'integer' }
  const items = { type: 'array', maxItems: 100, items: { type: 'string', maxLength: 20 } }
  return {
    type: 'object',
    properties: { minReplicas: number, replicas: number, maxReplicas: number, items },
    ...(rules.length === 0 ? {} : { 'x-kubernetes-validations': [...rules] }),
  }
}

function spec(count: number) {
  return { minReplicas: 1, replicas: 5, maxReplicas: 10, items: Array.from({ length: count }, (_, i) => `item ${i}`) }
}

interface Setting {
  readonly name: string
  readonly rules: readonly JsonObject[]
  readonly policy?: string
}

/** Alternating creations with and without expressions. */
async function serverRows(): Promise<Row[]> {
  const settings: Setting[] = [
    { name: 'create a custom object of 50 items: no rule', rules: [] },
    { name: 'create a custom object of 50 items: a rule of three comparisons', rules: [rule] },
    { name: 'create a custom object of 50 items: and a rule for each item', rules: [rule, many] },
    { name: 'create a custom object of 50 items: no rule, a policy of three comparisons', rules: [], policy: policyText },
  ]
  const servers: EmbeddedServer[] = []
  for (const setting of settings) servers.push(await serverOf(setting))
  const least = settings.map(() => Number.POSITIVE_INFINITY)
  for (let round = 0; round < rounds; round++) {
    for (const [i, server] of servers.entries()) {
      const from = performance.now()
      for (let n = 0; n < requests; n++) {
        const object = {
          apiVersion: 'bench.example.com/v1',
          kind: 'Thing',
          metadata: { name: `t-${round}-${n}` },
          spec: spec(50),
        }
        await post(server, '/apis/bench.example.com/v1/namespaces/default/things', object)
      }
      least[i] = Math.min(least[i] ?? 0, ((performance.now() - from) / requests) * 1000)
    }
  }
  await Promise.all(servers.map((server) => server.close()))
  const bare = least[0] ?? 0
  return settings.map(({ name }, i) => ({ name, microseconds: least[i] ?? 0, added: (least[i] ?? 0) - bare }))
}

async function serverOf({ rules, policy }: Setting): Promise<EmbeddedServer> {
  const server = await createApiServer({ storage: memoryStorage(), admission: defaultAdmissionPlugins })
  const openAPIV3Schema = { type: 'object', properties: { spec: specSchema(rules) } }
  await post(server, '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    metadata: { name: 'things.bench.example.com' },
    spec: {
      group: 'bench.example.com',
      scope: 'Namespaced',
      names: { plural: 'things', kind: 'Thing' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }],
    },
  })
  if (policy !== undefined) await bind(server, policy)
  const list = '/apis/bench.example.com/v1/namespaces/default/things'
  while ((await sendRequest(server, 'GET', list)) !== 200) await new Promise((resolve) => setImmediate(resolve))
  return server
}

async function bind(server: EmbeddedServer, expression: string): Promise<void> {
  const rule = { apiGroups: ['bench.example.com'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['things'] }
  const at = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolic'
  await post(server, `${at}ies`, {
    metadata: { name: 'p' },
    spec: { matchConstraints: { resourceRules: [rule] }, validations: [{ expression }] },
  })
  await post(server, `${at}ybindings`, { metadata: { name: 'b' }, spec: { policyName: 'p', validationActions: ['Deny'] } })
}

async function post(server: EmbeddedServer, path: string, body: object): Promise<void> {
  const status = await sendRequest(server, 'POST', path, body)
  if (status >= 400) throw new Error(`${path}: HTTP ${status}`)
}

async function sendRequest(server: EmbeddedServer, method: string, path: string, object: object = {}): Promise<number> {
  const body = bytesOf(object)
  const { status } = await server.handle({
    method,
    path,
    query: '',
    headers: { 'content-type': 'application/json' },
    body: async () => body,
    peer: {},
    signal: new AbortController().signal,
    user,
  })
  return status
}

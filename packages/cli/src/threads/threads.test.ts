import { readFile, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:https'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bundledProgram } from '../testing/bundled-program.ts'
import { type AnsweredObject, type Connection, type ThreadedServer, threadedServer } from './testing/threaded-server.ts'

let program: { readonly file: string; readonly folder: string }
let server: ThreadedServer
beforeAll(async () => {
  program = await bundledProgram(new URL('./testing/worker-main.ts', import.meta.url))
  server = await threadedServer(program.file, ['--threads=2'])
})
afterAll(async () => {
  await server?.[Symbol.asyncDispose]()
  await rm(program.folder, { recursive: true })
})

const maps = '/api/v1/namespaces/default/configmaps'
const configMap = (name: string, data: object = {}) => ({ metadata: { name }, data })
const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, index) => make(index))

describe('workers', () => {
  it('see every write at once, whichever worker it went through', async () => {
    const connections = times(4, () => server.connect())
    for (const [index, writer] of connections.entries()) {
      const { status } = await writer.send('POST', maps, configMap(`map-${index}`))
      expect(status).toBe(201)
      for (const reader of connections) expect((await reader.send('GET', `${maps}/map-${index}`)).status).toBe(200)
    }
  })

  it('share the connections', async () => {
    const own = await Promise.all(
      times(6, async () => (await server.connect().send('GET', '/debug/api_priority_and_fairness/dump_requests')).status),
    )
    expect(new Set(own)).toEqual(new Set([200]))
    expect((await server.workers()).length).toBe(2)
  })

  it('allocate every address and port once', async () => {
    const services = await Promise.all(
      times(12, (index) =>
        server.connect().send('POST', '/api/v1/namespaces/default/services', {
          metadata: { name: `s-${index}` },
          spec: { type: 'NodePort', ports: [{ port: 80 }] },
        }),
      ),
    )
    const specs = services.map(({ json }) => json.spec as unknown as { clusterIP: string; ports: { nodePort: number }[] })
    expect(new Set(specs.map(({ clusterIP }) => clusterIP)).size).toBe(12)
    expect(new Set(specs.map(({ ports }) => ports[0]?.nodePort)).size).toBe(12)
  })

  it('exceed no quota together', async () => {
    const { send } = server.connect()
    await send('POST', '/api/v1/namespaces', { metadata: { name: 'small' } })
    const quota = { metadata: { name: 'q' }, spec: { hard: { configmaps: '3' } } }
    expect((await send('POST', '/api/v1/namespaces/small/resourcequotas', quota)).status).toBe(201)
    const path = '/api/v1/namespaces/small/resourcequotas/q/status'
    const status = { status: { hard: { configmaps: '3' }, used: { configmaps: '0' } } }
    expect((await send('PATCH', path, status)).status).toBe(200)
    const answers = await Promise.all(
      times(8, (index) => server.connect().send('POST', '/api/v1/namespaces/small/configmaps', configMap(`m-${index}`))),
    )
    expect(answers.map((answer) => answer.status).sort()).toEqual([201, 201, 201, 403, 403, 403, 403, 403])
  })

  it('serve custom resources as soon as a client has seen that they are established', async () => {
    const names = { plural: 'widgets', kind: 'Widget', singular: 'widget', listKind: 'WidgetList' }
    const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
    const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
    await server.connect().send('POST', definitions, {
      metadata: { name: 'widgets.g.example.com' },
      spec: {
        group: 'g.example.com',
        scope: 'Namespaced',
        names,
        versions: [{ name: 'v1', served: true, storage: true, schema }],
      },
    })
    await expect
      .poll(async () => (await server.connect().send('GET', `${definitions}/widgets.g.example.com`)).text)
      .toMatch(/"type":"Established","status":"True"|"status":"True"[^}]*"type":"Established"/)
    const answers = await Promise.all(
      times(4, (index) =>
        server.connect().send('POST', '/apis/g.example.com/v1/namespaces/default/widgets', {
          apiVersion: 'g.example.com/v1',
          kind: 'Widget',
          metadata: { name: `w-${index}` },
        }),
      ),
    )
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201])
  })

  it('deliver the writes of all workers to a watch, which resumes in another worker', async () => {
    const [a, b] = [server.connect(), server.connect()]
    const { json } = await a.send('GET', maps)
    const since = json.metadata.resourceVersion
    for (const [index, writer] of [a, b, a, b].entries()) await writer.send('POST', maps, configMap(`watched-${index}`))
    for (const reader of [a, b]) {
      const { text } = await reader.send('GET', `${maps}?watch=1&resourceVersion=${since}&timeoutSeconds=1`)
      const events = text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as { object: { metadata: { name: string } } })
      expect(events.map(({ object }) => object.metadata.name)).toEqual(times(4, (index) => `watched-${index}`))
    }
  })

  it('authenticate and authorize', async () => {
    for (const connection of times(2, () => server.connect('wrong'))) {
      expect((await connection.send('GET', maps)).status).toBe(401)
    }
  })

  it.each([maps, '/api/v1/namespaces/default/services'])('refuse anonymous requests before their body: %s', async (path) => {
    const size = 3 * 1024 * 1024
    const headers = { 'content-type': 'application/json', 'content-length': size }
    const post = () =>
      new Promise<number | undefined>((resolve, reject) => {
        const outgoing = request(`${server.url}${path}`, { method: 'POST', agent: false, rejectUnauthorized: false, headers })
        outgoing.once('error', reject).once('response', ({ statusCode }) => {
          resolve(statusCode)
          outgoing.on('error', () => undefined).destroy()
        })
        // The last byte is missing.
        outgoing.write(Buffer.alloc(size - 1, ' '))
      })
    expect(new Set(await Promise.all(times(12, post)))).toEqual(new Set([403]))
  })

  it('report the metrics of all processes in one exposition', async () => {
    const count = async () => {
      const { text } = await server.connect().send('GET', '/metrics')
      expect(text.match(/^# TYPE apiserver_request_total counter$/gm)).toHaveLength(1)
      const line = text
        .split('\n')
        .find((each) => each.includes('resource="secrets"') && each.startsWith('apiserver_request_total'))
      return Number(line?.split(' ').at(-1) ?? 0)
    }
    const before = await count()
    const connections = times(4, () => server.connect())
    for (const connection of connections) await connection.send('GET', '/api/v1/namespaces/default/secrets')
    expect((await count()) - before).toBe(4)
  })

  it('are ready while they reach the writer', async () => {
    expect((await server.connect().send('GET', '/readyz?verbose')).text).toContain('[+]writer ok')
  })
})

it('all workers write to one audit log', async () => {
  const policy = join(program.folder, 'policy.yaml')
  await writeFile(
    policy,
    'apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [RequestReceived]\nrules: [{ level: RequestResponse }]\n',
  )
  const path = join(program.folder, 'audit.log')
  const flags = [`--audit-policy-file=${policy}`, `--audit-log-path=${path}`, '--audit-log-mode=blocking']
  await using audited = await threadedServer(program.file, ['--threads=2', ...flags])
  for (const [index, connection] of times(4, () => audited.connect()).entries()) {
    expect((await connection.send('POST', maps, configMap(`audited-${index}`))).status).toBe(201)
  }
  const events = (await readFile(path, 'utf8'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { verb: string; requestURI: string })
  expect(events.filter(({ verb, requestURI }) => verb === 'create' && requestURI.startsWith(maps))).toHaveLength(4)
})

interface Operation {
  readonly key: string
  readonly type: 'write' | 'read' | 'list'
  readonly startMs: number
  readonly endMs: number
  readonly revision: number
  readonly value: string | undefined
}

/** Whether each operation reflects all that ended before it began: revisions are the order of writes. @returns violations */
function violations(operations: readonly Operation[]): readonly string[] {
  const found: string[] = []
  const values = new Map(operations.filter(({ type }) => type === 'write').map(({ revision, value }) => [revision, value]))
  for (const later of operations) {
    if (later.type === 'read' && values.has(later.revision) && values.get(later.revision) !== later.value) {
      found.push(`${later.key} at ${later.revision} was read as ${later.value}`)
    }
    for (const earlier of operations) {
      // The version of a list is that of the store, which is newer than its objects.
      const isComparable = later.type === 'list' || (earlier.type !== 'list' && earlier.key === later.key)
      if (earlier.endMs >= later.startMs || !isComparable) continue
      if (earlier.revision > later.revision) {
        found.push(`${later.type} of ${later.key} at ${later.revision} after ${earlier.type} at ${earlier.revision}`)
      }
    }
  }
  return found
}

it('finds violations of linearizability in a recorded history', () => {
  const operation = { key: 'a', startMs: 0, endMs: 1, revision: 2, value: '1', type: 'write' } as const
  const stale = { ...operation, type: 'read', startMs: 2, endMs: 3, revision: 1 } as const
  expect(violations([operation, stale])).toHaveLength(1)
  expect(violations([operation, { ...stale, revision: 2, value: '0' }])).toHaveLength(1)
  expect(violations([operation, { ...stale, startMs: 1 }])).toEqual([])
})

function recorded({ metadata, data }: AnsweredObject): Pick<Operation, 'revision' | 'value'> {
  return { revision: Number(metadata.resourceVersion), value: data?.value }
}

/** A client that writes and reads three objects through one worker after the other, until `isOver`. */
async function runClient(index: number, isOver: () => boolean): Promise<readonly Operation[]> {
  const history: Operation[] = []
  let connection: Connection = server.connect()
  for (let turn = index; !isOver(); turn++) {
    const key = `shared-${turn % 3}`
    const startMs = performance.now()
    try {
      const value = `${index}-${turn}`
      const kind = turn % 5
      const answer = await (kind === 0
        ? connection.send('GET', maps)
        : kind < 3
          ? connection.send('GET', `${maps}/${key}`)
          : connection.send('PATCH', `${maps}/${key}`, { data: { value } }))
      if (answer.status !== 200) continue
      const times = { startMs, endMs: performance.now() }
      const type = kind === 0 ? 'list' : kind < 3 ? 'read' : 'write'
      history.push({ ...times, ...recorded(answer.json), type, key: type === 'list' ? '' : key })
      for (const item of answer.json.items ?? [])
        history.push({ ...times, ...recorded(item), type: 'read', key: String(item.metadata.name) })
    } catch {
      // The worker was killed; its connections go to another one.
      connection.close()
      connection = server.connect()
    }
  }
  return history
}

it('clients of different workers see one order of writes, also while workers are killed', async () => {
  const first = server.connect()
  for (const key of times(3, (index) => `shared-${index}`)) await first.send('POST', maps, configMap(key, { value: '' }))
  let isOver = false
  const clients = times(8, (index) => runClient(index, () => isOver))
  for (let kills = 0; kills < 3; kills++) {
    await new Promise((resolve) => setTimeout(resolve, 400))
    const before = await server.workers()
    const killed = before[kills % before.length]
    if (killed !== undefined) process.kill(killed, 'SIGKILL')
    await expect.poll(async () => (await server.workers()).filter((pid) => pid !== killed).length, { timeout: 15_000 }).toBe(2)
  }
  isOver = true
  const history = (await Promise.all(clients)).flat()
  expect(history.length).toBeGreaterThan(100)
  expect(violations(history)).toEqual([])
  expect(server.errors.filter((text) => text.includes('SIGKILL'))).toHaveLength(3)
  expect((await server.connect().send('GET', maps)).status).toBe(200)
})

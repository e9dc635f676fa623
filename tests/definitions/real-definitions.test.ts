import { createApiServer, memoryStorage, type Server } from 'krmkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { packagedDefinitions, projects, smallest } from './packaged-schemas.ts'
import { broken, samples } from './samples.ts'

/** Definitions of well-known projects are accepted, their objects validate, and broken definitions are rejected. */

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

let server: Server
let client: ReturnType<Server['client']>

beforeAll(async () => {
  server = await createApiServer({ storage: memoryStorage() })
  client = server.client({ user: 'admin' })
})
afterAll(() => server.close())

// biome-ignore lint/suspicious/noExplicitAny: responses are inspected member by member
async function send(method: string, path: string, body?: unknown): Promise<{ status: number; body: any }> {
  const headers = { 'content-type': 'application/json' }
  const response = await client.request({ method, path, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) })
  const text = await response.text()
  return { status: response.status, body: text.startsWith('{') ? JSON.parse(text) : text }
}

async function served(path: string): Promise<void> {
  for (let turn = 0; turn < 1000; turn++) {
    if ((await send('GET', path)).status === 200) return
    await new Promise((resolve) => setImmediate(resolve))
  }
  throw new Error(`${path} is not served`)
}

const packaged = projects.map((project) => [project, packagedDefinitions(project)] as const)

it('includes at least 30 definitions', () => {
  const missing = packaged.filter(([, found]) => found === undefined).map(([project]) => project)
  expect(missing, 'packages that are not installed').toEqual([])
  expect(packaged.flatMap(([, found]) => found ?? []).length).toBeGreaterThanOrEqual(30)
})

describe.each(packaged)('%s', (project, found) => {
  const each = (found ?? []).map((definition) => [definition.name, definition] as const)

  it.skipIf(found === undefined)(`its package @kubernetes-models/${project} has definitions`, () => {
    expect(each.length).toBeGreaterThan(0)
  })

  it.each(each)('accepts %s and its smallest objects in every version', async (_name, definition) => {
    const made = await send('POST', definitions, definition.manifest)
    expect(made.status, JSON.stringify(made.body.details?.causes)).toBe(201)
    const { group, kind, plural, namespaced, schemas } = definition
    for (const [version, schema] of schemas) {
      const at = `/apis/${group}/${version}${namespaced ? '/namespaces/default' : ''}/${plural}`
      await served(at)
      const object = {
        ...(smallest(schema) as object),
        apiVersion: `${group}/${version}`,
        kind,
        metadata: { name: `least-${version}` },
      }
      const created = await send('POST', at, object)
      const patterns = (created.body.details?.causes ?? []).every(({ message }: { message: string }) =>
        message.includes('should match'),
      )
      // Strings that must match a pattern are not generated.
      if (created.status !== 422 || !patterns) expect(created.status, JSON.stringify(created.body)).toBe(201)
    }
  })
})

describe('realistic objects', () => {
  it.each(samples.map((sample) => [`${sample.kind} of ${sample.apiVersion}`, sample] as const))('%s', async (_name, sample) => {
    const [group] = sample.apiVersion.split('/')
    const definition = packaged
      .flatMap(([, found]) => found ?? [])
      .find((one) => one.group === group && one.kind === sample.kind)!
    const at = `/apis/${sample.apiVersion}${definition.namespaced ? '/namespaces/default' : ''}/${definition.plural}`
    const created = await send('POST', `${at}?fieldValidation=Strict`, { ...sample, metadata: { name: 'sample' } })
    expect(created.status, JSON.stringify(created.body)).toBe(201)
    const wrong = await send('POST', at, { ...sample, metadata: { name: 'wrong' }, spec: 'nothing' })
    expect(wrong.status).toBe(422)
    expect(wrong.body.details.causes[0]).toMatchObject({ field: 'spec', reason: 'FieldValueTypeInvalid' })
  })
})

describe('broken definitions are refused', () => {
  const [example] = packaged.flatMap(([, found]) => found ?? []).filter(({ kind }) => kind === 'Certificate')

  it.skipIf(example === undefined).each(broken)('%s', async (_name, breakIt, field) => {
    const manifest = structuredClone(example!.manifest)
    breakIt(manifest)
    const { status, body } = await send('POST', definitions, manifest)
    expect(status).toBe(422)
    expect(body.details.causes.map((cause: { field: string }) => cause.field)).toContain(field)
  })
})

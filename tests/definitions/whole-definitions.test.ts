import { delimiter, sep } from 'node:path'
import type { JsonObject } from '@krmkit/meta'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { causesOf, definitionsPath, type Harness, startHarness } from './harness.ts'
import { smallest } from './packaged-schemas.ts'
import { type FoundObject, findDefinitions, packagedFolder, type WholeDefinition } from './whole-definitions.ts'

/** Complete definitions are accepted and served unchanged, and the objects beside them validate. */

const packaged = packagedFolder('crdtoapi', 'examples')
const own = (process.env.DEFINITIONS ?? '').split(delimiter).filter((folder) => folder !== '')
const sources: readonly (readonly [name: string, folders: readonly string[]])[] = [
  ['crdtoapi', packaged === undefined ? [] : [packaged]],
  ...(own.length === 0 ? [] : [['DEFINITIONS', own] as const]),
]

/** Objects that are valid by the schema but not by rules or patterns, which are not generated here. */
const unmade = [
  /should match '/,
  /FieldValueInvalid: Invalid value: "(?:object|string|array|integer)": /,
  /must be of type (?!object)/,
]

describe.each(sources)('definitions of %s', (_source, folders) => {
  const found = findDefinitions(folders)
  const each = found.definitions.map((definition) => [definition.name, definition] as const)
  let harness: Harness

  beforeAll(async () => {
    harness = await startHarness()
  })
  afterAll(() => harness.close())

  it('includes definitions', () => {
    expect(each.length).toBeGreaterThan(0)
  })

  it.each(each)('%s', async (name, definition) => {
    const made = await harness.send('POST', definitionsPath, manifestOf(definition))
    expect(made.status, JSON.stringify(made.body)).toBe(201)
    const { body } = await harness.until(
      `${definitionsPath}/${name}`,
      (answer) => conditionsOf(answer.body).Established === 'True',
    )
    expect(conditionsOf(body)).toMatchObject({ NamesAccepted: 'True', Established: 'True' })
    expect(conditionsOf(body)).not.toHaveProperty('NonStructuralSchema')
    for (const version of definition.versions.filter(({ served }) => served)) await checkVersion(harness, definition, version)
  })

  it('OpenAPI v2 contains all kinds', async () => {
    const { status, body } = await harness.send('GET', '/openapi/v2')
    expect(status).toBe(200)
    const kinds = kindsIn(body.definitions)
    const missing = found.definitions.filter(({ group, kind, versions }) => {
      return versions.some(({ name, served }) => served && !kinds.has(`${group}/${name}/${kind}`))
    })
    expect(missing.map(({ name }) => name)).toEqual([])
  })

  it.each(titled(found.objects))('%s', async (title, { object, definition, file }) => {
    const { namespace: _, ...metadata } = (object.metadata ?? {}) as JsonObject
    const name = `${String(metadata.name ?? 'unnamed').slice(0, 40)}-${/#(\d+)$/.exec(title)?.[1] ?? 0}`
    const answer = await harness.send('POST', `${pathOf(definition, object.apiVersion)}?fieldValidation=Strict`, {
      ...object,
      metadata: { ...metadata, name },
    })
    const isBad = file.split(sep).includes('invalid')
    expect(answer.status, JSON.stringify(answer.body)).toBe(isBad ? 422 : 201)
  })
})

/** Removes webhooks, and the status that generators write. */
function manifestOf({ manifest }: WholeDefinition): JsonObject {
  const { status: _, spec, ...rest } = manifest as { status?: unknown; spec: JsonObject }
  const { conversion, ...others } = spec
  const isWebhook = (conversion as { strategy?: string } | undefined)?.strategy === 'Webhook'
  return { ...rest, spec: { ...others, ...(conversion === undefined || isWebhook ? {} : { conversion }) } }
}

function conditionsOf(body: { status?: { conditions?: { type: string; status: string }[] } }): Record<string, string> {
  return Object.fromEntries((body.status?.conditions ?? []).map(({ type, status }) => [type, status]))
}

async function checkVersion(
  { send, until }: Harness,
  definition: WholeDefinition,
  { name, schema }: WholeDefinition['versions'][number],
): Promise<void> {
  const { group, kind } = definition
  const apiVersion = `${group}/${name}`
  const at = pathOf(definition, apiVersion)
  await until(at, ({ status }) => status === 200)
  const least = { ...(smallest(schema as never) as object), apiVersion, kind, metadata: { name: `least-${name}` } }
  const answer = await send('POST', `${at}?fieldValidation=Strict`, least)
  const odd = causesOf(answer).filter((cause) => !unmade.some((each) => each.test(cause)))
  expect(odd, JSON.stringify(answer.body)).toEqual([])
  expect([201, 422]).toContain(answer.status)
  const { body } = await send('GET', `/openapi/v3/apis/${apiVersion}`)
  expect(kindsIn(body.components.schemas)).toContain(`${apiVersion}/${kind}`)
  const columns = await send('GET', at)
  expect(columns.status).toBe(200)
}

function pathOf({ namespaced, plural }: WholeDefinition, apiVersion: string): string {
  return `/apis/${apiVersion}${namespaced ? '/namespaces/default' : ''}/${plural}`
}

function kindsIn(schemas: object): Set<string> {
  const key = 'x-kubernetes-group-version-kind'
  const kinds = Object.values(schemas).flatMap((schema: Record<string, unknown>) => (schema[key] ?? []) as never[])
  return new Set(kinds.map(({ group, version, kind }: Record<string, string>) => `${group}/${version}/${kind}`))
}

function titled(objects: readonly FoundObject[]): readonly (readonly [string, FoundObject])[] {
  return objects.map((each, index) => [`${each.file.split(sep).slice(-2).join(sep)}: ${each.object.kind} #${index}`, each])
}

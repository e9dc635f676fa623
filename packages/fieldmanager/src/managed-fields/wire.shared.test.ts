import type { ApiObject, JsonObject, JsonValue, ManagedFieldsEntry } from '@krmkit/meta'
import { applyDefaults, createTypeSource, decode, type StructType } from '@krmkit/schema'
import { describe, expect, it } from 'vitest'
import { jsonPatch } from '../patch/json-patch.direct.ts'
import { mergePatch } from '../patch/merge-patch.direct.ts'
import { strategicMergePatch } from '../patch/strategic-merge.direct.ts'
import { modelFiles } from '../testing/model.ts'
import { readScenario, scenariosMissing, type WireStep } from '../testing/scenarios.ts'
import { applyPatch } from './apply.direct.ts'
import { conflictError } from './conflicts.ts'
import { ignoreManagedFieldsTimestamps } from './ignore-timestamps.direct.ts'
import { managerName } from './manager-name.ts'
import { createTypeConverter, type TypeConverter } from './type-converter.ts'
import { trackUpdate } from './update.direct.ts'

/**
 * Replays recorded requests about ownership and compares with the responses of kube-apiserver. Writes go through this package, with
 * decoding and static defaults around it; managedFields, conflicts and (for kinds without further defaults) objects are compared.
 */
const scenarios: Readonly<Record<string, string>> = {
  'apply-conflicts': 'P212 P213 P214 P215 P216',
  'apply-lifecycle': 'P220',
  'apply-last-applied': 'client-side apply',
  'apply-order': 'order of lists',
  'apply-atomic-lists': 'P222',
  'apply-maps': 'P224',
  'apply-pod-lists': 'P225',
  'apply-sets': 'P222',
  'apply-service-ports': 'P225',
  'apply-nulls-and-defaults': 'P221',
  'managed-fields-clear': 'P227 P229',
  'managed-fields-empty-list': 'P228',
  'managed-fields-order': 'order and times',
  'managed-fields-write': 'P211',
  'manager-names': 'P163 P219',
  'json-patch-ops': 'P145',
  'json-patch-errors': 'P145',
}

const kinds: Readonly<Record<string, { apiVersion: string; type: string; exact: boolean }>> = {
  configmaps: { apiVersion: 'v1', type: 'core/v1.ConfigMap', exact: true },
  podtemplates: { apiVersion: 'v1', type: 'core/v1.PodTemplate', exact: false },
  services: { apiVersion: 'v1', type: 'core/v1.Service', exact: false },
  secrets: { apiVersion: 'v1', type: 'core/v1.Secret', exact: false },
}

describe.skipIf(scenariosMissing)(`recorded ownership ${scenariosMissing ?? ''}`, () => {
  const source = scenariosMissing === undefined ? createTypeSource(modelFiles()) : undefined
  for (const [name, rules] of Object.entries(scenarios)) {
    it(`${name} [${rules}]`, () => {
      const server = new Server((type) => (source as NonNullable<typeof source>).struct(type))
      const scenario = readScenario(`apply/${name}`)
      for (const step of scenario.steps) server.play(step, scenario.expected[step.id])
      expect(server.played).toBeGreaterThan(3)
    })
  }
})

class Server {
  played = 0
  #now = Date.UTC(2025, 0, 1)
  readonly #objects = new Map<string, ApiObject>()
  readonly #struct: (type: string) => StructType

  constructor(struct: (type: string) => StructType) {
    this.#struct = struct
  }

  play(step: WireStep, expected: JsonObject | undefined): void {
    this.#now += step.sleepMs ?? 0
    const [, resource, name] = /\/namespaces\/[^/]+\/([a-z]+)(?:\/([^/]+))?$/.exec(step.path) ?? []
    const kind = kinds[resource ?? '']
    if (kind === undefined || expected === undefined || step.query?.dryRun !== undefined) return
    const { status } = expected
    // Most defaults of services depend on other fields.
    if (resource === 'services' && JSON.stringify(step.body).includes('sessionAffinity')) return
    if (isPatchRefusal(step, expected)) {
      this.played++
      const live = this.#objects.get(`${resource}/${name}`)
      if (live === undefined) return
      const code = { 400: 'BadPatch', 413: 'TooManyOperations', 422: 'Unprocessable' }[status as number]
      expect(() => jsonPatch(live as unknown as JsonValue, bodyOf(step)), step.id).toThrow(expect.objectContaining({ code }))
      return
    }
    if ((status !== 200 && status !== 201 && status !== 409) || JSON.stringify(step.body ?? '').includes('"{t}"')) return
    this.played++
    const body = step.body as JsonValue
    const key = `${resource}/${name ?? (body as { metadata: { name: string } }).metadata.name}`
    if (step.method === 'DELETE') {
      this.#objects.delete(key)
      return
    }
    const outcome = step.method === undefined || step.method === 'GET' ? this.#objects.get(key) : this.#write(step, kind, key)
    compare(step, expected, outcome, kind.exact)
  }

  #write(step: WireStep, kind: { apiVersion: string; type: string }, key: string): ApiObject | Error {
    const { apiVersion } = kind
    const type = this.#struct(kind.type)
    const types = createTypeConverter({ [apiVersion]: () => type })
    const live = this.#objects.get(key)
    const manager = managerName(step.query?.fieldManager, step.headers?.['user-agent'])
    const contentType = step.headers?.['content-type'] ?? ''
    let next: ApiObject
    if (contentType.includes('apply-patch')) {
      const applied = bodyOf(step) as unknown as ApiObject
      const force = step.query?.force === 'true'
      const result = applyPatch({ live, applied, manager, force, apiVersion, now: this.#now, types })
      if (result.kind === 'conflict') return conflictError(result.conflicts)
      const settled = trackUpdate({
        live,
        next: this.#canonical(type, result.object),
        manager,
        apiVersion,
        now: this.#now,
        types: untracked(types),
      })
      next = withOwnersOf(result.object, settled)
    } else {
      const changed = this.#canonical(type, changedObject(step, contentType, type, live))
      next = trackUpdate({ live, next: changed, manager, apiVersion, now: this.#now, types })
    }
    const stored = deepFreeze(live === undefined ? next : ignoreManagedFieldsTimestamps(live, next))
    this.#objects.set(key, stored)
    return stored
  }

  #canonical(type: StructType, value: unknown): ApiObject {
    const object = decode<ApiObject>(type, value).object
    return structuredClone(applyDefaults(type, object))
  }
}

/** Whether the patch itself is rejected; other errors concern the patched object or malformed JSON. */
function isPatchRefusal(step: WireStep, { status, body }: JsonObject): boolean {
  if (!step.headers?.['content-type']?.includes('json-patch')) return false
  const message = String((body as JsonObject | undefined)?.message)
  if (status === 422) return message.startsWith('the server rejected')
  return status === 413 || (status === 400 && message.includes('cannot unmarshal'))
}

/** The managedFields of an apply are final, but the object still needs its canonical form. */
function withOwnersOf(owners: ApiObject, object: ApiObject): ApiObject {
  const { managedFields: _, ...metadata } = object.metadata
  const { managedFields } = owners.metadata
  return { ...object, metadata: managedFields === undefined ? metadata : { ...metadata, managedFields } }
}

function untracked(types: TypeConverter): TypeConverter {
  return { ...types, typed: () => undefined }
}

function changedObject(step: WireStep, contentType: string, type: StructType, live: ApiObject | undefined): JsonValue {
  const body = bodyOf(step)
  const before = live as unknown as JsonValue
  if (contentType.includes('json-patch')) return jsonPatch(before, body)
  if (contentType.includes('strategic')) return strategicMergePatch(type, before, body)
  if (contentType.includes('merge-patch')) return mergePatch(before, body)
  return body
}

/** Bodies of these scenarios are JSON, except two YAML texts whose content does not matter here. */
function bodyOf(step: WireStep): JsonValue {
  if (typeof step.body !== 'string') return step.body as JsonValue
  return step.id === 'reordered-yaml'
    ? { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', labels: { l: '1' } }, data: { k3: 'y' } }
    : (JSON.parse(step.body) as JsonValue)
}

function compare(step: WireStep, expected: JsonObject, outcome: ApiObject | Error | undefined, exact: boolean): void {
  const body = expected.body as JsonObject | string | undefined
  if (expected.status === 409) {
    const error = outcome as Error & { status?: { message: string; details: { causes: unknown } } }
    expect(error, step.id).toBeInstanceOf(Error)
    const wanted = body as unknown as { message: string; details: { causes: unknown } }
    if (wanted.message !== '<masked>') expect(error.status?.message, step.id).toBe(wanted.message)
    if (wanted.details.causes !== '<masked>')
      expect(error.status?.details.causes, step.id).toEqual(unmasked(wanted.details.causes, error.status?.details.causes))
    return
  }
  expect(outcome, step.id).not.toBeInstanceOf(Error)
  if (typeof body !== 'object') return
  const metadata = body.metadata as JsonObject | string
  if (typeof metadata !== 'object') return
  const object = outcome as ApiObject
  if (Array.isArray(metadata.managedFields))
    expect(timeless(object.metadata.managedFields ?? []), step.id).toEqual(
      timeless(metadata.managedFields as ManagedFieldsEntry[]),
    )
  else if (metadata.managedFields === undefined) expect(object.metadata.managedFields, step.id).toBeUndefined()
  if (exact) expect(object.data, step.id).toEqual(body.data)
}

function unmasked(wanted: unknown, found: unknown): unknown {
  if (!Array.isArray(wanted) || !Array.isArray(found)) return wanted
  return wanted.map((cause, i) => ({ ...cause, ...maskOf(cause, found[i]) }))
}

function maskOf(wanted: Record<string, unknown>, found: Record<string, unknown> | undefined): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(wanted).flatMap(([name, text]) => (text === '<masked>' ? [[name, found?.[name]]] : [])),
  )
}

function timeless(entries: readonly ManagedFieldsEntry[]): unknown {
  return entries.map(({ time, ...rest }) => ({ ...rest, timed: time !== undefined }))
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    for (const member of Object.values(value)) deepFreeze(member)
  }
  return value
}

import { deepFreeze } from '@krmkit/base/freeze'
import * as pacedBase from '@krmkit/base/paced'
import type { Pace } from '@krmkit/base/work'
import type { ResourceDefinition } from '@krmkit/kinds'
import type { ApiObject } from '@krmkit/meta'
import { normalize, type StructType, type TypeNode } from '@krmkit/schema'
import { dropEmpties } from '@krmkit/schema/decode'
import { copyJson } from '@krmkit/schema/json'
import * as paced from '@krmkit/schema/paced'
import type { FrozenObject, RegistryEnvironment } from '../interfaces.ts'
import type { ServedResources } from './served-resources.ts'
import { storedDefinition, storedType } from './version-conversion.ts'
import { applyVersionDefaults } from './version-defaults.direct.ts'

/** The canonical form, in which objects are stored and returned. Large objects are converted to it in slices. */

/** The parts of a store that the canonical form depends on. */
interface CanonicalContext {
  readonly definition: ResourceDefinition
  readonly environment: Pick<RegistryEnvironment, 'profile' | 'clock' | 'features'>
  readonly served: Pick<ServedResources, 'stored'>
  readonly storageNormalizer: StorageNormalizer
}

/**
 * Puts members in the order of the type, and stores empty members as kube-apiserver does. The result shares unchanged parts with `object`.
 */
export function canonicalForm(store: CanonicalContext, object: ApiObject, pace: Pace): ApiObject | Promise<ApiObject> {
  const type = storedType(store)
  const { distinctEmpties = [] } = store.definition.strategy
  if (pace.isSliced) return canonicalFormInSlices(store, object, { type, distinctEmpties, pace })
  const complete = applyDefaultsAgain(store, object, dropEmpties(type, object, distinctEmpties))
  return store.storageNormalizer.normalize(type, normalize(type, complete) as ApiObject)
}

async function canonicalFormInSlices(
  store: CanonicalContext,
  object: ApiObject,
  {
    type,
    distinctEmpties,
    pace,
  }: { readonly type: StructType; readonly distinctEmpties: readonly (readonly string[])[]; readonly pace: Pace },
): Promise<ApiObject> {
  const rest = await pace.run(paced.dropEmpties(type, object, distinctEmpties))
  const ordered = await pace.run(paced.normalize(type, applyDefaultsAgain(store, object, rest)))
  await pace.next()
  return store.storageNormalizer.normalize(type, ordered)
}

/** Puts members in the order of the type. The result shares unchanged parts with `object`. */
export function normalized(type: StructType, object: ApiObject, pace: Pace): ApiObject | Promise<ApiObject> {
  return pace.isSliced ? pace.run(paced.normalize(type, object)) : (normalize(type, object) as ApiObject)
}

/** Applies the defaults again where empty values were dropped, because kube-apiserver applies them to what it reads from storage. */
function applyDefaultsAgain(store: CanonicalContext, object: ApiObject, rest: ApiObject): ApiObject {
  if (rest === object) return object
  return applyVersionDefaults(copyJson(rest), storedDefinition(store), store.environment)
}

/** Freezes an object that readers share. */
export function frozen<T extends object>(object: T, pace: Pace): T | Promise<T> {
  return pace.isSliced ? pace.run(pacedBase.deepFreeze(object)) : deepFreeze(object)
}

/** A mutable copy of an object that others read or change. */
export function mutableCopy<T extends object>(object: T, pace: Pace): T | Promise<T> {
  return pace.isSliced ? pace.run(paced.copyJson(object)) : copyJson(object)
}

/**
 * The frozen result of a dry run. Where a webhook converts the kind, the object makes the same round trip through the storage version as a
 * stored one.
 */
export async function shownByDryRun({ conversion }: ResourceDefinition, object: ApiObject, pace: Pace): Promise<FrozenObject> {
  const requested = await frozen(object, pace)
  if (conversion === undefined) return requested
  const [shown] = await conversion.read([await frozen(await conversion.write(requested), pace)])
  return frozen(shown as ApiObject, pace)
}

/** The plan of a struct type: its members that become null when empty, and its members that contain structs with such members. */
interface Plan {
  readonly emptied: readonly string[]
  readonly inner: readonly { readonly member: string; readonly form: 'one' | 'list' | 'map'; readonly type: () => StructType }[]
}

/**
 * Reproduces the round trip through storage of kube-apiserver: empty lists and maps without `omitempty` come back as null, because
 * protobuf, in which it stores built-in kinds, cannot distinguish empty from absent. Caches one plan per type.
 */
export class StorageNormalizer {
  readonly #plans = new WeakMap<StructType, Plan>()

  /** Returns the object itself when nothing changes; changed parts are copied. */
  normalize<T extends object>(type: StructType, object: T): T {
    return this.#struct(type, object as Record<string, unknown>) as T
  }

  #struct(type: StructType, object: Record<string, unknown>): Record<string, unknown> {
    const plan = this.#planOf(type)
    let out: Record<string, unknown> | undefined
    for (const member of plan.emptied) {
      if (!isEmpty(object[member])) continue
      out ??= { ...object }
      out[member] = null
    }
    for (const { member, form, type: inner } of plan.inner) {
      const value = object[member]
      if (typeof value !== 'object' || value === null) continue
      const stored =
        form === 'one'
          ? this.#struct(inner(), value as Record<string, unknown>)
          : form === 'list'
            ? this.#list(inner(), value)
            : this.#map(inner(), value)
      if (stored === value) continue
      out ??= { ...object }
      out[member] = stored
    }
    return out ?? object
  }

  #list(type: StructType, items: object): object {
    if (!Array.isArray(items)) return items
    let stored: unknown[] | undefined
    for (let i = 0; i < items.length; i++) {
      const item: unknown = items[i]
      if (typeof item !== 'object' || item === null) continue
      const next = this.#struct(type, item as Record<string, unknown>)
      if (next === item) continue
      stored ??= [...(items as unknown[])]
      stored[i] = next
    }
    return stored ?? items
  }

  #map(type: StructType, members: object): object {
    let changed = false
    const stored = Object.entries(members).map(([key, item]): [string, unknown] => {
      if (typeof item !== 'object' || item === null) return [key, item]
      const next = this.#struct(type, item as Record<string, unknown>)
      if (next !== item) changed = true
      return [key, next]
    })
    return changed ? Object.fromEntries(stored) : members
  }

  #planOf(type: StructType): Plan {
    const known = this.#plans.get(type)
    if (known !== undefined) return known
    const plan = planOf(type)
    this.#plans.set(type, { emptied: plan.emptied, inner: plan.inner.filter(({ type: inner }) => isAffected(inner())) })
    return this.#planOf(type)
  }
}

function planOf(type: StructType): Plan {
  // Metadata has no affected members; skipping it saves a traversal for every write.
  const fields = type.fields.filter(({ json }) => json !== 'metadata' || !type.root)
  const emptied = fields
    .filter(
      ({ omitEmpty, type: node, proto }) => !omitEmpty && proto !== undefined && (node.kind === 'list' || node.kind === 'map'),
    )
    .map(({ json }) => json)
  return { emptied, inner: fields.flatMap(({ json, type: node }) => innerOf(json, node)) }
}

/** Whether the type, or a type that it contains, has an affected member. */
function isAffected(type: StructType): boolean {
  const reached = new Set([type])
  for (const each of reached) {
    const { emptied, inner } = planOf(each)
    if (emptied.length > 0) return true
    for (const { type: next } of inner) reached.add(next())
  }
  return false
}

function innerOf(member: string, node: TypeNode): Plan['inner'] {
  if (node.kind === 'struct') return [{ member, form: 'one', type: node.struct }]
  if (node.kind !== 'list' && node.kind !== 'map') return []
  return node.of.kind === 'struct' ? [{ member, form: node.kind, type: node.of.struct }] : []
}

function isEmpty(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) return value.length === 0
  for (const _ in value) return false
  return true
}

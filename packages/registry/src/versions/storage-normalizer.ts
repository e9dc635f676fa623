import type { StructType, TypeNode } from '@krmkit/schema'

/**
 * Reproduces the round trip through storage of the stock server: empty lists and maps without `omitempty` come back as null, because
 * protobuf, in which it stores built-in kinds, cannot distinguish empty from absent.
 */

/** The affected members of a struct, and the members that contain affected structs. */
interface Plan {
  readonly emptied: readonly string[]
  readonly inner: readonly { readonly member: string; readonly form: 'one' | 'list' | 'map'; readonly type: () => StructType }[]
}

/** Caches one plan per type. */
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
  // Metadata has no such members; skipping it saves a walk for every write.
  const fields = type.fields.filter(({ json }) => json !== 'metadata' || !type.root)
  const emptied = fields
    .filter(
      ({ omitEmpty, type: node, proto }) => !omitEmpty && proto !== undefined && (node.kind === 'list' || node.kind === 'map'),
    )
    .map(({ json }) => json)
  return { emptied, inner: fields.flatMap(({ json, type: node }) => innerOf(json, node)) }
}

/** Whether the type, or a type inside it, has an affected member. */
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

import type { ApiObject, DeepReadonly, Features } from '@krmkit/meta'
import { gateEnabled } from '@krmkit/meta/feature-gates'
import type { StructType, TypeNode } from '@krmkit/schema'
import type { Strategy, SubresourceStrategy } from '../interfaces.ts'
import { preparationWork } from '../preparation.ts'
import { fieldLifecycles } from './fields.ts'
import { factMinor, minorOf, servedMinor } from './release-names.ts'
import { withoutVersion } from './types.ts'

/**
 * Fields that an older release knows but drops, because the gate of their feature is off in it by default: from writes, unless the stored
 * object uses the field already. Most of these gates no longer exist; the tables of the strategies have those that can still be off.
 */

/** What a type holds: fields that are dropped, and members whose types hold such fields. */
interface DropPlan {
  readonly fields: readonly string[]
  readonly inner: readonly { readonly member: string; readonly type: () => StructType }[]
}

export class GatedFields {
  readonly #dropped: ReadonlySet<string>
  readonly #plans = new WeakMap<StructType, DropPlan>()

  constructor(release: string, features: Features) {
    const minor = minorOf(release)
    const off = fieldLifecycles().filter(({ introduced, enabled, gate }) => {
      if (factMinor(introduced) > minor) return false
      if (factMinor(introduced) > servedMinor) return gate !== undefined && !gateEnabled(gate, features)
      // Gates of older fields that the served release leaves off are the business of the kinds' own strategies.
      if (enabled === 'never' || factMinor(enabled) > servedMinor || factMinor(enabled) <= minor) return false
      return gate === undefined || !features.enabled(gate)
    })
    this.#dropped = new Set(off.map(({ type, field }) => `${withoutVersion(type)} ${field}`))
  }

  /** Removes dropped fields from `object`, except those that `old` uses. Mutates `object`. */
  drop(type: StructType, object: object, old: object | undefined): void {
    const used = new Set<string>()
    if (old !== undefined) this.#walk(type, old, (_holder, field, key) => used.add(`${key} ${field}`))
    this.#walk(type, object, (holder, field, key) => {
      if (!used.has(`${key} ${field}`)) delete holder[field]
    })
  }

  #walk(type: StructType, value: object, found: (holder: Record<string, unknown>, field: string, key: string) => void): void {
    const { fields, inner } = this.#planOf(type)
    const holder = value as Record<string, unknown>
    for (const field of fields) if (holder[field] !== undefined) found(holder, field, withoutVersion(type.name))
    for (const { member, type: next } of inner) {
      for (const each of objectsIn(holder[member])) this.#walk(next(), each, found)
    }
  }

  #planOf(type: StructType): DropPlan {
    const known = this.#plans.get(type)
    if (known !== undefined) return known
    const plan = this.#describe(type)
    this.#plans.set(type, plan)
    return plan
  }

  #describe(type: StructType): DropPlan {
    const fields: string[] = []
    const inner: { member: string; type: () => StructType }[] = []
    for (const { json, type: node, promotedFrom } of type.fields) {
      if (this.#dropped.has(`${withoutVersion(promotedFrom ?? type.name)} ${json}`)) fields.push(json)
      const struct = structOf(node)
      if (struct !== undefined && json !== 'metadata' && this.#reaches(struct())) inner.push({ member: json, type: struct })
    }
    return { fields, inner }
  }

  /** Whether the type, or a type inside it, has a dropped field. */
  #reaches(type: StructType): boolean {
    const reached = new Set([type])
    for (const each of reached) {
      for (const { json, type: node, promotedFrom } of each.fields) {
        if (this.#dropped.has(`${withoutVersion(promotedFrom ?? each.name)} ${json}`)) return true
        const struct = structOf(node)
        if (struct !== undefined) reached.add(struct())
      }
    }
    return false
  }
}

function structOf(node: TypeNode): (() => StructType) | undefined {
  if (node.kind === 'struct') return node.struct
  if (node.kind !== 'list' && node.kind !== 'map') return undefined
  return node.of.kind === 'struct' ? node.of.struct : undefined
}

/** The objects of a member: itself, or those of a list or map. */
function objectsIn(value: unknown): object[] {
  if (typeof value !== 'object' || value === null) return []
  const isObject = (each: unknown): each is object => typeof each === 'object' && each !== null
  return Array.isArray(value) ? value.filter(isObject) : [value]
}

/** The strategy of a kind in a release, which drops gated fields before it prepares an object. @param type of stored objects */
export function withGatedFields(strategy: Strategy, type: () => StructType, gated: GatedFields): Strategy {
  const drop = (object: ApiObject, old?: DeepReadonly<ApiObject>) => gated.drop(type(), object, old)
  const subresources = Object.entries(strategy.subresources ?? {}).map(([name, own]): [string, SubresourceStrategy] => {
    return [
      name,
      {
        ...own,
        *prepareForUpdate(object, old, context) {
          drop(object, old)
          yield* preparationWork(own.prepareForUpdate(object, old, context))
        },
      },
    ]
  })
  return {
    ...strategy,
    *prepareForCreate(object, context) {
      drop(object)
      yield* preparationWork(strategy.prepareForCreate?.(object, context))
      drop(object)
    },
    *prepareForUpdate(object, old, context) {
      drop(object, old)
      yield* preparationWork(strategy.prepareForUpdate?.(object, old, context))
      drop(object, old)
    },
    ...(subresources.length === 0 ? {} : { subresources: Object.fromEntries(subresources) }),
  }
}

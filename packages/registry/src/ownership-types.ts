import { createTypeConverter, FieldSet, type ResetFields, type TypeConverter } from '@krmkit/fieldmanager'
import { fieldElement } from '@krmkit/fieldmanager/fieldpath'
import type { KindInfo, ResourceDefinition } from '@krmkit/kinds'
import { type ApiObject, formatApiVersion, type JsonObject } from '@krmkit/meta'
import { normalize } from '@krmkit/schema'
import type { ServedResources } from './served-resources.ts'

/** Types of all served versions of one kind, and the fields that its subresources reset. */
interface OwnedKind {
  readonly types: TypeConverter
  /** By subresource; the empty name is the main resource. */
  readonly reset: ReadonlyMap<string, ResetFields>
}

/** Caches the types per definition: a resource whose versions change gets new definitions. */
export class FieldOwnership {
  readonly #served: ServedResources
  readonly #known = new WeakMap<ResourceDefinition, OwnedKind>()

  constructor(served: ServedResources) {
    this.#served = served
  }

  of(definition: ResourceDefinition): OwnedKind {
    let known = this.#known.get(definition)
    if (known === undefined) {
      known = this.#describe(definition)
      this.#known.set(definition, known)
    }
    return known
  }

  /** All served versions of the resource. */
  versionsOf(definition: ResourceDefinition): readonly ResourceDefinition[] {
    return this.#served.versionsOf(definition.storage)
  }

  #describe(definition: ResourceDefinition): OwnedKind {
    const { kinds } = definition.custom ?? {}
    return kinds === undefined ? this.#describeServed(definition) : describeCustom(definition, kinds)
  }

  #describeServed(definition: ResourceDefinition): OwnedKind {
    const versions = this.#served.versionsOf(definition.storage)
    const served = versions.length === 0 ? [definition] : versions
    const byVersion = new Map(served.map((each) => [formatApiVersion(each.kind), each]))
    const convert = (object: JsonObject, apiVersion: string): JsonObject => {
      const from = byVersion.get(String(object['apiVersion']))
      const to = byVersion.get(apiVersion)
      if (from === undefined || to === undefined) return object
      const stored = from.toStorage?.(object as unknown as ApiObject) ?? (object as unknown as ApiObject)
      const seen = to.fromStorage?.(stored) ?? stored
      return normalize(to.kind.type(), seen) as unknown as JsonObject
    }
    const types = createTypeConverter(
      Object.fromEntries([...byVersion].map(([version, each]) => [version, each.kind.type])),
      byVersion.size > 1 ? convert : undefined,
    )
    return { types, reset: resetFields(definition, [...byVersion.keys()]) }
  }
}

/** Managers may own fields in versions that are no longer served; each version resets only its own fields. */
function describeCustom(definition: ResourceDefinition, kinds: ReadonlyMap<string, KindInfo>): OwnedKind {
  // A null in place of an emptied struct is a field all the same.
  const convert = (object: JsonObject, apiVersion: string): JsonObject =>
    kinds
      .get(apiVersion)
      ?.type()
      .custom?.dropUnknownFields({ ...object, apiVersion }) ?? object
  const types = createTypeConverter(
    Object.fromEntries([...kinds].map(([version, { type }]) => [version, type])),
    kinds.size > 1 ? convert : undefined,
  )
  return { types, reset: resetFields(definition, [formatApiVersion(definition.kind)]) }
}

function resetFields({ strategy }: ResourceDefinition, versions: readonly string[]): OwnedKind['reset'] {
  const reset = new Map<string, ResetFields>()
  for (const [subresource, paths] of Object.entries(strategy.resetFields ?? {})) {
    const exclude = FieldSet.of(...paths.map((path) => path.map((member) => fieldElement(member))))
    reset.set(subresource, Object.fromEntries(versions.map((version) => [version, { exclude }])))
  }
  return reset
}

import { createTypeConverter, FieldSet, type ResetFields, type TypeConverter } from '@krmkit/fieldmanager'
import { fieldElement } from '@krmkit/fieldmanager/fieldpath'
import type { KindInfo, ResourceDefinition } from '@krmkit/kinds'
import { type ApiObject, formatApiVersion, type JsonObject } from '@krmkit/meta'
import { goQuote } from '@krmkit/meta/go-text'
import { normalize } from '@krmkit/schema'
import type { ServedResources } from '../versions/served-resources.ts'

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
      const from = byVersion.get(String(object.apiVersion))
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
  const types = createTypeConverter(
    Object.fromEntries([...kinds].map(([version, { type }]) => [version, type])),
    conversionOf(definition, kinds),
  )
  return { types, reset: resetFields(definition, [formatApiVersion(definition.kind)]) }
}

/**
 * Converts custom resources as kube-apiserver does for ownership: members that the schema of a version lacks are kept, so that an object
 * with any does not fit.
 */
function conversionOf(
  { conversion, kind: { kind, group } }: ResourceDefinition,
  kinds: ReadonlyMap<string, KindInfo>,
): NonNullable<TypeConverter['convert']> {
  return (object, apiVersion) => {
    if (!kinds.has(apiVersion)) throw new Error(unknownVersion(`${object.apiVersion}, Kind=${kind}`, group, apiVersion))
    const isEmpty = Object.keys(object).every((member) => member === 'apiVersion' || member === 'kind')
    if (conversion === undefined || isEmpty) return { ...object, apiVersion }
    return conversion.convert(object as unknown as ApiObject, apiVersion) as Promise<unknown> as Promise<JsonObject>
  }
}

function unknownVersion(from: string, group: string, apiVersion: string): string {
  const parts = apiVersion.split('/')
  if (parts.length > 2) return `unexpected GroupVersion string: ${apiVersion}`
  return parts.length === 2 && parts[0] === group
    ? `request to convert CR to an invalid group/version: ${apiVersion}`
    : `${from} is unstructured and is not suitable for converting to ${goQuote(apiVersion)}`
}

function resetFields({ strategy }: ResourceDefinition, versions: readonly string[]): OwnedKind['reset'] {
  const reset = new Map<string, ResetFields>()
  for (const [subresource, paths] of Object.entries(strategy.resetFields ?? {})) {
    const exclude = FieldSet.of(...paths.map((path) => path.map((member) => fieldElement(member))))
    reset.set(subresource, Object.fromEntries(versions.map((version) => [version, { exclude }])))
  }
  return reset
}

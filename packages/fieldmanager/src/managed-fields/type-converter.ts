import { type Work, whenDone } from '@krmkit/base/work'
import type { ApiObject, DeepReadonly, JsonObject, JsonValue } from '@krmkit/meta'
import type { StructType } from '@krmkit/schema'
import { FieldManagerError, invariant } from '../field-manager-error.ts'
import type { SetFilter } from '../fieldpath/set-filter.ts'
import type { Converter, TypedValue } from '../merge/converter.ts'
import { deducedType } from '../typed/deduced.ts'
import { typedSchemaOf, zeroObjectOf } from '../typed/from-struct.ts'
import { TypeRef } from '../typed/types.ts'
import { validateValue } from '../typed/validate.ts'
import { joinErrors } from '../typed/walk.ts'

/** An object from storage: frozen and shared. */
export type FrozenObject = DeepReadonly<ApiObject>

/** The types of a kind, in every version that managedFields entries may use. */
export interface TypeConverter {
  /** The type of a version; undefined for unknown versions, whose entries are dropped. */
  typed(apiVersion: string): TypeRef | undefined
  /** The object before creation: `{}`, or the members that are always serialized. */
  zero?(apiVersion: string): JsonObject
  /**
   * Converts an object to another version. Must be pure. During an apply, objects may lack required members and have null in place of
   * emptied structs. A promise is allowed only with the functions of `@krmkit/fieldmanager/paced`, run by `runPaced`.
   *
   * @throws an error, which fails an apply and drops the owners of an updated object; also for versions that `typed` does not know.
   */
  convert?(object: JsonObject, apiVersion: string): JsonObject | Promise<JsonObject>
}

/**
 * Fields for which ownership is not recorded, by version: those that the endpoint resets (the status for the main resource,
 * everything else for `/status`).
 */
export type ResetFields = Readonly<Record<string, SetFilter>>

/**
 * Creates a converter from a type per version: a structural type, or a typed schema. Create one per kind and reuse it.
 *
 * @param convert Required when versions differ in more than `apiVersion`; their types must then be different objects.
 * @example
 * ```ts
 * import { createTypeConverter } from '@krmkit/fieldmanager'
 * import { builtInTypes } from '@krmkit/kinds'
 *
 * const source = builtInTypes()
 * const types = createTypeConverter({ v1: () => source.struct('core/v1.ConfigMap') })
 * types.typed('v2') // undefined
 * ```
 */
export function createTypeConverter(
  versions: Readonly<Record<string, () => StructType | TypeRef>>,
  convert?: TypeConverter['convert'],
): TypeConverter {
  const known = (apiVersion: string): StructType | TypeRef | undefined =>
    Object.hasOwn(versions, apiVersion) ? (versions[apiVersion] as () => StructType | TypeRef)() : undefined
  return {
    typed(apiVersion) {
      const type = known(apiVersion)
      return type === undefined || type instanceof TypeRef ? type : typedSchemaOf(type)
    },
    zero(apiVersion) {
      const type = known(apiVersion)
      return type === undefined || type instanceof TypeRef ? {} : zeroObjectOf(type)
    },
    ...(convert === undefined ? {} : { convert }),
  }
}

/** The converter for kinds without a schema: maps are granular and lists atomic, in every version. */
export const deducedTypeConverter: TypeConverter = { typed: () => deducedType }

/**
 * Adapts a TypeConverter to the updater. Each object is converted to each version at most once.
 *
 * @param hub the version of the request, through which all conversions go: v1 -> v2 -> v3 when the request has v2
 */
export function converterOf(types: TypeConverter, hub: string): Converter {
  return new VersionConverter(types, hub)
}

class VersionConverter implements Converter {
  readonly #types: TypeConverter
  readonly #hub: string
  readonly #known = new WeakMap<object, Map<string, JsonObject>>()
  readonly #checked = new WeakSet<object>()

  constructor(types: TypeConverter, hub: string) {
    this.#types = types
    this.#hub = hub
  }

  isKnown(version: string): boolean {
    return this.#types.typed(version) !== undefined
  }

  *convert(object: TypedValue, version: string): ReturnType<Converter['convert']> {
    const type = this.#types.typed(version)
    const from = object.value
    if (this.#types.convert === undefined || from === null || from === undefined) {
      return type === undefined || object.type === type ? type && object : { value: from, type }
    }
    if (type !== undefined && (from as JsonObject)['apiVersion'] === version) return object
    let value: JsonObject
    try {
      value = yield* this.#converted(yield* this.#converted(from as JsonObject, this.#hub), version)
    } catch (error) {
      throw new FieldManagerError({ code: 'Unconvertible', message: errorText(error), cause: error })
    }
    if (type === undefined) return undefined
    if (!this.#checked.has(value)) {
      const errors = yield* validateValue(value, type)
      if (errors.length > 0) throw new FieldManagerError({ code: 'Unconvertible', message: joinErrors(errors), errors })
      this.#checked.add(value)
    }
    return { value, type }
  }

  *#converted(value: JsonObject, version: string): Work<JsonObject> {
    if (this.#types.convert === undefined || value['apiVersion'] === version) return value
    let versions = this.#known.get(value)
    if (versions === undefined) {
      versions = new Map()
      this.#known.set(value, versions)
    }
    let out = versions.get(version)
    if (out === undefined) {
      out = yield* awaited(this.#types.convert(value, version))
      versions.set(version, out)
    }
    return out
  }
}

function* awaited<T>(value: T | Promise<T>): Work<T> {
  const results: T[] = []
  const pending = whenDone(value, (result) => void results.push(result))
  if (results.length === 0) yield pending
  invariant(results.length === 1, 'a promise is awaited by runPaced')
  return results[0] as T
}

function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/**
 * The object without managedFields.
 *
 * @example
 * ```ts
 * import { withManagedFields, withoutManagedFields } from '@krmkit/fieldmanager/managed-fields'
 *
 * const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'shop' } }
 * const owned = withManagedFields(object, [{ manager: 'ci', operation: 'Apply' }])
 * withoutManagedFields(owned) // { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'shop' } }
 * ```
 */
export function withoutManagedFields(object: FrozenObject): JsonObject {
  const { metadata } = object
  if (metadata === undefined || metadata === null || !Object.hasOwn(metadata, 'managedFields'))
    return object as unknown as JsonObject
  const { managedFields: _, ...rest } = metadata
  return { ...object, metadata: rest } as unknown as JsonObject
}

/**
 * The object with these managedFields as the last member of its metadata; the same object when it already has them.
 *
 * @see {@link withoutManagedFields} for an example.
 */
export function withManagedFields<T extends FrozenObject>(object: T, entries: readonly JsonValue[] | undefined): T {
  const old = object.metadata?.managedFields as readonly unknown[] | undefined
  if (old === entries) return object
  const { managedFields: _, ...metadata } = object.metadata ?? {}
  if (entries !== undefined) Object.assign(metadata, { managedFields: entries })
  return { ...object, metadata }
}

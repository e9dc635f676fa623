import type { ObjectConvertor, ObjectVersion } from '@krmkit/admission'
import type { ResourceDefinition } from '@krmkit/kinds'
import { ApiError, type ApiObject, formatApiVersion, type GroupVersionKind } from '@krmkit/meta'
import { applyDefaults, decode, normalize, type StructType } from '@krmkit/schema'
import type { FrozenObject, RegistryEnvironment } from './interfaces.ts'
import type { FieldOwnership } from './ownership-types.ts'
import type { ServedResources } from './served-resources.ts'

/** Converts objects between versions for admission plugins that send them to webhooks or evaluate policies on them. */
export function createObjectConvertor(
  { types, profile, features, clock }: Pick<RegistryEnvironment, 'types' | 'profile' | 'features' | 'clock'>,
  served: ServedResources,
  ownership: FieldOwnership,
): ObjectConvertor {
  /** The definition of the objects; `undefined` for kinds of operations (Scale, Binding), which have a single version. */
  const definitionOf = ({ resource, kind }: ObjectVersion): ResourceDefinition | undefined => {
    const definition = served.find(resource)
    const own = definition?.kind
    return own?.kind === kind.kind && own.group === kind.group && own.version === kind.version ? definition : undefined
  }
  const typeOf = (kind: GroupVersionKind): StructType | undefined => {
    const name = `${kind.group === '' ? 'core' : kind.group.split('.')[0]}/${kind.version}.${kind.kind}`
    return types.has(name) ? types.struct(name) : undefined
  }
  return {
    get served() {
      return served.definitions
    },
    equivalents(resource, subresource) {
      const definition = served.find(resource)
      if (definition === undefined) return []
      return served
        .versionsOf(definition.storage)
        .map((each) => formOf(each, subresource))
        .filter((form) => form !== undefined)
    },
    typeOf(form) {
      const definition = definitionOf(form)
      return definition === undefined ? undefined : ownership.of(definition).types.typed(formatApiVersion(form.kind))
    },
    unknownFields(value, form) {
      const type = definitionOf(form)?.kind.type()
      return type === undefined || type.custom !== undefined ? [] : decode(type, value).problems
    },
    toVersion(object, form) {
      const definition = definitionOf(form)
      if (definition?.conversion !== undefined) return translated(object, definition)
      if (definition !== undefined) {
        const { fromStorage, kind } = definition
        return normalize(kind.type(), fromStorage === undefined ? object : fromStorage(object)) as FrozenObject
      }
      const type = typeOf(form.kind)
      return type === undefined ? object : (normalize(type, object) as FrozenObject)
    },
    fromVersion(value, form, request) {
      const definition = definitionOf(form)
      const type = definition?.kind.type() ?? typeOf(form.kind)
      if (type === undefined) return { object: value as unknown as ApiObject, versioned: value as unknown as ApiObject }
      const keepEmpties = definition?.strategy.distinctEmpties
      const object = decode(type, value, { collect: false, keepEmpties }).object as unknown as ApiObject
      object.apiVersion = formatApiVersion(form.kind)
      object.kind = form.kind.kind
      const complete = applyDefaults(type, object)
      definition?.strategy.defaults?.(complete, form.kind.version, profile, { features, clock })
      const asked = definition?.conversion === undefined ? undefined : definitionOf(request)
      const shown = normalize(type, complete) as FrozenObject
      if (asked !== undefined) {
        const own = translated(shown, asked)
        return own instanceof Promise
          ? own.then((next) => ({ object: next, versioned: shown }))
          : { object: complete, versioned: shown }
      }
      if (definition?.toStorage === undefined) return { object: complete, versioned: shown }
      const stored = definition.toStorage(complete)
      return { object: stored, versioned: this.toVersion(stored, form) as FrozenObject }
    },
  }
}

/**
 * Converts an object of any version by webhook.
 *
 * @throws ApiError 500 when the conversion fails.
 */
function translated(object: FrozenObject, { conversion, kind }: ResourceDefinition): FrozenObject | Promise<ApiObject> {
  if (conversion === undefined || object.apiVersion === formatApiVersion(kind)) return object
  return conversion.read([object]).then(
    ([one]) => normalize(kind.type(), one as ApiObject) as ApiObject,
    (error: unknown) => {
      throw ApiError.internalError(error instanceof Error ? error.message : String(error))
    },
  )
}

/** The kind of a resource or subresource at one version; `undefined` where that version lacks the subresource. */
function formOf(
  { group, version, resource, kind, subresources }: ResourceDefinition,
  subresource: string,
): ObjectVersion | undefined {
  const at = { group, version, resource: resource.name }
  if (subresource === '') return { resource: at, kind: { group: kind.group, version: kind.version, kind: kind.kind } }
  const found = subresources.find(({ name }) => name === `${resource.name}/${subresource}`)
  return found === undefined ? undefined : { resource: at, kind: found.kind }
}

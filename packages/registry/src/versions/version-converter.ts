import type { ConvertedObject, ObjectVersion, VersionConverter } from '@krmkit/admission'
import { isLargeValue, runAtOnce, runInLaterTurns, startWork, type Turns, type Work, whenDone } from '@krmkit/base/work'
import type { TypeConverter } from '@krmkit/fieldmanager'
import type { ResourceDefinition } from '@krmkit/kinds'
import { ApiError, type ApiObject, formatApiVersion, type GroupVersionKind, type JsonValue } from '@krmkit/meta'
import { decode, normalize, type StructType } from '@krmkit/schema'
import * as paced from '@krmkit/schema/paced'
import type { FrozenObject, RegistryEnvironment } from '../interfaces.ts'
import type { ServedResources } from './served-resources.ts'
import { applyVersionDefaults } from './version-defaults.ts'

type ConverterEnvironment = Pick<RegistryEnvironment, 'types' | 'profile' | 'features' | 'clock'>

/** Converts objects between versions for admission plugins that send them to webhooks or evaluate policies on them. */
export function createVersionConverter(
  { turns, ...environment }: ConverterEnvironment & { readonly turns: Turns },
  served: ServedResources,
  ownedTypes: (definition: ResourceDefinition) => Pick<TypeConverter, 'typed'>,
): VersionConverter {
  const { types } = environment
  /** The definition of the objects; `undefined` for kinds of operations (Scale, Binding), which have a single version. */
  const definitionOf = ({ resource, kind }: ObjectVersion): ResourceDefinition | undefined => {
    const definition = served.find(resource)
    const kindOfResource = definition?.kind
    const isOfKind =
      kindOfResource?.kind === kind.kind && kindOfResource.group === kind.group && kindOfResource.version === kind.version
    return isOfKind ? definition : undefined
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
      return definition === undefined ? undefined : ownedTypes(definition).typed(formatApiVersion(form.kind))
    },
    knowsKind({ group, version, kind }) {
      return served.definitions.some(
        ({ custom, kind: known }) =>
          custom === undefined &&
          known.group === group &&
          known.version === version &&
          (known.kind === kind || `${known.kind}List` === kind),
      )
    },
    isCustom(form) {
      const definition = definitionOf(form)
      return definition?.custom !== undefined && definition.definedInCode !== true
    },
    unknownFields(value, form) {
      const type = definitionOf(form)?.kind.type()
      return type === undefined || type.custom !== undefined ? [] : decode(type, value).problems
    },
    toVersion(object, form) {
      const definition = definitionOf(form)
      if (definition?.conversion !== undefined) return convertedByWebhook(object, definition, turns)
      const type = definition?.kind.type() ?? typeOf(form.kind)
      if (type === undefined) return object
      if (isLargeValue(object)) return runInLaterTurns(shownObject(object, type, definition), turns)
      return normalize(type, definition?.fromStorage?.(object) ?? object) as FrozenObject
    },
    fromVersion(value, form, request) {
      const definition = definitionOf(form)
      const type = definition?.kind.type() ?? typeOf(form.kind)
      if (type === undefined) return { object: value as unknown as ApiObject, versioned: value as unknown as ApiObject }
      const steps = readObject(value, { form, type, definition, environment })
      const read = isLargeValue(value) ? runInLaterTurns(steps, turns) : runAtOnce(steps)
      const requested = definition?.conversion === undefined ? undefined : definitionOf(request)
      if (requested === undefined) return read
      return whenDone(read, async (converted: ConvertedObject): Promise<ConvertedObject> => {
        const { versioned } = converted
        const object = await convertedByWebhook(versioned, requested, turns)
        return object === versioned ? converted : { object: object as ApiObject, versioned }
      })
    },
  }
}

/** Converts a stored object to the version of a definition, and normalizes it. */
function* shownObject(object: FrozenObject, type: StructType, definition: ResourceDefinition | undefined): Work<FrozenObject> {
  const ofDefinition = definition?.paced
  const shown =
    ofDefinition === undefined ? (definition?.fromStorage?.(object) ?? object) : yield* ofDefinition.fromStorage(object)
  return (yield* paced.normalize(type, shown)) as FrozenObject
}

interface ReadParts {
  readonly form: ObjectVersion
  readonly type: StructType
  readonly definition: ResourceDefinition | undefined
  readonly environment: ConverterEnvironment
}

/** Decodes a value, applies defaults, and converts the object to the storage version. */
function* readObject(value: JsonValue, { form, type, definition, environment }: ReadParts): Work<ConvertedObject> {
  const { distinctEmpties } = definition?.strategy ?? {}
  const decoded = yield* paced.decode(type, value, { collect: false, keepEmpties: distinctEmpties })
  const object = decoded.object as unknown as ApiObject
  object.apiVersion = formatApiVersion(form.kind)
  object.kind = form.kind.kind
  const complete = yield* definition === undefined
    ? paced.applyDefaults(type, object)
    : applyVersionDefaults(object, definition, environment)
  // Normalization freezes wide parts of an object, but later plugins mutate it, so they get a copy.
  const mutable = isLargeValue(complete) ? yield* paced.copyJson(complete) : complete
  const shown = (yield* paced.normalize(type, complete)) as FrozenObject
  if (definition?.toStorage === undefined) return { object: mutable, versioned: shown }
  const stored = definition.toStorage(mutable)
  return { object: stored, versioned: yield* shownObject(stored, type, definition) }
}

/**
 * Converts an object of any version by webhook.
 *
 * @throws ApiError 500 when the conversion fails.
 */
function convertedByWebhook(
  object: FrozenObject,
  { conversion, kind }: ResourceDefinition,
  turns: Turns,
): FrozenObject | Promise<ApiObject> {
  if (conversion === undefined || object.apiVersion === formatApiVersion(kind)) return object
  return conversion.read([object]).then(
    ([one]) => startWork(paced.normalize(kind.type(), one as ApiObject), turns),
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

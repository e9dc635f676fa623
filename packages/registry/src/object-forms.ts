import type { ObjectForm, ObjectForms } from '@krmkit/admission'
import type { ResourceDefinition } from '@krmkit/kinds'
import { type ApiObject, formatApiVersion, type GroupVersionKind } from '@krmkit/meta'
import { applyDefaults, decode, normalize, type StructType } from '@krmkit/schema'
import type { Environment, FrozenObject } from './interfaces.ts'
import type { ServedResources } from './served-resources.ts'

/** The versions of objects, for plugins that show them to others: webhooks and policies. */
export function createObjectForms(
  { types, profile }: Pick<Environment, 'types' | 'profile'>,
  served: ServedResources,
): ObjectForms {
  /** The definition of the objects themselves; undefined for the kinds of operations (Scale, Binding, ...), which have one version. */
  const definitionOf = ({ resource, kind }: ObjectForm): ResourceDefinition | undefined => {
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
    show(object, form) {
      const definition = definitionOf(form)
      if (definition !== undefined) {
        const { fromStorage, kind } = definition
        return normalize(kind.type(), fromStorage === undefined ? object : fromStorage(object)) as FrozenObject
      }
      const type = typeOf(form.kind)
      return type === undefined ? object : (normalize(type, object) as FrozenObject)
    },
    read(value, form) {
      const definition = definitionOf(form)
      const type = definition?.kind.type() ?? typeOf(form.kind)
      if (type === undefined) return value as unknown as ApiObject
      const object = decode(type, value, { collect: false }).object as unknown as ApiObject
      object.apiVersion = formatApiVersion(form.kind)
      object.kind = form.kind.kind
      const complete = applyDefaults(type, object)
      definition?.policy.defaults?.(complete, form.kind.version, profile)
      return definition?.toStorage === undefined ? complete : definition.toStorage(complete)
    },
  }
}

/** How a version of a resource shows its objects, or those of a sub-resource that it has. */
function formOf(
  { group, version, resource, kind, subresources }: ResourceDefinition,
  subresource: string,
): ObjectForm | undefined {
  const at = { group, version, resource: resource.name }
  if (subresource === '') return { resource: at, kind: { group: kind.group, version: kind.version, kind: kind.kind } }
  const found = subresources.find(({ name }) => name === `${resource.name}/${subresource}`)
  return found === undefined ? undefined : { resource: at, kind: found.kind }
}

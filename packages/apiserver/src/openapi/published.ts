import type { ResourceDefinition, ResourceInfo } from '@krmkit/kinds'
import type { GroupVersionKind, JsonObject } from '@krmkit/meta'
import type { StructType, TypeSource } from '@krmkit/schema'
import { createCustomSchemas, type PublishedGroupVersion, type PublishedResource } from '@krmkit/schema/openapi'
import { groupVersionPath } from '../request/info.ts'

/** Converts served resources to the group versions that OpenAPI documents describe. */

/** The OpenAPI form of a custom resource. */
export interface CustomForm {
  /** `openAPIV3Schema` of the version. */
  readonly schema?: JsonObject
  readonly preserveUnknownFields?: boolean
  readonly selectableFields?: readonly string[]
}

export interface PublishingOptions {
  readonly types: TypeSource
  /** The OpenAPI schema of a resource; undefined when its structural type suffices. */
  readonly customForm: (definition: ResourceDefinition) => CustomForm | undefined
}

/** Group versions in the order of `resources`, each with its resources and subresources. */
export function publishedGroupVersions(
  resources: readonly ResourceDefinition[],
  options: PublishingOptions,
): Map<string, PublishedGroupVersion> {
  const byName = new Map<string, PublishedGroupVersion & { readonly resources: PublishedResource[] }>()
  for (const definition of resources) {
    const { group, version } = definition
    const name = documentName(group, version)
    const groupVersion = byName.get(name) ?? { group, version, resources: [] }
    byName.set(name, groupVersion)
    groupVersion.resources.push(...publishedResources(definition, options))
  }
  return byName
}

/** `api/v1`, `apis/apps/v1`: the name of the document of a group version. */
export function documentName(group: string, version: string): string {
  return groupVersionPath(group, version).slice(1)
}

function publishedResources(definition: ResourceDefinition, options: PublishingOptions): PublishedResource[] {
  const { kind, strategy, resource } = definition
  const form = options.customForm(definition)
  const custom =
    form === undefined
      ? undefined
      : createCustomSchemas({ kind, listKind: listKindOf(definition), source: options.types, ...form })
  const body = custom?.body ?? kind.type()
  const list = custom?.list ?? listType(definition, options.types)
  const main: PublishedResource = {
    ...publishedShape(resource),
    body,
    ...(list === undefined ? {} : { list }),
    // Kinds that begin their deletion themselves document a Status, although they return the object.
    ...(strategy.deleteResponse === 'Object' && strategy.beginDeletion === undefined ? { deleteReturnsObject: true } : {}),
    strategicMerge: custom === undefined,
    ...(definition.custom !== undefined && definition.definedInCode !== true ? { custom: true } : {}),
  }
  const others = definition.subresources.flatMap((subresource) => publishedSubresource(subresource, main, options.types))
  return [main, ...others]
}

function publishedShape({
  name,
  namespaced,
  kind,
  verbs,
}: ResourceInfo): Pick<PublishedResource, 'name' | 'namespaced' | 'kind' | 'verbs'> {
  return { name, namespaced, kind, verbs }
}

/** Options of subresources with text responses. */
const textOptions: Readonly<Record<string, GroupVersionKind>> = {
  '/v1/pods/log': { group: '', version: 'v1', kind: 'PodLogOptions' },
}

function publishedSubresource(subresource: ResourceInfo, main: PublishedResource, types: TypeSource): PublishedResource[] {
  const { kind, name } = subresource
  const text = textOptions[`${kind.group}/${kind.version}/${name}`]
  const connect = kind.kind.endsWith('Options')
  const options = connect ? typeOf(kind, types) : text === undefined ? undefined : typeOf(text, types)
  const body = sameKind(kind, main.kind) ? main.body : typeOf(kind, types)
  const schema = body ?? options
  if (schema === undefined) return []
  return [
    {
      ...publishedShape(subresource),
      body: schema,
      ...(options === undefined ? {} : { options, connect }),
      strategicMerge: main.strategicMerge ?? true,
      ...(main.custom ? { custom: true } : {}),
    },
  ]
}

function sameKind(a: GroupVersionKind, b: GroupVersionKind): boolean {
  return a.group === b.group && a.version === b.version && a.kind === b.kind
}

function listKindOf({ kind }: ResourceDefinition): string {
  return kind.listKind === '' ? `${kind.kind}List` : kind.listKind
}

function listType(definition: ResourceDefinition, types: TypeSource): StructType | undefined {
  return typeOf({ ...definition.kind, kind: listKindOf(definition) }, types)
}

/** The folder of the types of a group: for most groups, the first label of the group name. */
function folderOf(group: string): string | undefined {
  if (group === '') return 'core'
  return group.startsWith('internal.apiserver.') ? 'apiserverinternal' : group.split('.')[0]
}

/** The type of a built-in kind, whether or not it is a resource. */
export function typeOf(kind: GroupVersionKind, types: TypeSource): StructType | undefined {
  const name = `${folderOf(kind.group)}/${kind.version}.${kind.kind}`
  return types.has(name) ? types.struct(name) : undefined
}

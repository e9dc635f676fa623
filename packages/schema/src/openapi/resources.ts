import type { GroupVersion, GroupVersionKind } from '@krmkit/meta'
import type { Field, Scalar, StructType, TypeNode, TypeSource } from '../interfaces.ts'
import { describeField } from './descriptions.ts'
import type { MetaNames, Operation, OperationTarget } from './operations.ts'
import type { Parameter } from './parameters.ts'
import type { PublishedSchema, SchemaCollector } from './schemas.ts'

/** A resource or subresource to publish. */
export interface PublishedResource {
  /** `pods` or `pods/log` */
  readonly name: string
  readonly namespaced: boolean
  /** Kind of the bodies. */
  readonly kind: GroupVersionKind
  readonly verbs: readonly string[]
  /** Schema of the bodies; not used for connections and logs. */
  readonly body: PublishedSchema
  /** Schema of lists; required for the verb list. */
  readonly list?: PublishedSchema
  /** Whether DELETE returns the object instead of a Status. */
  readonly deleteReturnsObject?: boolean
  /** Type of the query parameters of connections (`pods/exec`) and text subresources (`pods/log`). */
  readonly options?: StructType
  /** Whether responses come from the target of a connection. */
  readonly connect?: boolean
  /** Whether strategic merge patches are supported. Default true. */
  readonly strategicMerge?: boolean
  /** Whether this is a custom resource. @see {@link OperationTarget} */
  readonly custom?: boolean
}

/** All resources of one group version. */
export interface PublishedGroupVersion extends GroupVersion {
  readonly resources: readonly PublishedResource[]
}

/** Collects the schemas of the resources and builds the operation targets that refer to them. */
export function targetsOf(resources: readonly PublishedResource[], schemas: SchemaCollector): OperationTarget[] {
  const kinds = new Map(resources.map(({ name, kind }) => [name, kind.kind]))
  return resources.map((resource) => {
    const { name, namespaced, kind, verbs, options } = resource
    const schema = isTextual(resource) ? 'string' : schemas.add(resource.body)
    return {
      name,
      namespaced,
      kind,
      verbs,
      parentKind: kinds.get(name.split('/')[0] as string) ?? kind.kind,
      schema,
      listSchema: resource.list === undefined ? schema : schemas.add(resource.list),
      deleteReturnsObject: resource.deleteReturnsObject ?? false,
      patchTypes: patchTypes(resource.strategicMerge ?? true),
      ...(resource.custom ? { custom: true } : {}),
      ...(options === undefined ? {} : { options: { parameters: parametersFrom(options), connect: resource.connect ?? false } }),
    }
  })
}

/** Names of the schemas that many group versions share. */
export function metaNames(source: TypeSource): MetaNames {
  const deleteOptions = source.struct(metaTypes.deleteOptions)
  const absent = new Set(youngerDeleteOptions.filter((name) => !deleteOptions.field.has(name)))
  return {
    ...mapValues(metaTypes, (type) => source.struct(type).openapiName),
    hasParameter: (name) => !absent.has(name),
  }
}

/** Delete options that earlier releases lack. */
const youngerDeleteOptions: readonly string[] = ['ignoreStoreReadErrorWithClusterBreakingPotential']

/** Collects the shared schemas that the operations refer to. */
export function collectMeta(source: TypeSource, operations: readonly Operation[], schemas: SchemaCollector): void {
  const named = new Set(operations.flatMap(({ responses, body }) => [...responses.map(({ schema }) => schema), body?.schema]))
  for (const type of Object.values(metaTypes)) {
    const struct = source.struct(type)
    if (named.has(struct.openapiName)) schemas.add(struct)
  }
}

const metaTypes = {
  status: 'meta/v1.Status',
  deleteOptions: 'meta/v1.DeleteOptions',
  patch: 'meta/v1.Patch',
  watchEvent: 'meta/v1.WatchEvent',
  resourceList: 'meta/v1.APIResourceList',
} as const satisfies Record<Exclude<keyof MetaNames, 'hasParameter'>, string>

function mapValues<K extends string, V, R>(record: Readonly<Record<K, V>>, change: (value: V) => R): Record<K, R> {
  return Object.fromEntries(Object.entries<V>(record).map(([key, value]) => [key, change(value)])) as Record<K, R>
}

function isTextual(resource: PublishedResource): boolean {
  return resource.options !== undefined
}

function patchTypes(strategicMerge: boolean): string[] {
  return [
    'application/json-patch+json',
    'application/merge-patch+json',
    ...(strategicMerge ? ['application/strategic-merge-patch+json'] : []),
    'application/apply-patch+yaml',
  ]
}

/** Query parameters of an options type: one per scalar or list of scalars. */
function parametersFrom(options: StructType): Parameter[] {
  return options.fields
    .filter((field) => field.json !== 'kind' && field.json !== 'apiVersion' && scalarOf(field.type) !== undefined)
    .map((field) => queryParameter(options, field))
}

function queryParameter(options: StructType, field: Field): Parameter {
  return {
    name: field.json,
    in: 'query',
    type: parameterType(field.type),
    description: describeField(options, field),
    shared: `${field.json}Of${options.typeName}`,
  }
}

function parameterType(node: TypeNode): Parameter['type'] {
  const scalar = scalarOf(node)
  if (scalar === 'bool') return 'boolean'
  return scalar === 'int32' || scalar === 'int64' ? 'integer' : 'string'
}

function scalarOf(node: TypeNode): Scalar | undefined {
  if (node.kind === 'list') return scalarOf(node.of)
  return node.kind === 'scalar' ? node.scalar : undefined
}

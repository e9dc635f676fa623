import { type Cell, type Column, type Printer, printerOf, type ResourceDefinition } from '@krmkit/kinds'
import { ApiError, field, type NamingProfile, Path, stockProfile } from '@krmkit/meta'
import type { FrozenObject } from '@krmkit/registry'
import { normalize, type StructType } from '@krmkit/schema'
import { metaGroup, type Transform } from '../media/negotiation.ts'
import { type Query, text } from '../request/query.ts'

/**
 * Transforms of objects: Tables for display, metadata for caches.
 *
 * @see API protocol specification, 2.5 and 4.4
 */

export type IncludeObject = 'None' | 'Metadata' | 'Object'

/** @throws ApiError 400 for an unknown value. */
export function includeObject(query: Query): IncludeObject {
  const value = text(query, 'includeObject') ?? ''
  if (value === '' || value === 'Metadata') return 'Metadata'
  if (value === 'None' || value === 'Object') return value
  const problem = field.invalid(Path.of('includeObject'), value, "must be 'Metadata', 'Object', 'None', or empty")
  throw ApiError.badRequest(`Unable to convert to Table as requested: ${problem.field}: ${problem.message}`)
}

/** Version and naming profile of the transform. */
export interface MetaForm {
  readonly version: Transform['version']
  /** Default: the names of Kubernetes. */
  readonly profile?: NamingProfile
  /** Annotations that are omitted from metadata. @see {@link Strategy.fieldAnnotations} */
  readonly withoutAnnotations?: readonly string[] | undefined
  /** Type of the metadata of custom resources, which gives the order of its members. */
  readonly objectMeta?: StructType | undefined
}

/** The MetaForm for a resource and a transform. */
export function metaForm(
  { strategy, kind }: Pick<ResourceDefinition, 'strategy' | 'kind'>,
  version: Transform['version'],
  profile: NamingProfile,
) {
  const { custom } = kind.type()
  return { version, profile, withoutAnnotations: strategy.fieldAnnotations?.(profile), objectMeta: custom?.objectMeta }
}

export interface TableOptions extends MetaForm {
  readonly include: IncludeObject
  readonly now: number
  /** Whether column definitions are null: a watch sends them only with its first event. */
  readonly headless?: boolean
}

export interface ListMetadata {
  readonly resourceVersion?: string
  readonly continue?: string
  readonly remainingItemCount?: number
}

export function tableOf(
  printer: Printer,
  objects: readonly FrozenObject[],
  metadata: ListMetadata,
  { headless = false, ...form }: TableOptions,
): object {
  return {
    kind: 'Table',
    apiVersion: apiVersionOfMeta(form),
    metadata: withoutEnd(metadata),
    columnDefinitions: headless ? null : printer.columns.map(columnDefinition),
    rows: objects.map((object) => tableRow(printer, object, form)),
  }
}

/** Tables omit the continue token at the end of a list, where other forms have an empty token, as on kube-apiserver. */
function withoutEnd(metadata: ListMetadata): ListMetadata {
  const { continue: token, ...rest } = metadata
  return token === '' ? rest : metadata
}

function columnDefinition({ name, type, format, description, priority }: Column): object {
  return { name, type, format: format ?? '', description, priority }
}

export function tableRow(
  printer: Printer,
  object: FrozenObject,
  { include, now, ...form }: Omit<TableOptions, 'headless'>,
): object {
  const cells: readonly Cell[] = printer.cells(object, { now, profile: form.profile ?? stockProfile })
  const conditions = printer.conditions?.(object) ?? []
  const included = include === 'Object' ? object : include === 'Metadata' ? partialOf(object, form) : null
  return { cells, ...(conditions.length === 0 ? {} : { conditions }), object: included }
}

export interface PartialObject {
  readonly kind: 'PartialObjectMetadata'
  readonly apiVersion: string
  readonly metadata: FrozenObject['metadata']
}

/** Type and metadata of an object. */
export function partialOf(object: FrozenObject, form: MetaForm): PartialObject {
  return { kind: 'PartialObjectMetadata', apiVersion: apiVersionOfMeta(form), metadata: shownMetadata(object, form) }
}

function shownMetadata(object: FrozenObject, { withoutAnnotations = [], objectMeta }: MetaForm): FrozenObject['metadata'] {
  const metadata = objectMeta === undefined ? object.metadata : normalize(objectMeta, object.metadata)
  const { annotations, ...rest } = metadata
  if (annotations === undefined || !withoutAnnotations.some((name) => Object.hasOwn(annotations, name))) return metadata
  const kept = Object.entries(annotations).filter(([name]) => !withoutAnnotations.includes(name))
  if (kept.length === 0) return rest
  // Members keep their order.
  return Object.fromEntries(
    Object.entries(metadata).map(([key, value]) => [key, key === 'annotations' ? Object.fromEntries(kept) : value]),
  ) as unknown as FrozenObject['metadata']
}

export function partialListOf(objects: readonly FrozenObject[], metadata: ListMetadata, form: MetaForm): object {
  return {
    kind: 'PartialObjectMetadataList',
    apiVersion: apiVersionOfMeta(form),
    metadata,
    items: objects.map((object) => partialOf(object, form)),
  }
}

/** The type of metadata lists. It depends on the version, because the field numbers of the v1beta1 list differ. */
export function partialListType({ version }: Pick<Transform, 'version'>): string {
  return `meta/${version}.PartialObjectMetadataList`
}

function apiVersionOfMeta({ version, profile = stockProfile }: MetaForm): string {
  return `${metaGroup(profile)}/${version}`
}

/** The printer of the resource, or of the kind that a subresource returns; `undefined` for kinds without one. */
export async function printerOfObject(
  definition: ResourceDefinition,
  object: { readonly kind?: string; readonly apiVersion?: string },
): Promise<Printer | undefined> {
  if (object.kind === definition.kind.kind) return printerOf(definition)
  const [group = ''] = (object.apiVersion ?? '').split('/')
  if (object.kind === 'Scale' && definition.strategy.scale?.printer !== undefined) return definition.strategy.scale.printer
  const { printers } = await import('@krmkit/kinds/printers')
  return printers[`${group}/${object.kind}`]
}

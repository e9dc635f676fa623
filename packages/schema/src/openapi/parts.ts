import type { Work } from '@krmkit/base/work'
import { type GroupVersionKind, type JsonObject, type NamingProfile, setMember } from '@krmkit/meta'
import type { StructType, TypeSource } from '../interfaces.ts'
import type { Dialect } from './dialect.ts'
import { type Operation, operationsOf } from './operations.ts'
import { collectMeta, metaNames, type PublishedGroupVersion, targetsOf } from './resources.ts'
import { type PartEntry, type PublishedSchema, SchemaCollector, type SchemaEntry } from './schemas.ts'
import { sharedParameters, v2PathItem } from './v2.ts'
import { byPath, v3PathItem } from './v3.ts'

/**
 * Documents in parts: one per path and per schema, each built on demand. Building a large document can pause, and parts that
 * two documents share are built once.
 */

export interface DocumentParts {
  readonly paths: readonly PartEntry[]
  readonly schemas: readonly SchemaEntry[]
  /** Parameters that operations refer to; version 2 only. */
  readonly parameters: readonly PartEntry[]
}

/** Operations outside of group versions, with their schemas. */
export interface ExtraOperations {
  readonly operations: readonly Operation[]
  readonly schemas: readonly PublishedSchema[]
}

export interface PartsOptions {
  readonly dialect: Dialect
  /** Kinds of root types. @see {@link createKindLookup} */
  readonly kindsOf: (type: StructType) => readonly GroupVersionKind[]
  /** Whether schemas of types list the values of enums. Default true. */
  readonly enums?: boolean
}

export interface GroupVersionOptions extends PartsOptions {
  readonly source: TypeSource
  readonly profile?: NamingProfile
  /** Whether built-in objects have a CBOR form. Default false. */
  readonly cbor?: boolean
}

/**
 * Collects the parts of the document of a group version; pausable.
 *
 * @example
 * import { builtInTypes } from '@krmkit/kinds'
 * import { runAtOnce } from '@krmkit/base/work'
 * import { createKindLookup, groupVersionParts } from '@krmkit/schema/openapi'
 * const source = builtInTypes()
 * const core = { group: '', version: 'v1', resources: [] }
 * const parts = runAtOnce(groupVersionParts(core, { source, kindsOf: createKindLookup(source), dialect: 'v3' }))
 * parts.paths.map(({ name }) => name) // [ '/api/v1/' ]
 */
export function* groupVersionParts(published: PublishedGroupVersion, options: GroupVersionOptions): Work<DocumentParts> {
  const { profile, cbor } = options
  const schemas = new SchemaCollector(options.dialect, options)
  const targets = targetsOf(published.resources, schemas)
  yield true
  const operations = operationsOf(published, targets, { meta: metaNames(options.source), profile, cbor })
  collectMeta(options.source, operations, schemas)
  yield true
  yield* schemas.followReferences()
  return partsOf(operations, schemas, options.dialect)
}

/**
 * As `groupVersionParts`, for given operations.
 *
 * @see {@link groupVersionParts}
 */
export function* operationParts(extra: ExtraOperations, options: PartsOptions): Work<DocumentParts> {
  const schemas = new SchemaCollector(options.dialect, options)
  for (const schema of extra.schemas) schemas.add(schema)
  yield* schemas.followReferences()
  return partsOf(extra.operations, schemas, options.dialect)
}

function partsOf(operations: readonly Operation[], schemas: SchemaCollector, dialect: Dialect): DocumentParts {
  const pathItem = dialect === 'v2' ? v2PathItem : v3PathItem
  return {
    paths: byPath(operations).map(([name, found]) => ({ name, build: () => pathItem(found) })),
    schemas: schemas.entries(),
    parameters: dialect === 'v2' ? sharedParameters(operations) : [],
  }
}

/** Builds the members, sorted by name; of members with the same name the first is used. */
export function buildMembers(entries: readonly PartEntry[]): JsonObject {
  const byName = new Map<string, PartEntry>()
  for (const entry of entries) if (!byName.has(entry.name)) byName.set(entry.name, entry)
  const object: JsonObject = {}
  for (const name of [...byName.keys()].sort()) setMember(object, name, (byName.get(name) as PartEntry).build())
  return object
}

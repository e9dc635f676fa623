import type { GroupVersionKind, JsonObject, NamingProfile } from '@krmkit/meta'
import type { StructType, TypeSource } from '../interfaces.ts'
import type { Dialect } from './dialect.ts'
import { type Operation, operationsOf } from './operations.ts'
import { collectMeta, metaNames, type PublishedGroupVersion, targetsOf } from './resources.ts'
import { type PublishedSchema, SchemaCollector, type SchemaEntry } from './schemas.ts'
import { define } from './type-schema.ts'
import { sharedParameters, v2PathItem } from './v2.ts'
import { byPath, v3PathItem } from './v3.ts'

/**
 * Documents in pieces: one for each path and for each schema, made one by one by whoever wants them. So a long document does not hold
 * up a server, and what two documents share is made once.
 */

/** A named member of a document that is not made yet. */
export interface PartEntry {
  readonly name: string
  make(): JsonObject
}

export interface DocumentParts {
  readonly paths: readonly PartEntry[]
  readonly schemas: readonly SchemaEntry[]
  /** Parameters that operations refer to; version 2 only. */
  readonly parameters: readonly PartEntry[]
}

/** Operations that belong to no group version, with the schemas they name. */
export interface ExtraOperations {
  readonly operations: readonly Operation[]
  readonly schemas: readonly PublishedSchema[]
}

export interface PartsOptions {
  readonly dialect: Dialect
  /** Kinds of root types; see `kindsFrom`. */
  readonly kindsOf: (type: StructType) => readonly GroupVersionKind[]
}

/** What the document of a group version consists of. Each step is short. */
export function* groupVersionParts(
  published: PublishedGroupVersion,
  options: PartsOptions & { readonly source: TypeSource; readonly profile?: NamingProfile },
): Generator<void, DocumentParts> {
  const schemas = new SchemaCollector(options.dialect, options.kindsOf)
  const targets = targetsOf(published.resources, schemas)
  yield
  const operations = operationsOf(published, targets, { meta: metaNames(options.source), profile: options.profile })
  collectMeta(options.source, operations, schemas)
  yield
  yield* schemas.steps()
  return partsOf(operations, schemas, options.dialect)
}

/** The same for given operations. */
export function* operationParts(extra: ExtraOperations, options: PartsOptions): Generator<void, DocumentParts> {
  const schemas = new SchemaCollector(options.dialect, options.kindsOf)
  for (const schema of extra.schemas) schemas.add(schema)
  yield* schemas.steps()
  return partsOf(extra.operations, schemas, options.dialect)
}

function partsOf(operations: readonly Operation[], schemas: SchemaCollector, dialect: Dialect): DocumentParts {
  const pathItem = dialect === 'v2' ? v2PathItem : v3PathItem
  return {
    paths: byPath(operations).map(([name, found]) => ({ name, make: () => pathItem(found) })),
    schemas: schemas.entries(),
    parameters: dialect === 'v2' ? sharedParameters(operations) : [],
  }
}

/** Takes all steps at once. */
export function finished<R>(steps: Generator<void, R>): R {
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
  }
}

/** Members by name, sorted; of those with one name the first. */
export function made(entries: readonly PartEntry[]): JsonObject {
  const byName = new Map<string, PartEntry>()
  for (const entry of entries) if (!byName.has(entry.name)) byName.set(entry.name, entry)
  const object: JsonObject = {}
  for (const name of [...byName.keys()].sort()) define(object, name, (byName.get(name) as PartEntry).make())
  return object
}

import type { Work } from '@krmkit/base/work'
import type { GroupVersion, GroupVersionKind, JsonObject } from '@krmkit/meta'
import type { SpecialNode, StructType, TypeNode, TypeSource } from '../interfaces.ts'
import type { FactsSource } from '../model/type-source.ts'
import type { Dialect } from './dialect.ts'
import { specialDefinition, specialSchema } from './special.ts'
import { typeSchema } from './type-schema.ts'

/** A schema to publish: a structural type, or a literal schema such as that of a custom resource. */
export type PublishedSchema = StructType | LiteralSchema

/** A schema given as JSON. */
export interface LiteralSchema {
  /** Name of the definition. */
  readonly name: string
  readonly of: (dialect: Dialect) => JsonObject
  /** The pausable form, for schemas that may be large. */
  readonly paced?: { readonly of: (dialect: Dialect) => Work<JsonObject> }
  /** Types that the schema refers to. */
  readonly uses: readonly StructType[]
}

/** A named member of a document, built on demand. */
export interface PartEntry {
  readonly name: string
  build(): JsonObject
  /** The pausable form, for members that may be large. */
  readonly paced?: { build(): Work<JsonObject> }
}

/** A definition, built on demand. */
export interface SchemaEntry extends PartEntry {
  /** Identity of the definition: entries with the same source are equal in every document of a server. */
  readonly source: object
}

export interface CollectorOptions {
  readonly kindsOf: (type: StructType) => readonly GroupVersionKind[]
  /** Whether schemas of types list the values of enums. Default true. */
  readonly enums?: boolean
}

/** Collects definitions and everything they refer to, each once. */
export class SchemaCollector {
  readonly #dialect: Dialect
  readonly #options: CollectorOptions
  readonly #found = new Map<string, SchemaEntry>()
  readonly #pending: StructType[] = []

  constructor(dialect: Dialect, options: CollectorOptions) {
    this.#dialect = dialect
    this.#options = options
  }

  /** @returns the name of the definition. `followReferences` adds what it refers to. */
  add(schema: PublishedSchema): string {
    if ('fields' in schema) {
      this.#addType(schema)
      return schema.openapiName
    }
    if (!this.#found.has(schema.name)) {
      const { name, paced } = schema
      const build = () => schema.of(this.#dialect)
      this.#found.set(name, {
        name,
        source: schema,
        build,
        ...(paced === undefined ? {} : { paced: { build: () => paced.of(this.#dialect) } }),
      })
      for (const type of schema.uses) this.#addType(type)
    }
    return schema.name
  }

  /** Adds all referenced types, recursively. */
  *followReferences(): Work {
    for (let type = this.#pending.pop(); type !== undefined; type = this.#pending.pop()) {
      for (const field of type.fields) this.#follow(field.type)
      yield
    }
  }

  /** Definitions sorted by name. Complete after `followReferences`. */
  entries(): SchemaEntry[] {
    return [...this.#found.values()].sort((a, b) => compare(a.name, b.name))
  }

  #addType(type: StructType): void {
    if (this.#found.has(type.openapiName)) return
    const make = () => typeSchema(type, this.#dialect, this.#options)
    this.#found.set(type.openapiName, { name: type.openapiName, source: type, build: make })
    this.#pending.push(type)
  }

  #follow(start: TypeNode): void {
    let node = start
    while (node.kind === 'list' || node.kind === 'map') node = node.of
    if (node.kind === 'struct') this.#addType(node.struct())
    else if (node.kind === 'special') this.#addSpecial(node)
  }

  #addSpecial({ special }: SpecialNode): void {
    const source = specialDefinition(special)
    if (this.#found.has(source.name)) return
    this.#found.set(source.name, { name: source.name, source, build: () => specialSchema(special, this.#dialect) })
  }
}

/** Kinds of every group version: request options and watch events. */
const everyVersionKinds: readonly string[] = [
  'CreateOptions',
  'DeleteOptions',
  'GetOptions',
  'ListOptions',
  'PatchOptions',
  'UpdateOptions',
  'WatchEvent',
]

/** Kinds of `v1` only, regardless of the group they describe. */
const unversionedKinds: readonly string[] = ['APIGroup', 'APIGroupList', 'APIResourceList', 'APIVersions', 'Status']

/**
 * Creates a function that returns the `x-kubernetes-group-version-kind` values of a type. Request options and watch events belong
 * to every known group version, served or not; Status belongs to `v1` only.
 *
 * @param known group versions in addition to those of `source`.
 * @example
 * import { builtInTypes } from '@krmkit/kinds'
 * import { createKindLookup } from '@krmkit/schema/openapi'
 * const source = builtInTypes()
 * const kindsOf = createKindLookup(source)
 * kindsOf(source.struct('core/v1.Pod')) // [ { group: '', version: 'v1', kind: 'Pod' } ]
 */
export function createKindLookup(
  source: TypeSource,
  known: readonly GroupVersion[] = [],
): (type: StructType) => readonly GroupVersionKind[] {
  let all: readonly GroupVersion[] | undefined
  return (type) => {
    const kind = type.typeName
    const own = [{ group: type.group, version: type.version, kind }]
    if (!type.name.startsWith('meta/')) return type.root ? own : []
    if (unversionedKinds.includes(kind)) return [{ group: '', version: 'v1', kind }]
    if (!everyVersionKinds.includes(kind)) return type.root ? own : []
    all ??= groupVersionsOf(source, known)
    return all.map(({ group, version }) => ({ group, version, kind }))
  }
}

/** Groups whose kinds are not part of the common scheme. */
const nonSchemeGroups: readonly string[] = ['meta', 'apidiscovery']

function groupVersionsOf(source: TypeSource, known: readonly GroupVersion[]): GroupVersion[] {
  const found = new Map<string, GroupVersion>()
  for (const each of [...factsOf(source), ...known]) found.set(`${each.group}/${each.version}`, each)
  return [...found.values()].sort((a, b) => compare(a.group, b.group) || compare(a.version, b.version))
}

/** Group versions of a source that can list them. */
function factsOf(source: TypeSource): GroupVersion[] {
  if (!('folders' in source)) return []
  const { folders, group: read } = source as FactsSource
  return folders
    .filter((folder) => !nonSchemeGroups.includes(folder))
    .flatMap((folder) => {
      const { group, versions } = read(folder)
      return versions.map((version) => ({ group, version }))
    })
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

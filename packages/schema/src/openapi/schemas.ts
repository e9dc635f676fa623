import type { GroupVersionKind, JsonObject } from '@krmkit/meta'
import type { SpecialNode, StructType, TypeNode } from '../interfaces.ts'
import type { FactsSource } from '../model/type-source.ts'
import type { Dialect } from './dialect.ts'
import { specialName, specialSchema } from './special.ts'
import { define, typeSchema } from './type-schema.ts'

/** A schema to publish: a structural type, or one that is written already, as that of a custom resource. */
export type PublishedSchema = StructType | WrittenSchema

export interface WrittenSchema {
  /** Name of the definition. */
  readonly name: string
  readonly of: (dialect: Dialect) => JsonObject
  /** Types that it refers to. */
  readonly uses: readonly StructType[]
}

/** Collects definitions with everything they refer to, each once. */
export class SchemaCollector {
  readonly #dialect: Dialect
  readonly #kindsOf: (type: StructType) => readonly GroupVersionKind[]
  readonly #found = new Map<string, JsonObject>()

  constructor(dialect: Dialect, kindsOf: (type: StructType) => readonly GroupVersionKind[]) {
    this.#dialect = dialect
    this.#kindsOf = kindsOf
  }

  /** @returns the name of its definition. */
  add(schema: PublishedSchema): string {
    const pending: StructType[] = []
    const name = 'fields' in schema ? schema.openapiName : this.#addWritten(schema)
    if ('fields' in schema) pending.push(schema)
    else pending.push(...schema.uses)
    for (let type = pending.pop(); type !== undefined; type = pending.pop()) this.#addType(type, pending)
    return name
  }

  /** By name, sorted. */
  all(): JsonObject {
    const sorted: JsonObject = {}
    for (const name of [...this.#found.keys()].sort()) define(sorted, name, this.#found.get(name) as JsonObject)
    return sorted
  }

  #addWritten(schema: WrittenSchema): string {
    if (!this.#found.has(schema.name)) this.#found.set(schema.name, schema.of(this.#dialect))
    return schema.name
  }

  #addType(type: StructType, pending: StructType[]): void {
    if (this.#found.has(type.openapiName)) return
    this.#found.set(type.openapiName, typeSchema(type, this.#dialect, { kindsOf: this.#kindsOf }))
    for (const field of type.fields) this.#follow(field.type, pending)
  }

  #follow(start: TypeNode, pending: StructType[]): void {
    let node = start
    while (node.kind === 'list' || node.kind === 'map') node = node.of
    if (node.kind === 'struct') pending.push(node.struct())
    else if (node.kind === 'special') this.#addSpecial(node)
  }

  #addSpecial(node: SpecialNode): void {
    const name = specialName(node)
    if (!this.#found.has(name)) this.#found.set(name, specialSchema(node.special, this.#dialect))
  }
}

/**
 * What `x-kubernetes-group-version-kind` says of a root type. Options and watch events are kinds of every group version that the
 * facts know, served or not; a Status is a kind of `v1` alone.
 */
export function kindsFrom(source: FactsSource): (type: StructType) => readonly GroupVersionKind[] {
  let everywhere: readonly { readonly group: string; readonly version: string }[] | undefined
  return (type) => {
    const kind = type.typeName
    if (!type.name.startsWith('meta/')) return type.root ? [{ group: type.group, version: type.version, kind }] : []
    const facts = source.group('meta').versions[type.version]?.kinds[kind]
    if (facts === undefined) return []
    if (facts.registeredAs === 'v1') return [{ group: '', version: 'v1', kind }]
    if (facts.registeredAs !== '*/*') return [{ group: type.group, version: type.version, kind }]
    everywhere ??= groupVersionsOf(source)
    return everywhere.map((at) => ({ ...at, kind }))
  }
}

/** Groups whose kinds are parameters of the protocol rather than members of the common scheme. */
const apart: readonly string[] = ['meta', 'apidiscovery']

function groupVersionsOf(source: FactsSource): { group: string; version: string }[] {
  const found: { group: string; version: string }[] = []
  for (const folder of source.folders) {
    if (apart.includes(folder)) continue
    const { group, versions } = source.group(folder)
    for (const version of Object.keys(versions)) found.push({ group, version })
  }
  return found.sort((a, b) => compare(a.group, b.group) || compare(a.version, b.version))
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

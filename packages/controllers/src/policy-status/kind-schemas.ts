import type { ServedType } from '@krmkit/admission/policies'
import type { Client } from '@krmkit/client'
import { isJsonObject, type JsonObject } from '@krmkit/meta'

/** Reads the schemas of kinds from the OpenAPI documents of the server. */

/** Maximum number of nodes of a schema; larger schemas are ignored. */
const maxNodes = 500_000

/** Fetches each OpenAPI document once. */
export class KindSchemas {
  readonly #client: Client
  readonly #signal: AbortSignal
  readonly #documents = new Map<string, Promise<Definitions | undefined>>()

  constructor(client: Client, signal: AbortSignal) {
    this.#client = client
    this.#signal = signal
  }

  /** Returns the schema of a kind with references expanded, if it exists. */
  async schemaOf({ group, version, kind }: ServedType): Promise<JsonObject | undefined> {
    const path = group === '' ? `api/${version}` : `apis/${group}/${version}`
    let document = this.#documents.get(path)
    if (document === undefined) {
      document = this.#fetch(path)
      this.#documents.set(path, document)
    }
    const definitions = await document
    if (definitions === undefined) return undefined
    const found = Object.values(definitions).find((schema) => isOfKind(schema, { group, version, kind }))
    if (found === undefined) return undefined
    const expander = new Expander(definitions)
    const schema = expander.expand(found, [])
    return expander.nodes > maxNodes ? undefined : schema
  }

  async #fetch(path: string): Promise<Definitions | undefined> {
    const escaped = path.split('/').map(encodeURIComponent).join('/')
    const response = await this.#client.request({ path: `/openapi/v3/${escaped}`, signal: this.#signal })
    const text = await response.text()
    if (response.status !== 200) return undefined
    const document = JSON.parse(text) as { readonly components?: { readonly schemas?: Definitions } }
    return document.components?.schemas
  }
}

type Definitions = Readonly<Record<string, JsonObject>>

function isOfKind(schema: JsonObject, { group, version, kind }: ServedType): boolean {
  const names = schema['x-kubernetes-group-version-kind']
  return Array.isArray(names) && names.some((name) => isJsonObject(name) && isNamed(name, { group, version, kind }))
}

function isNamed(name: JsonObject, { group, version, kind }: ServedType): boolean {
  return (name.group ?? '') === group && name.version === version && name.kind === kind
}

class Expander {
  readonly #definitions: Definitions
  nodes = 0

  constructor(definitions: Definitions) {
    this.#definitions = definitions
  }

  /** @param inside names of the enclosing schemas; a reference to one of them becomes an object without properties */
  expand(schema: JsonObject, inside: readonly string[]): JsonObject {
    if (++this.nodes > maxNodes) return {}
    const name = referenceOf(schema)
    if (name !== undefined) {
      const named = Object.hasOwn(this.#definitions, name) ? this.#definitions[name] : undefined
      return named === undefined || inside.includes(name) ? { type: 'object' } : this.expand(named, [...inside, name])
    }
    const { properties, items, additionalProperties, ...rest } = schema
    return {
      ...rest,
      ...(isJsonObject(properties) ? { properties: this.#properties(properties, inside) } : {}),
      ...(isJsonObject(items) ? { items: this.expand(items, inside) } : {}),
      ...(isJsonObject(additionalProperties) ? { additionalProperties: this.expand(additionalProperties, inside) } : {}),
      ...(isTextOrNumber(schema) ? { 'x-kubernetes-int-or-string': true } : {}),
    }
  }

  #properties(properties: JsonObject, inside: readonly string[]): JsonObject {
    const entries = Object.entries(properties).filter((entry): entry is [string, JsonObject] => isJsonObject(entry[1]))
    return Object.fromEntries(entries.map(([key, property]) => [key, this.expand(property, inside)]))
  }
}

/** Returns the name of a reference, which may be wrapped in `allOf` next to a description or default. */
function referenceOf({ $ref, allOf }: JsonObject): string | undefined {
  if (typeof $ref === 'string') return $ref.slice($ref.lastIndexOf('/') + 1)
  const [only, ...more] = Array.isArray(allOf) ? allOf : []
  return isJsonObject(only) && more.length === 0 && typeof only.$ref === 'string' ? referenceOf(only) : undefined
}

function isTextOrNumber({ type, format, oneOf }: JsonObject): boolean {
  return format === 'int-or-string' || (type === undefined && Array.isArray(oneOf))
}

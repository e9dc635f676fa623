import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isJsonObject, type JsonObject, type JsonValue } from '@krmkit/meta'

/**
 * JSON schemas of the built-in kinds as validators by JSON schema use them: one complete file for each kind, made from the OpenAPI document of
 * a server with the usual changes. Unknown members are errors, optional members may be null, quantities may be numbers, and
 * `int-or-string` is either.
 */

interface OpenApi {
  readonly definitions: Readonly<Record<string, JsonObject>>
}

interface KindName {
  readonly group: string
  readonly version: string
  readonly kind: string
}

/** Writes the schemas as `deployment-apps-v1.json` and `pod-v1.json`. */
export function writeSchemas(document: OpenApi, folder: string): void {
  mkdirSync(folder, { recursive: true })
  for (const [name, definition] of Object.entries(document.definitions)) {
    const kinds = (definition['x-kubernetes-group-version-kind'] ?? []) as unknown as readonly KindName[]
    if (kinds.length !== 1) continue
    const { group, version, kind } = kinds[0]!
    const definitions = Object.fromEntries(
      [...closureOf(name, document)].map((each) => [each, convert(each, document.definitions[each]!)]),
    )
    const suffix = group === '' ? version : `${group.split('.')[0]}-${version}`
    const schema = { $ref: `#/definitions/${name}`, definitions }
    writeFileSync(join(folder, `${kind.toLowerCase()}-${suffix}.json`), JSON.stringify(schema))
  }
}

/** A definition and all that it refers to. */
function closureOf(name: string, { definitions }: OpenApi, found = new Set<string>()): Set<string> {
  if (found.has(name)) return found
  found.add(name)
  for (const [, target = ''] of JSON.stringify(definitions[name]).matchAll(/"#\/definitions\/([^"]+)"/g))
    closureOf(target, { definitions }, found)
  return found
}

const quantity = 'io.k8s.apimachinery.pkg.api.resource.Quantity'

function convert(name: string, definition: JsonObject): JsonObject {
  if (name === quantity) return { oneOf: [{ type: 'string' }, { type: 'number' }] }
  return converted(definition, true)
}

function converted(schema: JsonObject, isRequired: boolean): JsonObject {
  const { $ref, type, format, properties, additionalProperties, items, required = [] } = schema
  if ($ref !== undefined) return isRequired ? schema : { oneOf: [{ $ref }, { type: 'null' }] }
  if (format === 'int-or-string') return { oneOf: [{ type: 'string' }, { type: 'integer' }] }
  const result: Record<string, JsonValue> = { ...schema }
  if (isJsonObject(properties)) {
    const needed = new Set(required as string[])
    result.properties = Object.fromEntries(
      Object.entries(properties).map(([key, value]) => [key, converted(value as JsonObject, needed.has(key))]),
    )
    result.additionalProperties ??= false
  }
  if (isJsonObject(additionalProperties)) result.additionalProperties = converted(additionalProperties, true)
  if (isJsonObject(items)) result.items = converted(items, true)
  if (typeof type === 'string' && !isRequired) result.type = [type, 'null']
  return result
}

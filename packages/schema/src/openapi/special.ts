import type { JsonObject } from '@krmkit/meta'
import type { SpecialName, SpecialNode } from '../interfaces.ts'
import type { Dialect } from './dialect.ts'

/** Definitions of the special types. */

const meta = 'io.k8s.apimachinery.pkg.apis.meta.v1'
const runtime = 'io.k8s.apimachinery.pkg.runtime'
const extensions = 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1'

interface SpecialDefinition {
  readonly name: string
  readonly text: string
  readonly v2: JsonObject
  readonly v3?: JsonObject
}

const table: Readonly<Record<SpecialName, SpecialDefinition>> = {
  Time: {
    name: `${meta}.Time`,
    text: 'Time in RFC 3339 form with second precision.',
    v2: { format: 'date-time', type: 'string' },
  },
  MicroTime: {
    name: `${meta}.MicroTime`,
    text: 'Time in RFC 3339 form with microsecond precision.',
    v2: { format: 'date-time', type: 'string' },
  },
  Duration: { name: `${meta}.Duration`, text: 'Duration such as 1h30m or 10s.', v2: { type: 'string' } },
  FieldsV1: {
    name: `${meta}.FieldsV1`,
    text: 'Field set as nested maps: f:<name>, k:<keys>, v:<value> and i:<index> are path elements, a dot is the item itself.',
    v2: { type: 'object' },
  },
  Quantity: quantity('io.k8s.apimachinery.pkg.api.resource.Quantity'),
  QuantityValue: quantity('io.k8s.apimachinery.pkg.api.resource.QuantityValue'),
  IntOrString: {
    name: 'io.k8s.apimachinery.pkg.util.intstr.IntOrString',
    text: 'Integer or string.',
    v2: { format: 'int-or-string', type: 'string' },
    v3: { format: 'int-or-string', oneOf: [{ type: 'integer' }, { type: 'string' }] },
  },
  RawExtension: { name: `${runtime}.RawExtension`, text: 'Any object, preserved unchanged.', v2: { type: 'object' } },
  Timestamp: { name: `${meta}.Timestamp`, text: 'Time in RFC 3339 form.', v2: { format: 'date-time', type: 'string' } },
  JSON: { name: `${extensions}.JSON`, text: 'Any JSON value.', v2: {} },
  JSONSchemaPropsOrArray: { name: `${extensions}.JSONSchemaPropsOrArray`, text: 'A schema or a list of schemas.', v2: {} },
  JSONSchemaPropsOrBool: { name: `${extensions}.JSONSchemaPropsOrBool`, text: 'A schema or a boolean.', v2: {} },
  JSONSchemaPropsOrStringArray: {
    name: `${extensions}.JSONSchemaPropsOrStringArray`,
    text: 'A schema or a list of names.',
    v2: {},
  },
  GroupVersion: { name: `${meta}.GroupVersion`, text: 'An API group and its version, as group/version.', v2: { type: 'string' } },
  Unknown: { name: `${runtime}.Unknown`, text: 'Any encoded object.', v2: { type: 'object' } },
  RuntimeTypeMeta: { name: `${runtime}.TypeMeta`, text: 'The kind and version of an encoded object.', v2: { type: 'object' } },
}

function quantity(name: string): SpecialDefinition {
  return {
    name,
    text: 'A quantity: a number with an optional suffix, such as 500m, 2, 1.5 or 128Mi.',
    v2: { type: 'string' },
    v3: { oneOf: [{ type: 'string' }, { type: 'number' }] },
  }
}

/** The definition object of a type; the same object on each call. */
export function specialDefinition(special: SpecialName): { readonly name: string } {
  return table[special]
}

export function specialName(node: SpecialNode): string {
  return table[node.special].name
}

/** One sentence about the format of values. */
export function specialText(special: SpecialName): string {
  return table[special].text
}

export function specialSchema(special: SpecialName, dialect: Dialect): JsonObject {
  const { v2, v3, text } = table[special]
  return { description: text, ...structuredClone(dialect === 'v3' ? (v3 ?? v2) : v2) }
}

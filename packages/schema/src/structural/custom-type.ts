import type { GroupVersionKind, JsonObject } from '@krmkit/meta'
import type { DecodeOptions } from '../decode/decode.ts'
import type { CustomCodec, Decoded, PacedCustomCodec, StructType } from '../interfaces.ts'
import type { DecodedSize } from '../json/decoded-size.ts'
import { definitionName } from '../openapi/custom.ts'
import { createSchemaNode, type SchemaNode } from '../schema-node.ts'
import * as direct from './custom-codec.direct.ts'
import * as paced from './custom-codec.ts'
import { prunedDefaults } from './pruned-defaults.ts'

/**
 * Types of custom resources from their schemas. Decoding prunes unknown fields, keeps the text of values, and sorts members
 * by name.
 */

export interface CustomTypeOptions {
  readonly kind: GroupVersionKind
  /** `openAPIV3Schema` of the version. Default: any object. */
  readonly schema?: JsonObject | undefined
  /** `spec.preserveUnknownFields`: disables pruning. */
  readonly preserveUnknownFields?: boolean | undefined
  /** The type `meta/v1.ObjectMeta`. */
  readonly objectMeta: StructType
}

const noFields: StructType['field'] = new Map()

/**
 * Creates the type of one version of a custom kind.
 *
 * @example
 * import { builtInTypes } from '@krmkit/kinds'
 * import { createCustomType, decode } from '@krmkit/schema'
 * const widget = createCustomType({
 *   kind: { group: 'shop.example.com', version: 'v1', kind: 'Widget' },
 *   schema: { type: 'object', properties: { size: { type: 'integer' } } },
 *   objectMeta: builtInTypes().struct('meta/v1.ObjectMeta'),
 * })
 * decode(widget, { kind: 'Widget', colour: 'red', size: 2 }).problems // [ 'unknown field "colour"' ]
 */
export function createCustomType(options: CustomTypeOptions): StructType {
  const { kind } = options
  const schema = options.schema ?? { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
  return {
    name: `${kind.group}/${kind.version}.${kind.kind}`,
    typeName: kind.kind,
    packageName: kind.version,
    group: kind.group,
    version: kind.version,
    openapiName: definitionName(kind),
    root: true,
    fields: [],
    field: noFields,
    preserveUnknown: true,
    raw: schema,
    custom: new CustomResourceCodec(createSchemaNode(schema), options),
  }
}

class CustomResourceCodec implements CustomCodec {
  readonly schema: SchemaNode
  readonly objectMeta: StructType
  readonly preserveUnknownFields: boolean
  readonly paced: PacedCustomCodec = {
    decode: (value, options) => paced.decode(this, value, options),
    applyDefaults: (object, size) => paced.applyDefaults(this, object, size),
    normalize: (object) => paced.normalize(this, object),
    readStored: (object) => paced.readStored(this, object),
    dropUnknownFields: (value) => paced.dropUnknownFields(this, value),
  }

  constructor(node: SchemaNode, { objectMeta, preserveUnknownFields = false }: CustomTypeOptions) {
    this.schema = prunedDefaults(node, objectMeta)
    this.objectMeta = objectMeta
    this.preserveUnknownFields = preserveUnknownFields
  }

  decode(value: unknown, options?: DecodeOptions): Decoded<Record<string, unknown>> {
    return direct.decode(this, value, options)
  }

  applyDefaults(object: JsonObject, size?: DecodedSize): JsonObject {
    return direct.applyDefaults(this, object, size)
  }

  normalize(object: JsonObject): JsonObject {
    return direct.normalize(this, object)
  }

  readStored(object: JsonObject): JsonObject {
    return direct.readStored(this, object)
  }

  dropUnknownFields(value: JsonObject): JsonObject {
    return direct.dropUnknownFields(this, value)
  }
}

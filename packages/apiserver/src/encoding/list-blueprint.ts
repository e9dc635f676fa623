import { encodeJson, encodeProtobuf } from '@krmkit/schema'
import { bytesToBase64 } from '@krmkit/schema/decode'
import type { RequestScope } from '../request-scope.ts'
import { apiVersionOf } from './codec.ts'
import type { Representation } from './negotiation.ts'
import { partialListOf, partialListType } from './table.ts'

/**
 * The empty list of the negotiated form, in base64: clients that stream a list fill it with the streamed objects.
 *
 * @see Kubernetes API Concepts, "Streaming lists"
 */
export function listBlueprint({ definition, responses, profile }: RequestScope, { encoding, transform }: Representation): string {
  const { types } = responses
  const { group, version, listKind, type } = definition.kind
  if (transform !== undefined) {
    const list = partialListOf([], { resourceVersion: '' }, { version: transform.version, profile })
    const struct = () => types.struct(partialListType(transform))
    return bytesToBase64(encoding === 'json' ? encodeJson(list) : encodeProtobuf(struct(), list))
  }
  const list = { kind: listKind, apiVersion: apiVersionOf(group, version), metadata: {}, items: [] }
  if (encoding === 'json') return bytesToBase64(encodeJson(list))
  const folder = type().name.split('.')[0] ?? ''
  return bytesToBase64(encodeProtobuf(types.struct(`${folder}.${listKind}`), list))
}

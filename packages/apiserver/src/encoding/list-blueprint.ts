import { bytesToBase64, encodeJson, encodeProtobuf } from '@krmkit/schema'
import type { RequestScope } from '../request-scope.ts'
import { apiVersionOf } from './codec.ts'
import type { Representation } from './negotiation.ts'
import { partialListOf } from './table.ts'

/**
 * The list that belongs to a stream of its objects, empty, as a whole body of the negotiated form, in base64: clients who stream a
 * list put the objects into it.
 *
 * @see Kubernetes API Concepts, "Streaming lists"
 */
export function listBlueprint({ definition, responses, profile }: RequestScope, { encoding, transform }: Representation): string {
  const { types } = responses
  const { group, version, listKind, type } = definition.kind
  if (transform !== undefined) {
    const list = partialListOf([], { resourceVersion: '' }, { version: transform.version, profile })
    const struct = () => types.struct('meta/v1.PartialObjectMetadataList')
    return bytesToBase64(encoding === 'json' ? encodeJson(list) : encodeProtobuf(struct(), list))
  }
  const list = { kind: listKind, apiVersion: apiVersionOf(group, version), metadata: {}, items: [] }
  if (encoding === 'json') return bytesToBase64(encodeJson(list))
  const folder = type().name.split('.')[0] ?? ''
  return bytesToBase64(encodeProtobuf(types.struct(`${folder}.${listKind}`), list))
}

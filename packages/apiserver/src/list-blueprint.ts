import { bytesToBase64, encodeJson, encodeProtobuf } from '@krmkit/schema'
import type { Representation } from './negotiation.ts'
import type { ResourceRequest } from './resource-handler.ts'
import { partialListOf } from './table.ts'
import { apiVersionOf } from './version-codec.ts'

/**
 * The list that belongs to a stream of its objects, empty, as a whole body of the negotiated form, in base64: clients who stream a
 * list put the objects into it.
 *
 * @see Kubernetes API Concepts, "Streaming lists"
 */
export function listBlueprint({ definition, machinery }: ResourceRequest, { encoding, transform }: Representation): string {
  const { types } = machinery.responder
  const { group, version, listKind, type } = definition.kind
  const { profile } = machinery.writer.environment
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

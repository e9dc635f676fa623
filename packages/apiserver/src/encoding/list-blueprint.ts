import { encodeJson, encodeProtobuf, type StructType } from '@krmkit/schema'
import { bytesToBase64 } from '@krmkit/schema/decode'
import { apiVersionOf } from '../media/codec.ts'
import type { Representation } from '../media/negotiation.ts'
import type { RequestScope } from '../request/scope.ts'
import { partialListOf, partialListType } from './table.ts'

/**
 * The empty list in the negotiated form, in base64. Clients that stream a list fill this list with the streamed objects.
 *
 * @see Kubernetes API Concepts, "Streaming lists"
 */
export function listBlueprint({ definition, responses, profile }: RequestScope, { encoding, transform }: Representation): string {
  const { types } = responses
  const encoded = (list: object, struct: () => StructType) =>
    bytesToBase64(encoding === 'json' ? encodeJson(list, { newline: true }) : encodeProtobuf(struct(), list))
  const { group, version, listKind, type } = definition.kind
  const empty = { metadata: {}, items: null }
  if (transform !== undefined) {
    const list = partialListOf([], { resourceVersion: '' }, { version: transform.version, profile })
    return encoded({ ...list, ...empty }, () => types.struct(partialListType(transform)))
  }
  const folder = () => type().name.split('.')[0] ?? ''
  return encoded({ kind: listKind, apiVersion: apiVersionOf(group, version), ...empty }, () =>
    types.struct(`${folder()}.${listKind}`),
  )
}

import type { ApiObject, DeepReadonly } from '@krmkit/meta'
import { decodeProtobuf, encodeProtobuf, normalize, readEnvelope } from '@krmkit/schema'
import { requireKind, withDecodeErrors } from './decoded-kind.ts'
import type { KindHandle } from './kind-handle.ts'

/** The binary form of the objects of a kind, with its envelope: `application/vnd.kubernetes.protobuf`. */

/**
 * Encodes an object as protobuf.
 *
 * @throws SchemaError `NoProtobuf` for kinds without a protobuf form.
 * @example
 * import { ConfigMap } from '@krmkit/kinds/core/v1'
 * import { decodeKind, encodeKind } from '@krmkit/kinds/protobuf'
 * const bytes = encodeKind(ConfigMap, ConfigMap.create({ metadata: { name: 'a' }, data: { k: 'v' } }))
 * decodeKind(ConfigMap, bytes).data // { k: 'v' }
 */
export function encodeKind<T extends ApiObject>(handle: KindHandle<T>, object: DeepReadonly<T>): Uint8Array {
  return encodeProtobuf(handle.type(), normalize(handle.type(), object as object))
}

/**
 * Decodes protobuf. Fields that the type does not have are left out.
 *
 * @throws KindsError `InvalidObject` for malformed input and another kind.
 * @see {@link encodeKind}
 */
export function decodeKind<T extends ApiObject>(handle: KindHandle<T>, bytes: Uint8Array): T {
  const envelope = withDecodeErrors(() => readEnvelope(bytes))
  requireKind(envelope, handle)
  return withDecodeErrors(() => decodeProtobuf<T>(handle.type(), envelope)).object
}

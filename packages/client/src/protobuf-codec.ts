import { type GroupVersionKind, type NamingProfile, stockProfile } from '@krmkit/meta'
import type { StructType, TypeSource } from '@krmkit/schema'
import { type BodyCodec, jsonCodec, jsonMediaType } from './body-codec.ts'
import { ClientError } from './client-error.ts'
import type { ResourceType } from './interfaces.ts'
import { apiVersionOf } from './resource.ts'
import { contentTypeOf } from './response.ts'

/** Finds the types of kinds. `createCatalog()` of `@krmkit/kinds` is one. */
export interface KindTypes {
  readonly types: TypeSource
  /** Returns undefined for an unknown kind, and for kinds of lists. */
  kind(gvk: GroupVersionKind): { readonly type: () => StructType; readonly listKind: string } | undefined
}

export interface ProtobufCodecOptions {
  /** The kinds that are sent and requested as protobuf; all others are JSON. */
  readonly kinds: KindTypes
  /** Names used in the media type. Default: the names of Kubernetes. */
  readonly profile?: Pick<NamingProfile, 'vendor'>
}

/**
 * Creates a codec that requests protobuf with JSON as the second choice, and sends protobuf. Custom resources, and objects
 * that the types of the client do not describe completely, are sent as JSON. Loads the decoder on first use.
 *
 * @see API protocol specification, 2.6 and 4.4
 */
export function createProtobufCodec({ kinds, profile = stockProfile }: ProtobufCodecOptions): BodyCodec {
  const mediaType = `application/vnd.${profile.vendor}.protobuf`
  const isProtobuf = (contentType: string) => contentType.split(';')[0]?.trim().toLowerCase() === mediaType
  const bodies = () => import('./protobuf-bodies.ts')
  const typeOf = (gvk: GroupVersionKind): StructType | undefined => {
    const type = kinds.kind(gvk)?.type() ?? typeOfList(kinds, gvk)
    return type?.proto === undefined || type.custom !== undefined ? undefined : type
  }
  const typeOfResource = (resource: ResourceType) => typeOf({ ...groupVersionOf(apiVersionOf(resource)), kind: resource.kind })
  const typeOfEnvelope = ({ apiVersion, kind }: { readonly apiVersion: string; readonly kind: string }) => {
    const type = typeOf({ ...groupVersionOf(apiVersion), kind })
    if (type !== undefined) return type
    const message = `the response is protobuf of the unknown kind ${JSON.stringify(kind)} in ${JSON.stringify(apiVersion)}`
    throw new ClientError({ code: 'InvalidResponse', message })
  }
  return {
    accept(resource, form) {
      if (typeOfResource(resource) === undefined) return jsonMediaType
      return `${mediaType}${form === 'watch' ? ';stream=watch' : ''},${jsonMediaType}`
    },
    async encode(resource, object) {
      const type = typeOfResource(resource)
      const body = type === undefined ? undefined : (await bodies()).encodeBody(type, object)
      return body === undefined ? jsonCodec.encode(resource, object) : { contentType: mediaType, body }
    },
    async decode(bytes, contentType) {
      if (!isProtobuf(contentType)) return jsonCodec.decode(bytes, contentType)
      return (await bodies()).decodeBody(bytes, typeOfEnvelope)
    },
    async *events(response) {
      if (isProtobuf(contentTypeOf(response))) yield* (await bodies()).eventsIn(response.body, typeOfEnvelope)
      else yield* jsonCodec.events(response)
    },
  }
}

/**
 * Returns the type of a list, which is in the same package as the type of its items: `core/v1.PodList` and `core/v1.Pod`.
 */
function typeOfList(kinds: KindTypes, list: GroupVersionKind): StructType | undefined {
  const item = kinds.kind({ ...list, kind: list.kind.replace(/List$/, '') })
  if (item?.listKind !== list.kind) return undefined
  const { name, typeName } = item.type()
  return kinds.types.struct(`${name.slice(0, -typeName.length)}${list.kind}`)
}

function groupVersionOf(apiVersion: string): { readonly group: string; readonly version: string } {
  const slash = apiVersion.indexOf('/')
  return { group: slash < 0 ? '' : apiVersion.slice(0, slash), version: apiVersion.slice(slash + 1) }
}

import type { Authenticator } from '@krmkit/authentication'
import type { ServiceAccountIssuer } from '@krmkit/authentication/service-account'
import type { Authorizer } from '@krmkit/authorization'
import type { Turns } from '@krmkit/base/work'
import type { KindInfo, ResourceDefinition, ResourceInfo } from '@krmkit/kinds'
import type { Clock, Features, GroupVersionKind, NamingProfile, Random } from '@krmkit/meta'
import type { ApiResponse } from '@krmkit/protocol'
import type { Registry, ResourceStore } from '@krmkit/registry'
import type { Backends } from '../backends/backends.ts'
import { createVersionCodec, type VersionCodec } from '../media/codec.ts'
import type { ListChunkCache } from '../media/list-chunks.ts'
import type { Encoding, NegotiationOptions, Representation } from '../media/negotiation.ts'
import type { ResponseWriter } from '../media/response-writer.ts'
import type { YamlTranslator } from '../media/yaml-translator.ts'
import type { AbortCallbacks } from './abort-callbacks.ts'
import { header, type RequestContext } from './context.ts'
import { type WriteOptions, writeOptions } from './query.ts'
import type { WatchCounts } from './watch-counts.ts'

/** Parts of the server that handlers work with. */
export interface ServerScope {
  readonly registry: Registry
  readonly responses: ResponseWriter
  readonly clock: Clock
  readonly random: Random
  readonly profile: NamingProfile
  readonly features: Features
  /** Paces work on large input, across all requests. */
  readonly turns: Turns
  readonly authorizer: Authorizer
  readonly authenticator: Authenticator
  /** Issues tokens of service accounts; absent: TokenRequests are refused. */
  readonly issuer: ServiceAccountIssuer | undefined
  readonly limits: {
    /** Maximum size of a request body, in bytes. */
    readonly bodyBytes: number
    /** Maximum size of a stored object, in bytes. */
    readonly objectBytes: number
    /** Minimum duration of a watch without a timeout, in milliseconds; the maximum is twice as long. */
    readonly watchMs: number
  }
  /** Translates large YAML bodies. Absent: large YAML bodies are refused. */
  readonly yamlTranslator: YamlTranslator | undefined
  /** Aborts when the server closes, so that watches end cleanly. */
  readonly closing: AbortSignal
  /** The callbacks that open watches register for `closing`. */
  readonly onClosing: AbortCallbacks
  /** Encoded chunks of lists. */
  readonly listChunks: ListChunkCache
  /** Connections to pods and nodes. */
  readonly backends: Backends
  /** The watches in progress. */
  readonly watches: WatchCounts
  /** Called for each request to a deprecated version. */
  deprecatedRequest(definition: ResourceDefinition, subresource: string): void
  /** Whether a list kind is known. */
  knowsList(gvk: GroupVersionKind): boolean
  /** A known kind, served or not. */
  kind(gvk: GroupVersionKind): KindInfo | undefined
}

/** One resource at one version, or one of its subresources: everything that handlers need to know that does not depend on the request. */
export interface RequestScope extends ServerScope {
  readonly definition: ResourceDefinition
  readonly store: ResourceStore
  readonly codec: VersionCodec
  /** The addressed subresource; absent: the resource itself. */
  readonly subresource: ResourceInfo | undefined
}

/** A verb of a resource or subresource. */
export type ResourceHandler = (scope: RequestScope, context: RequestContext) => Promise<ApiResponse>

/** @returns a function that returns the scope of a definition and a subresource; the same scope for the same arguments. */
export function createScopes(
  server: ServerScope,
): (definition: ResourceDefinition, subresource: ResourceInfo | undefined) => RequestScope {
  const scopes = new WeakMap<ResourceDefinition, Map<string, RequestScope>>()
  return (definition, subresource) => {
    let ofDefinition = scopes.get(definition)
    if (ofDefinition === undefined) {
      ofDefinition = new Map()
      scopes.set(definition, ofDefinition)
    }
    const name = subresource?.name ?? ''
    let scope = ofDefinition.get(name)
    if (scope === undefined) {
      const store = server.registry.store(definition)
      const codec = ofDefinition.values().next().value?.codec ?? createVersionCodec(store)
      scope = { ...server, definition, store, codec, subresource }
      ofDefinition.set(name, scope)
    }
    return scope
  }
}

const withoutProtobuf: readonly Encoding[] = ['json', 'yaml', 'cbor']

/** The negotiated form of the response. Custom resources have no protobuf form. @throws ApiError 406 */
export function negotiated(
  { responses, definition }: RequestScope,
  { request }: RequestContext,
  options: NegotiationOptions = {},
): Representation {
  const accept = header(request, 'accept')
  return responses.negotiator.negotiate(
    accept,
    definition.custom === undefined ? options : { plain: withoutProtobuf, ...options },
  )
}

const objectForms: NegotiationOptions = { transforms: ['Table', 'PartialObjectMetadata'] }
const subresourceForms: NegotiationOptions = { transforms: ['PartialObjectMetadata'] }

/**
 * The negotiated form of objects. Subresources other than `status` have no Table.
 *
 * @param forms transforms for resources and for `status`
 * @throws ApiError 406
 */
export function negotiatedObjects(scope: RequestScope, context: RequestContext, forms = objectForms): Representation {
  const { subresource } = context.info
  return negotiated(scope, context, subresource === '' || subresource === 'status' ? forms : subresourceForms)
}

/** The options of a write from the query. @throws ApiError 422 that names the parameter. */
export function requestedOptions(
  { profile, features }: ServerScope,
  { query }: RequestContext,
  kind: string,
  apply = false,
): WriteOptions {
  const options = writeOptions(query, kind, { apply, profile, features })
  // Releases without field validation drop unknown fields silently.
  return features.release.atLeast('1.25') ? options : { ...options, fieldValidation: 'Ignore' }
}

/**
 * The Go package of internal types, which some messages name: `core` for the core group and for events, which two groups share, otherwise
 * the first part of the group's name.
 */
export function internalPackage(group: string): string {
  if (group === '' || group === 'events.k8s.io') return 'core'
  const [folder = group] = group.split('.')
  return folder === 'internal' ? 'apiserverinternal' : folder
}

/** The Go type that kube-apiserver names in messages about an object or list, such as `*core.PodList`. */
export function internalTypeName({ custom, kind: { group, kind: object } }: ResourceDefinition, kind: string): string {
  if (custom !== undefined) return kind === object ? '*unstructured.Unstructured' : '*unstructured.UnstructuredList'
  return `*${internalPackage(group)}.${kind}`
}

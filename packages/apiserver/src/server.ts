import { setMaxListeners } from 'node:events'
import { type AdmissionEnvironment, type AdmissionPlugin, createAdmissionChain, namespaceLifecycle } from '@krmkit/admission'
import {
  type Authenticator,
  anonymousAuthenticator,
  type FrontProxyHeaders,
  type IssuerDocuments,
  identityHeaders,
  type ServiceAccountIssuer,
} from '@krmkit/authentication'
import { type Authorizer, alwaysAllow } from '@krmkit/authorization'
import { builtInTypes, createCatalog, type ResourceDefinition, type ResourceSource, type ServiceNetwork } from '@krmkit/kinds'
import {
  ApiError,
  type Clock,
  type Features,
  fixedFeatures,
  type NamingProfile,
  type Random,
  stockProfile,
  systemClock,
  systemRandom,
} from '@krmkit/meta'
import { createRegistry, type Registry, ServedResources } from '@krmkit/registry'
import type { TypeSource } from '@krmkit/schema'
import type { Storage } from '@krmkit/storage'
import { AccessControl, type AuthorizerFactory } from './access/access-control.ts'
import { bootstrapRolesCheck, ensureBootstrapRoles } from './access/bootstrap-roles.ts'
import { Aggregator } from './aggregation/aggregator.ts'
import type { Aggregation, RemoteVersion } from './aggregation/interfaces.ts'
import { bodyReader } from './audit/bodies.ts'
import { type AuditChoice, auditTrails } from './audit/trails.ts'
import { ensureSystemObjects } from './bootstrap.ts'
import type { ConversionReach } from './conversion/interfaces.ts'
import { WebhookConverters } from './conversion/webhook-converter.ts'
import { followDefinitions } from './custom-resources/custom-resources.ts'
import { dispatchResource } from './dispatch-resource.ts'
import { audit, auditRefused } from './filters/audit.ts'
import { authentication } from './filters/authentication.ts'
import { authorization } from './filters/authorization.ts'
import { cors } from './filters/cors.ts'
import { failures } from './filters/failures.ts'
import { impersonation } from './filters/impersonation.ts'
import { inFlight } from './filters/in-flight.ts'
import { timeout } from './filters/timeout.ts'
import { warnings } from './filters/warnings.ts'
import { createFlowControl } from './flow-control/server-flow-control.ts'
import { WatchCounts } from './flow-control/watch-counts.ts'
import type { HealthCheck } from './health.ts'
import type { ApiRequest, ApiResponse, ApiServer } from './interfaces.ts'
import { ListChunkCache } from './list-chunk-cache.ts'
import { createMetrics } from './metrics.ts'
import { Negotiator } from './negotiation.ts'
import { createNonResourceRoutes } from './non-resource.ts'
import { flag, hasTooManyParameters, parseQuery } from './query.ts'
import { compose, type Filter, header, IncomingRequest, type RequestContext } from './request-context.ts'
import { parseRequestInfo } from './request-info.ts'
import type { Machinery } from './resource-handler.ts'
import { errorResponse, type ResponseWriter, textResponse } from './responses.ts'
import { createVersionCodec, type VersionCodec } from './version-codec.ts'
import type { YamlTranslator } from './yaml-translator.ts'

/** What a server is made of; everything but the storage has a safe default. */
export interface ApiServerOptions {
  readonly storage: Storage
  /** Resources to serve, also those of `defineResource`. Default: every built-in kind that a stock server serves. */
  readonly kinds?: readonly (ResourceDefinition | ResourceSource)[]
  /** Types of the kinds. Default: the built-in ones. */
  readonly types?: TypeSource
  /** Finds out who asks. Default: everybody is anonymous, unless the caller in the same process says who they are. */
  readonly authenticator?: Authenticator
  /**
   * Decides who may do what, or what makes it from the server's own objects: `({ rbac }) => rbac()` decides by the roles and
   * bindings in the store. Default: everybody may do everything.
   */
  readonly authorizer?: Authorizer | AuthorizerFactory
  /**
   * Makes the roles and bindings that a stock server has from the start, and mends them. `afterwards`: the server does not wait for
   * them; requests do whose callers have no right before. Default false.
   */
  readonly bootstrapRoles?: boolean | 'afterwards'
  /** Addresses and ports of services. Default: `10.0.0.0/24`, ports 30000 to 32767. */
  readonly serviceNetwork?: ServiceNetwork
  /** Whether containers of pods may be privileged. Default false, as on a stock server that is not told otherwise. */
  readonly allowPrivileged?: boolean
  /** Issues tokens of service accounts. Default: none are issued. */
  readonly serviceAccountIssuer?: ServiceAccountIssuer
  /** What others need to check those tokens; served at the well-known paths. Default: nothing is served there. */
  readonly issuerDocuments?: IssuerDocuments
  /** Headers that authentication alone may see, beside the usual ones of proxies. */
  readonly proxyHeaders?: FrontProxyHeaders
  /**
   * Plugins in execution order, or what makes them from the parts of this server (`defaultAdmissionPlugins` is one such
   * function). `NamespaceLifecycle` runs in any case, first unless it is among them. Default: nothing else.
   */
  readonly admission?: readonly AdmissionPlugin[] | ((environment: AdmissionEnvironment) => readonly AdmissionPlugin[])
  /** Keeps APIService objects, and passes requests on to the servers that they name. Default: neither. */
  readonly aggregation?: Aggregation
  /** How conversion webhooks are reached that definitions of custom resources name. Default: they are not. */
  readonly conversion?: ConversionReach
  readonly clock?: Clock
  readonly random?: Random
  readonly profile?: NamingProfile
  readonly features?: Features
  readonly limits?: Partial<ServerLimits>
  /** Reads large bodies in YAML off the event loop. Default: those above 128 KiB that are not plain JSON are refused with 413. */
  readonly yamlTranslator?: YamlTranslator
  readonly corsAllowedOrigins?: readonly RegExp[]
  /** Tells browsers to come over TLS alone: `max-age=31536000`, `includeSubDomains`, `preload`. Default: they are told nothing. */
  readonly strictTransportSecurity?: readonly string[]
  /**
   * Serves requests by priority and fairness: flow schemas and priority levels in the store divide `readOnlyInFlight` and
   * `mutatingInFlight` together. Default false: the two limits hold as they are.
   */
  readonly flowControl?: boolean
  /** Who is told of requests: a function hears of every one that was answered, a trail of those that its policy chooses. */
  readonly audit?: AuditChoice
  /** Hears of faults of the server itself: failures that were answered with 500. */
  readonly onFault?: (error: unknown) => void
  /** Conditions of readiness besides those of the server itself. */
  readonly readiness?: readonly HealthCheck[]
  /** Address that discovery tells clients, `host:port`. */
  readonly serverAddress?: string
}

export interface ServerLimits {
  /** Bytes of a request body. */
  readonly bodyBytes: number
  /** Bytes that a stored object may have. */
  readonly objectBytes: number
  readonly readOnlyInFlight: number
  readonly mutatingInFlight: number
  readonly requestTimeoutMs: number
  /** Shortest life of a watch that sets no timeout; the longest is twice that. */
  readonly watchMs: number
}

/** @see API protocol specification, 8 */
export const defaultLimits: ServerLimits = {
  bodyBytes: 3 * 1024 * 1024,
  objectBytes: 1.5 * 1024 * 1024,
  readOnlyInFlight: 400,
  mutatingInFlight: 200,
  requestTimeoutMs: 60_000,
  watchMs: 1_800_000,
}

/** A server, and the parts of it that embedders use beside its requests. */
export interface EmbeddedServer extends ApiServer {
  readonly registry: Registry
  readonly clock: Clock
  readonly random: Random
  readonly profile: NamingProfile
}

const closeDeadlineMs = 10_000

const noRemote: readonly RemoteVersion[] = []

/** What does not say how it may be cached may not be. */
const uncached = { 'cache-control': 'no-cache, private' }

/**
 * Composes a whole API server over a store. It listens on nothing: hand `handle` to an adapter or to a client in the same
 * process.
 */
export async function createApiServer(options: ApiServerOptions): Promise<EmbeddedServer> {
  const {
    storage,
    clock = systemClock,
    random = systemRandom,
    profile = stockProfile,
    features = fixedFeatures('1.33'),
    authenticator = anonymousAuthenticator,
  } = options
  const limits = { ...defaultLimits, ...options.limits }
  const closing = new AbortController()
  // Every watch listens for the end.
  setMaxListeners(0, closing.signal)
  const onFault = (error: unknown) => options.onFault?.(error)
  const access = new AccessControl(options.authorizer ?? alwaysAllow, { clock, profile, closing: closing.signal, onFault })
  const { authorizer, guard } = access
  const types = options.types ?? builtInTypes(profile)
  const catalog = createCatalog({ features, types, profile })
  const served = new ServedResources(options.kinds?.flatMap((each) => definitionsOf(each, types)) ?? catalog.definitions)
  const admission = createAdmissionChain(chosenPlugins(options.admission ?? [], { profile, random, clock, features, authorizer }))
  const metrics = createMetrics({
    storage,
    resources: { find: (gvr) => served.find(gvr), remote: () => aggregator?.remote ?? noRemote },
    slices: { next: () => registry.slices.next() },
  })
  const signals = metrics.webhooks
  const registry = createRegistry(
    {
      ...{ storage, types, admission, clock, random, profile, features, guard, metrics: signals },
      ...{ serviceNetwork: options.serviceNetwork, allowPrivileged: options.allowPrivileged, maxObjectBytes: limits.objectBytes },
    },
    served,
  )
  const responder: ResponseWriter = { negotiator: new Negotiator(profile), types, vendor: profile.vendor }
  const views = new WeakMap<ResourceDefinition, VersionCodec>()
  const machinery: Machinery = {
    writer: registry,
    parsed: registry.objectCache,
    responder,
    authorizer,
    authenticator,
    issuer: options.serviceAccountIssuer,
    limits,
    yamlTranslator: options.yamlTranslator,
    closing: closing.signal,
    view(definition) {
      let view = views.get(definition)
      if (view === undefined) {
        view = createVersionCodec(definition, registry.objectCache)
        views.set(definition, view)
      }
      return view
    },
    runs: new ListChunkCache(),
    watches: new WatchCounts(),
    deprecatedRequest: ({ group, version, resource, kind }, subresource) =>
      metrics.deprecatedRequest({ group, version, resource: resource.name, subresource, removed_release: kind.removed ?? '' }),
    resource: registry.resource,
    stored: registry.stored,
    onChange: (listener) => served.onChange(listener),
    knowsList: (gvk) => served.hasListKind(gvk),
    kind: (gvk) => catalog.kind(gvk) ?? served.kind(gvk),
  }
  const { aggregation } = options
  const aggregator =
    aggregation === undefined
      ? undefined
      : new Aggregator({ registry, aggregation, clock, closing: closing.signal, onFault, signals: metrics.availability })
  const flowControl =
    options.flowControl !== true
      ? undefined
      : createFlowControl({
          ...{ clock, random, profile, registry, onFault, closing: closing.signal, watches: machinery.watches },
          ...{ seats: limits.readOnlyInFlight + limits.mutatingInFlight, requestTimeoutMs: limits.requestTimeoutMs },
        })
  for (const metric of flowControl?.metrics ?? []) metrics.register(metric)
  const routes = createNonResourceRoutes({
    machinery,
    ...(flowControl === undefined ? {} : { flowPages: flowControl.pages }),
    resources: () => served.definitions,
    metrics,
    ...(aggregator === undefined ? {} : { remote: () => aggregator.remote, remoteDocuments: aggregator.documents }),
    readiness: options.readiness ?? [],
    started: (options.bootstrapRoles ?? false) === false ? [] : [bootstrapRolesCheck(access)],
    serverAddress: options.serverAddress ?? 'localhost:6443',
    release: features.release.version,
    issuerDocuments: options.issuerDocuments,
  })

  const dispatch = async (state: RequestContext): Promise<ApiResponse> => {
    try {
      const elsewhere = aggregator?.pass(state, limits.bodyBytes)
      if (elsewhere !== undefined) {
        // What another server does takes none of our seats.
        state.watchInitialized?.()
        return await elsewhere
      }
      if (!state.info.isResource) return await routes(state)
      return await dispatchResource(
        machinery,
        state,
        (group) => served.hasGroup(group),
        (group, version) => served.hasVersion(group, version),
      )
    } catch (error) {
      return failed(state, error)
    }
  }
  const failed = (state: RequestContext, error: unknown): ApiResponse => {
    if (!ApiError.is(error)) {
      state.fault = error
      options.onFault?.(error)
    }
    return errorResponse(responder, error, header(state.request, 'accept'))
  }
  const trails = auditTrails(options.audit)
  const auditing = { clock, profile, bodies: bodyReader((gvk) => machinery.kind(gvk)?.type()) }
  const filters: readonly (Filter | undefined)[] = [
    cors(options.corsAllowedOrigins ?? []),
    metrics.filter,
    failures(failed),
    auditRefused(trails, auditing),
    timeout(limits.requestTimeoutMs, clock),
    authentication(authenticator, {
      identityHeaders: identityHeaders(options.proxyHeaders),
      onFault,
    }),
    audit(trails, auditing),
    // Who is calling may be a reason for a warning, whatever becomes of the request.
    warnings(),
    failures(failed),
    impersonation(authorizer, profile),
    flowControl?.filter ?? inFlight({ readOnly: limits.readOnlyInFlight, mutating: limits.mutatingInFlight }),
    authorization(authorizer, profile),
  ]
  const run = compose(
    filters.filter((filter) => filter !== undefined),
    dispatch,
  )

  const { strictTransportSecurity: strict = [] } = options
  const commonHeaders = strict.length === 0 ? uncached : { ...uncached, 'strict-transport-security': strict.join('; ') }

  let active = 0
  let idle: (() => void) | undefined
  const handle = async (request: ApiRequest): Promise<ApiResponse> => {
    if (hasTooManyParameters(request.query)) return textResponse(400, 'too many query parameters\n')
    const query = parseQuery(request.query)
    const info = parseRequestInfo(request.method, request.path, flag(query, 'watch'))
    if (info === undefined) return textResponse(400, 'invalid URL escape\n')
    const auditId = givenAuditId(request) || random.uuid()
    const state = new IncomingRequest(request, { info, query, startedAt: clock.now(), auditId })
    active++
    try {
      if (closing.signal.aborted) throw ApiError.serviceUnavailable('the server is shutting down')
      const response = await run(state)
      return { ...response, headers: { 'audit-id': auditId, ...commonHeaders, ...state.flowHeaders, ...response.headers } }
    } catch (error) {
      const response = failed(state, error)
      return { ...response, headers: { 'audit-id': auditId, ...commonHeaders, ...state.flowHeaders, ...response.headers } }
    } finally {
      active--
      if (active === 0) idle?.()
    }
  }

  let closed: Promise<void> | undefined
  const close = (): Promise<void> => {
    closed ??= (async () => {
      closing.abort()
      if (active > 0) {
        await new Promise<void>((resolve) => {
          const cancel = clock.setTimeout(resolve, closeDeadlineMs)
          idle = () => {
            cancel()
            resolve()
          }
        })
      }
      await storage.close()
    })()
    return closed
  }
  await ensureSystemObjects(registry)
  if (options.bootstrapRoles === true) await ensureBootstrapRoles(registry)
  await access.start(registry)
  if (options.bootstrapRoles === 'afterwards') access.await(ensureBootstrapRoles(registry))
  const converters = new WebhookConverters(options.conversion ?? {}, { clock, random, reader: registry.reader })
  await aggregator?.start()
  await flowControl?.start()
  await followDefinitions({ registry, clock, closing: closing.signal, onFault, converters })
  return { handle, close, registry, clock, random, profile, [Symbol.asyncDispose]: close }
}

function definitionsOf(kind: ResourceDefinition | ResourceSource, types: TypeSource): readonly ResourceDefinition[] {
  return 'resources' in kind ? kind.resources(types) : [kind]
}

function chosenPlugins(
  given: NonNullable<ApiServerOptions['admission']>,
  environment: AdmissionEnvironment,
): readonly AdmissionPlugin[] {
  const plugins = typeof given === 'function' ? given(environment) : given
  const lifecycle = namespaceLifecycle(environment.profile)
  return plugins.some(({ name }) => name === lifecycle.name) ? plugins : [lifecycle, ...plugins]
}

/** What a client calls its request in the audit trail, without characters that have no place in a header; mostly empty. */
function givenAuditId(request: ApiRequest): string {
  const given = header(request, 'audit-id')
  return given === undefined ? '' : given.slice(0, 64).replace(/[^\w.:-]/g, '')
}

import { type AdmissionEnvironment, type AdmissionPlugin, createAdmissionChain } from '@krmkit/admission'
import { namespaceLifecycle } from '@krmkit/admission/plugins'
import { concatBytes } from '@krmkit/base/bytes'
import type { ResourceDefinition, ResourceSource } from '@krmkit/kinds'
import { ApiError, type Clock, type NamingProfile, type Random } from '@krmkit/meta'
import type { ApiResponse } from '@krmkit/protocol'
import { createRegistry, type Following, type Registry, ServedResources } from '@krmkit/registry'
import type { TypeSource } from '@krmkit/schema'
import { type CborCodec, loadCbor } from '@krmkit/schema/cbor'
import { AccessControl } from '../access/access-control.ts'
import { Aggregator } from '../aggregation/aggregator.ts'
import { Backends } from '../backends/backends.ts'
import { bootstrapRolesCheck, ensureBootstrapRoles } from '../bootstrap/bootstrap-roles.ts'
import { upgradeStore } from '../bootstrap/release-upgrade.ts'
import { ensureSystemObjects } from '../bootstrap/system-objects.ts'
import { WebhookConverters } from '../conversion/webhook-converter.ts'
import { followDefinitions } from '../custom-resources/definition-follower.ts'
import type { RemoteVersion } from '../discovery/remote-version.ts'
import { errorResponse } from '../encoding/status-response.ts'
import { createFlowControl, type FlowControl } from '../flow-control/server-flow-control.ts'
import type { ApiServer } from '../interfaces.ts'
import { ListChunkCache } from '../media/list-chunks.ts'
import { Negotiator } from '../media/negotiation.ts'
import { createMetrics, type Metrics } from '../metrics/metrics.ts'
import { processMetrics } from '../metrics/process-metrics.ts'
import { storageMetrics } from '../metrics/storage-metrics.ts'
import { AbortCallbacks } from '../request/abort-callbacks.ts'
import { compose, type RequestContext } from '../request/context.ts'
import type { ServerScope } from '../request/scope.ts'
import { WatchCounts } from '../request/watch-counts.ts'
import { checkDistinct, checkPlugins, checkServerOptions } from './arguments.ts'
import { buildFilters } from './build-filters.ts'
import { catalogOf, type EmulatedSettings, emulatedSettings, servedDefinitions } from './emulation.ts'
import { Lifecycle } from './lifecycle.ts'
import type { ApiServerOptions, ServerSettings } from './options.ts'
import { buildRoutes } from './routes.ts'

/** A server with the parts that embedders use besides sending requests. */
export interface EmbeddedServer extends ApiServer {
  readonly registry: Registry
  readonly clock: Clock
  readonly random: Random
  readonly profile: NamingProfile
  /** Whether the option `authorizer` was left out, so that every request is allowed. */
  readonly allowsEveryRequest: boolean
  /** The text of `/metrics`, for programs that export metrics themselves; `@krmkit/apiserver/metrics` parses the text. */
  metricsText(): Promise<string>
}

/**
 * Composes an API server over a store. It opens no socket: pass `handle` to an adapter or to an in-process client.
 *
 * @example
 * ```ts
 * import { createApiServer } from '@krmkit/apiserver'
 * import { memoryStorage } from '@krmkit/storage'
 *
 * await using server = await createApiServer({ storage: memoryStorage() })
 * const { signal } = new AbortController()
 * const request = { query: '', headers: {}, body: async () => new Uint8Array(), peer: {}, signal }
 * const { status } = await server.handle({ ...request, method: 'GET', path: '/api/v1/namespaces/default' })
 * status // 200
 * ```
 * @throws ApiServerError `InvalidOption`
 */
export async function createApiServer(options: ApiServerOptions): Promise<EmbeddedServer> {
  checkServerOptions(options)
  const settings = await emulatedSettings(options)
  const { clock, random, profile, storage } = settings
  const { strictTransportSecurity = [] } = settings
  const lifecycle = new Lifecycle({ clock, random, strictTransportSecurity })
  const cbor = settings.features.enabled('CBORServingAndStorage') ? await loadCbor() : undefined
  const parts = createParts(settings, lifecycle.closing, cbor)
  const { registry, scope, aggregator, flowControl, metrics } = parts
  const failed = failure(settings, scope)
  const filters = buildFilters(settings, { scope, failed, metrics: metrics.filter, flowControl: flowControl?.filter })
  const routes = buildRoutes({
    scope,
    failed,
    aggregator,
    metrics,
    ...(flowControl === undefined ? {} : { flowPages: flowControl.pages }),
    readiness: settings.readiness ?? [],
    started: (settings.bootstrapRoles ?? false) === false ? [] : [bootstrapRolesCheck(parts.access)],
    serverAddress: settings.serverAddress ?? 'localhost:6443',
    release: settings.features.release.version,
    issuerDocuments: settings.issuerDocuments,
    flags: settings.flags,
  })
  const run = compose(filters, routes)
  let closed: Promise<void> | undefined
  const close = (): Promise<void> => {
    closed ??= lifecycle.close().then(() => storage.close())
    return closed
  }
  const definitions = await start(settings, parts, lifecycle.closing)
  const isReplica = settings.replica === true
  const handle: ApiServer['handle'] = (request) => {
    // The client may have changed a definition through another server, and expects the change to be visible here.
    if (isReplica) definitions?.catchUp()
    return lifecycle.handle(request, run, failed)
  }
  const metricsText = async () => new TextDecoder().decode(concatBytes((await metrics.expose()).parts))
  const allowsEveryRequest = options.authorizer === undefined
  return { handle, close, registry, clock, random, profile, allowsEveryRequest, metricsText, [Symbol.asyncDispose]: close }
}

/** Errors other than ApiError are internal: they are reported, and their text stays on the server. */
function failure({ onError }: ServerSettings, { responses }: ServerScope) {
  return (context: RequestContext, error: unknown): ApiResponse => {
    if (!ApiError.is(error)) {
      context.fault = error
      onError(error)
    }
    return errorResponse(responses, context, error)
  }
}

interface ServerParts {
  readonly registry: Registry
  readonly scope: ServerScope
  readonly access: AccessControl
  readonly metrics: Metrics
  readonly aggregator: Aggregator | undefined
  readonly flowControl: FlowControl | undefined
}

const noRemote: readonly RemoteVersion[] = []

function createParts(settings: EmulatedSettings, closing: AbortSignal, cbor: CborCodec | undefined): ServerParts {
  const { clock, random, profile, features, types, limits, onError, storage } = settings
  const catalog = catalogOf(settings)
  const given = settings.kinds?.flatMap((each) => definitionsOf(each, types))
  if (given !== undefined) checkDistinct(given)
  const served = new ServedResources(servedDefinitions(given, catalog, settings))
  const metrics = createMetrics({
    resourceVersion: () => registry.resourceVersion,
    resources: { find: (gvr) => served.find(gvr), remote: () => aggregator?.remote ?? noRemote },
    turns: { next: () => registry.turns.next() },
    gates: features.gates,
  })
  const access = new AccessControl(settings.authorizer, {
    ...{ clock, profile, features, metrics: metrics.authorization, closing, onError },
  })
  const { authorizer, guard } = access
  const plugins = chosenPlugins(settings.admission ?? [], { profile, random, clock, features, authorizer })
  const registry = createRegistry(
    {
      ...{ storage, types, clock, random, profile, features, guard },
      admission: createAdmissionChain(plugins),
      metrics: metrics.admission,
      serviceNetwork: settings.serviceNetwork,
      allowPrivileged: settings.allowPrivileged,
      requestSignatureError: settings.requestSignatureError,
      maxObjectBytes: limits.objectBytes,
      onError: settings.onError,
    },
    served,
  )
  const scope: ServerScope = {
    ...{ registry, clock, random, profile, features, limits, closing, authorizer },
    responses: { negotiator: new Negotiator(profile, { cbor: cbor !== undefined }), types, vendor: profile.vendor, cbor },
    turns: registry.turns,
    authenticator: settings.authenticator,
    issuer: settings.serviceAccountIssuer,
    yamlTranslator: settings.yamlTranslator,
    backends: new Backends(settings.proxy ?? {}, closing),
    listChunks: new ListChunkCache(),
    onClosing: new AbortCallbacks(closing),
    watches: new WatchCounts(),
    deprecatedRequest: ({ group, version, resource, kind }, subresource) =>
      metrics.deprecatedRequest({ group, version, resource: resource.name, subresource, removed_release: kind.removed ?? '' }),
    knowsList: (gvk) => served.hasListKind(gvk),
    kind: (gvk) => catalog.kind(gvk) ?? served.kind(gvk),
  }
  const { aggregation } = settings
  const aggregator =
    aggregation === undefined
      ? undefined
      : new Aggregator({
          ...{ registry, profile, random, aggregation, clock, closing, onError },
          metrics: metrics.availability,
          isReplica: settings.replica ?? false,
        })
  const flowControl = settings.flowControl === true ? createFlowControl({ ...flowOptions(settings, scope), onError }) : undefined
  for (const metric of [...(flowControl?.metrics ?? []), ...storageMetrics(storage), ...processMetrics()])
    metrics.register(metric)
  return { registry, scope, access, metrics, aggregator, flowControl }
}

function flowOptions({ limits }: ServerSettings, scope: ServerScope) {
  const { clock, random, profile, registry, closing, watches } = scope
  const seats = limits.readOnlyInFlight + limits.mutatingInFlight
  return { clock, random, profile, registry, closing, watches, seats, requestTimeoutMs: limits.requestTimeoutMs }
}

/** Creates the system objects and starts following stored objects. @returns the followed CustomResourceDefinitions */
async function start(
  settings: EmulatedSettings,
  parts: ServerParts,
  closing: AbortSignal,
): Promise<Pick<Following, 'catchUp'> | undefined> {
  const { clock, random, profile, features, types, onError, storage, emulated, replica: isReplica = false } = settings
  const { registry, access, aggregator, flowControl } = parts
  const bootstrapRoles = isReplica ? false : settings.bootstrapRoles
  if (!isReplica) {
    await upgradeStore({ storage, registry, release: emulated?.release })
    await ensureSystemObjects(registry, profile)
  }
  if (bootstrapRoles === true) await ensureBootstrapRoles(registry, profile, { features })
  await access.start(registry)
  if (bootstrapRoles === 'afterwards') access.deferDenials(ensureBootstrapRoles(registry, profile, { features }))
  await aggregator?.start()
  await flowControl?.start()
  const converters = new WebhookConverters(settings.conversion ?? {}, { clock, random, reader: registry.reader })
  return followDefinitions({ registry, types, clock, closing, onError, converters, isReplica })
}

function definitionsOf(kind: ResourceDefinition | ResourceSource, types: TypeSource): readonly ResourceDefinition[] {
  return 'resources' in kind ? kind.resources(types) : [kind]
}

function chosenPlugins(
  given: NonNullable<ApiServerOptions['admission']>,
  environment: AdmissionEnvironment,
): readonly AdmissionPlugin[] {
  if (typeof given === 'function') {
    const plugins = given(environment)
    checkPlugins('the result of `admission`', plugins)
    return plugins
  }
  const lifecycle = namespaceLifecycle(environment.profile)
  return given.some(({ name }) => name === lifecycle.name) ? given : [lifecycle, ...given]
}

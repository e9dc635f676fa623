import { join } from 'node:path'
import type { ApiServerOptions } from '@krmkit/apiserver'
import { extendableTokenSeconds, type OpenIdMetadata } from '@krmkit/authentication/service-account'
import { requestSignatureError } from '@krmkit/certificates'
import {
  builtInControllers,
  type CertificateSigning,
  type Controller,
  chooseControllers,
  clusterControllers,
  type NodeSimulation,
  serviceAccountController,
  simulatedServerOptions,
} from '@krmkit/controllers'
import {
  createProxyTransport,
  createWebhookTransport,
  type Listener,
  selfSigned,
  type TlsFiles,
  type TlsSelfSigned,
} from '@krmkit/http'
import { type Catalog, createCatalog } from '@krmkit/kinds'
import { defaultRelease, type Features, stockProfile, systemClock, systemRandom } from '@krmkit/meta'
import { gateEnabled } from '@krmkit/meta/feature-gates'
import type { Storage } from '@krmkit/storage'
import { type ClosableTranslator, createYamlTranslator, yamlWorkerFile } from 'krmkit'
import { certificateHosts } from './addresses.ts'
import { type ChosenPlugins, chooseAdmissionPlugins } from './admission/choose-plugins.ts'
import { type AggregationFromFlags, createAggregation, WebhookServices } from './aggregation/aggregation.ts'
import { type AuditTrails, createAuditTrails } from './audit/audit-trails.ts'
import { type Authenticators, createAuthenticators } from './authentication/authenticators.ts'
import { type Authorization, createAuthorization } from './authorization/authorizer.ts'
import { createClusterSigning } from './certificate/cluster-signing.ts'
import { CliError } from './cli-error.ts'
import { featuresOf } from './feature-gates.ts'
import { readKeyPair } from './key-pair.ts'
import { createKubelet, type KubeletFromFlags } from './kubelet/kubelet.ts'
import { type Log, requestLoggers } from './log.ts'
import type { Resource } from './otlp/common-messages.ts'
import { logRequestFailures } from './request-failures.ts'
import type { ServeOptions } from './serve-options.ts'
import { createSimulation } from './simulation.ts'
import { selectControllers } from './token/serve-flags.ts'
import type { Tracing } from './tracing/tracing.ts'
import { kubeconfigCredentials } from './webhooks/kubeconfig-credentials.ts'

/** The parts of a server that flags configure, and the options of the server that is composed of them. */

export const environment = { clock: systemClock, random: systemRandom, profile: stockProfile }

export interface ServerComponents {
  /** Names for `runControllers`. */
  readonly controllers: readonly string[]
  readonly availableControllers: readonly Controller[]
  /** Undefined without simulated nodes. */
  readonly simulation: NodeSimulation | undefined
  readonly signing: CertificateSigning | undefined
  readonly features: Features
  readonly catalog: Catalog
  readonly admission: ChosenPlugins
  readonly authentication: Authenticators
  readonly authorization: Authorization
  readonly aggregation: AggregationFromFlags
  readonly kubelet: KubeletFromFlags
  readonly audit: AuditTrails
  /** Attributes of this process in traces and metrics. */
  readonly resource: Resource
  /** Undefined where requests are not traced. */
  readonly tracing: Tracing | undefined
  readonly webhooks: ReturnType<typeof createWebhookTransport>
  readonly webhookServices: WebhookServices
  readonly proxies: ReturnType<typeof createProxyTransport>
  /** Undefined when the package runs from its sources, which have no worker file. */
  readonly yaml: ClosableTranslator | undefined
}

/** @throws CliError for flags or files that cannot be used. */
export async function createComponents(options: ServeOptions, log: Log): Promise<ServerComponents> {
  const features = featuresOf(options.featureGates, options.emulatedVersion)
  for (const warning of features.warnings) log.info(warning)
  assertFlowControlVersions(options)
  const catalog = await createServedCatalog(options, features)
  const simulation = await createSimulation(options)
  const { controllers, availableControllers } = servedControllers(withMigrator(selectControllers(options), catalog), simulation)
  const running = chooseControllers(availableControllers, controllers)
  const { signing, ownAuthority } = await createClusterSigning(options, { ...environment, controllers: running })
  const onReload = (flag: string) => log.info(`--${flag}: reloaded`)
  const admission = await chooseAdmissionPlugins(options, {
    hasServiceAccounts: running.includes(serviceAccountController),
    manifests: {
      ...environment,
      features,
      onError: (error) => log.error('admission manifests', error),
      onReload: (folder) => log.info(`admission manifests in ${folder}: reloaded`),
    },
  })
  const authorization = await createAuthorization(options, {
    ...environment,
    features,
    onError: (error) => log.error('authorization', error),
    onReload,
  })
  const authentication = await createAuthenticators(options, {
    ...environment,
    features,
    onError: (error) => log.error('authentication', error),
    onReload,
    modes: authorization.modes,
    ownAuthority,
  })
  const aggregation = await createAggregation(options, {
    ...environment,
    onError: (error) => log.error('cannot read the client certificate for aggregated API servers', error),
  })
  const kubelet = await createKubelet(options, {
    ...environment,
    onError: (error) => log.error('cannot read the client certificate for kubelets', error),
  })
  const webhooks = createWebhookTransport()
  const webhookServices = new WebhookServices(options)
  const proxies = createProxyTransport()
  const resource = { 'service.name': 'apiserver', 'service.instance.id': environment.random.uuid() }
  const tracing = await createTracer(options, { features, resource, log })
  const audit = await createAuditTrails(options, { ...environment, log })
  const yaml = yamlWorkerFile() === undefined ? undefined : createYamlTranslator({ clock: environment.clock })
  return {
    ...{
      controllers,
      availableControllers,
      simulation,
      signing,
      features,
      catalog,
      admission,
      authentication,
      authorization,
      aggregation,
    },
    ...{ kubelet, audit, resource, tracing, webhooks, webhookServices, proxies, yaml },
  }
}

/** Loads gRPC only where requests are traced. */
async function createTracer(
  { tracingConfigFile: path }: ServeOptions,
  { log, ...parts }: { readonly features: Features; readonly resource: Resource; readonly log: Log },
): Promise<Tracing | undefined> {
  if (path === undefined) return undefined
  const { createTracing } = await import('./tracing/tracing.ts')
  return createTracing(path, { ...environment, ...parts, onError: (error) => log.error('traces', error) })
}

function servedControllers(controllers: readonly string[], simulation: NodeSimulation | undefined) {
  if (simulation === undefined) return { controllers, availableControllers: builtInControllers }
  const { available, names } = clusterControllers(simulation, controllers)
  return { controllers: names, availableControllers: available }
}

/** Priority and fairness needs its API: the narrowest setting that covers it must not disable it. */
function assertFlowControlVersions({ runtimeConfig, enablePriorityAndFairness }: ServeOptions): void {
  if (!enablePriorityAndFairness) return
  for (const key of ['flowcontrol.apiserver.k8s.io/v1', 'api/ga', 'api/all']) {
    if (runtimeConfig.includes(`${key}=true`)) return
    if (!runtimeConfig.includes(`${key}=false`)) continue
    const message = `--runtime-config=${key}=false conflicts with --enable-priority-and-fairness=true`
    throw new CliError({ code: 'InvalidFlag', message })
  }
}

const migrator = 'storage-version-migrator-controller'

/** The migrator runs by default where its objects are served. */
function withMigrator(controllers: readonly string[], catalog: Catalog): readonly string[] {
  const isServed = catalog.definitions.some(({ resource }) => resource.name === 'storageversionmigrations')
  return isServed && controllers.includes('*') && !controllers.includes(`-${migrator}`) ? [...controllers, migrator] : controllers
}

/** The kinds to serve, of the emulated release where there is one. */
async function createServedCatalog(flags: ServeOptions, features: Features): Promise<Catalog> {
  const { runtimeConfig, emulatedVersion, emulationForwardCompatible, runtimeConfigEmulationForwardCompatible } = flags
  refuseWithoutEmulation(flags)
  const options = { features, runtimeConfig: runtimeConfig.join(',') }
  if (emulatedVersion === undefined) return createCatalog(options)
  const { emulateRelease, typesAt } = await import('@krmkit/kinds/releases')
  const forward = {
    forwardCompatible: emulationForwardCompatible,
    runtimeConfigForwardCompatible: runtimeConfigEmulationForwardCompatible,
  }
  return createCatalog({ ...options, types: typesAt(emulatedVersion), emulated: emulateRelease(features, forward) })
}

/** @throws CliError for compatibility with later releases while there is none. */
function refuseWithoutEmulation(flags: ServeOptions): void {
  if (flags.emulatedVersion !== undefined && flags.emulatedVersion !== defaultRelease) return
  for (const [name, value] of [
    ['EmulationForwardCompatible', flags.emulationForwardCompatible],
    ['RuntimeConfigEmulationForwardCompatible', flags.runtimeConfigEmulationForwardCompatible],
  ] as const) {
    if (!value) continue
    const message = `ServerRunOptions.${name} cannot be set to true if the emulation version is the same as the binary version`
    throw new CliError({ code: 'InvalidFlag', message })
  }
}

export interface ServerParts {
  readonly components: ServerComponents
  readonly storage: Storage
  /** `host:port` that discovery advertises. */
  readonly serverAddress: string
  readonly issuerDocuments: OpenIdMetadata | undefined
  readonly log: Log
}

export function apiServerOptions(options: ServeOptions, parts: ServerParts): ApiServerOptions {
  const { components, storage, serverAddress, issuerDocuments, log } = parts
  const { authentication, authorization, admission, webhooks, webhookServices, yaml } = components
  return {
    ...environment,
    storage,
    features: components.features,
    ...(options.flagValues === undefined ? {} : { flags: options.flagValues }),
    ...(options.emulatedVersion === undefined ? {} : { emulate: options.emulatedVersion }),
    kinds: components.catalog.definitions,
    types: components.catalog.types,
    authenticator: authentication.authenticator,
    authorizer: authorization.authorizer,
    bootstrapRoles: authorization.bootstrapRoles ? 'afterwards' : false,
    serviceAccountIssuer: authentication.accounts.issuer,
    ...(issuerDocuments === undefined ? {} : { issuerDocuments }),
    ...(authentication.proxyHeaders === undefined ? {} : { proxyHeaders: authentication.proxyHeaders }),
    admission: (admissionParts) =>
      admission.make({
        ...admissionParts,
        webhooks: { transport: webhooks, credentials: kubeconfigCredentials, ...webhookServices.reach },
        // The issuer recognizes mounted tokens by this lifetime and extends them when the flag is set.
        mountedTokenSeconds: options.serviceAccountExtendTokenExpiration ? extendableTokenSeconds : 3600,
      }),
    conversion: { transport: webhooks, ...webhookServices.reach },
    ...outgoingOptions(components),
    ...(yaml === undefined ? {} : { yamlTranslator: yaml }),
    limits: {
      readOnlyInFlight: options.maxRequestsInflight,
      mutatingInFlight: options.maxMutatingRequestsInflight,
      requestTimeoutMs: options.requestTimeout,
      watchMs: options.minRequestTimeout * 1000,
    },
    flowControl: options.enablePriorityAndFairness,
    corsAllowedOrigins: options.corsAllowedOrigins,
    strictTransportSecurity: options.strictTransportSecurityDirectives,
    serverAddress,
    serviceNetwork: { ranges: options.serviceClusterIpRange.split(','), nodePorts: options.serviceNodePortRange },
    allowPrivileged: options.allowPrivileged,
    requestSignatureError,
    ...(components.tracing === undefined ? {} : { tracer: components.tracing.tracer }),
    onError: logRequestFailures(log, environment.clock),
    audit: [...components.audit.trails, ...requestLoggers(log, options.v)],
  }
}

/** How the server reaches aggregated API servers, pods and nodes. Simulated nodes are in this process. */
function outgoingOptions({
  proxies,
  aggregation,
  kubelet,
  simulation,
}: ServerComponents): Pick<ApiServerOptions, 'aggregation' | 'proxy'> {
  const simulated = simulation === undefined ? undefined : simulatedServerOptions(simulation, proxies)
  return {
    aggregation: { transport: proxies, ...aggregation, ...(simulated === undefined ? {} : { services: simulated.services }) },
    proxy: { transport: simulated?.transport ?? proxies, kubelet },
  }
}

export async function listenOptions(options: ServeOptions, { authentication, features }: ServerComponents, log: Log) {
  return {
    port: options.securePort,
    host: options.bindAddress,
    tls: await tlsOptions(options, authentication.clientAuthorities()),
    compression: gateEnabled('APIResponseCompression', features),
    goaway: { chance: options.goawayChance, random: environment.random },
    onError: (error: unknown) => log.error('a connection failed', error),
  }
}

async function tlsOptions(options: ServeOptions, clientAuthorities: string | undefined): Promise<TlsFiles | TlsSelfSigned> {
  const { tlsCertFile, tlsPrivateKeyFile } = options
  const trust = clientAuthorities === undefined ? {} : { clientCa: clientAuthorities }
  if ((tlsCertFile === undefined) !== (tlsPrivateKeyFile === undefined)) {
    throw new CliError({ code: 'InvalidFlag', message: '--tls-cert-file and --tls-private-key-file go together' })
  }
  if (tlsCertFile !== undefined && tlsPrivateKeyFile !== undefined) {
    const pair = await readKeyPair({
      certificate: { flag: 'tls-cert-file', path: tlsCertFile },
      key: { flag: 'tls-private-key-file', path: tlsPrivateKeyFile },
    })
    return { ...pair, authority: pair.certificate, ...trust }
  }
  const directory = options.certDir ?? join(options.dataDir, 'pki')
  return selfSigned(directory, { ...environment, hosts: certificateHosts(options), ...trust })
}

/** Updates the authorities that the TLS handshake names to clients. */
export function watchClientAuthorities(listening: Listener, { authentication }: ServerComponents, log: Log): void {
  authentication.onClientAuthorities((pem) => {
    try {
      listening.setClientAuthorities(pem)
      log.info('client certificate authorities reloaded')
    } catch (error) {
      log.error('the new client certificate authorities cannot be used', error)
    }
  })
}

/** Releases the components of a server that is closed. */
export async function disposeTransports({
  webhooks,
  proxies,
  aggregation,
  kubelet,
  audit,
  tracing,
  admission,
  yaml,
}: ServerComponents): Promise<void> {
  webhooks[Symbol.dispose]()
  proxies[Symbol.dispose]()
  aggregation[Symbol.dispose]()
  kubelet[Symbol.dispose]()
  await audit.close()
  await tracing?.[Symbol.asyncDispose]()
  await admission[Symbol.asyncDispose]()
  await yaml?.close()
}

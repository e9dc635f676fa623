import { join, resolve } from 'node:path'
import { type AuditEvent, createApiServer, type EmbeddedServer } from '@krmkit/apiserver'
import { extendableTokenSeconds } from '@krmkit/authentication'
import { inProcessClient } from '@krmkit/client'
import {
  builtInControllers,
  ControllersError,
  chooseControllers,
  type RunningControllers,
  runControllers,
  serverControllers,
  serviceAccountController,
} from '@krmkit/controllers'
import {
  createProxyTransport,
  createWebhookTransport,
  type Listener,
  listen,
  selfSigned,
  type TlsFiles,
  type TlsSelfSigned,
} from '@krmkit/http'
import { createCatalog } from '@krmkit/kinds'
import { fixedFeatures, stockProfile, systemClock, systemRandom, type UserInfo } from '@krmkit/meta'
import type { ApiRequest, ApiResponse } from '@krmkit/protocol'
import { durableStorage, memoryStorage, type Storage } from '@krmkit/storage'
import { type ClosableTranslator, createYamlTranslator, yamlWorkerFile } from '../yaml/yaml-translator.ts'
import { advertised, certificateHosts } from './addresses.ts'
import { type ChosenPlugins, chooseAdmissionPlugins } from './admission/choose-plugins.ts'
import { aggregationOf, WebhookServices } from './aggregation/aggregation.ts'
import { auditTrailsOf, type Trails } from './audit/trail.ts'
import { type Authenticators, authenticators } from './authentication/authenticators.ts'
import { type Authorization, authorization } from './authorization/authorizer.ts'
import { clusterSigning } from './certificate/cluster-signing.ts'
import { CliError } from './cli-error.ts'
import { prepareDataFolder, writeSecret } from './files.ts'
import { readKeyPair } from './key-pair.ts'
import { kubeconfigText } from './kubeconfig-writer.ts'
import { type Log, requestLine } from './log.ts'
import type { ServeOptions } from './serve-options.ts'
import { serverFacts } from './server-facts.ts'
import { publishClusterInfo } from './token/publish.ts'
import { controllersFor } from './token/serve-flags.ts'
import { kubeconfigCredentials } from './webhooks/kubeconfig-credentials.ts'

/** A server that runs, and how to reach it. */
export interface Serving {
  readonly url: string
  /** The administrator's kubeconfig, when one was written. */
  readonly kubeconfig: string | undefined
  /** Ends streams, finishes answers, closes storage. */
  close(): Promise<void>
}

const controllerManager: UserInfo = {
  username: 'system:kube-controller-manager',
  groups: ['system:masters', 'system:authenticated'],
}
const serverItself: UserInfo = { username: 'system:apiserver', groups: ['system:masters', 'system:authenticated'] }
const environment = { clock: systemClock, random: systemRandom, profile: stockProfile }

/** About what a stock controller manager asks of its server. */
const controllersPace = { perSecond: 20, burst: 30 }

/** Runs a server as the flags say. What was started before a failure is ended again. */
export async function serve(options: ServeOptions, log: Log): Promise<Serving> {
  refuseNoSeats(options)
  prepareDataFolder(options.dataDir, { isNeeded: options.storage !== 'memory' })
  const wanted = controllersFor(options)
  const running = chooseControllers(builtInControllers, wanted)
  const { signing, ownAuthority } = await clusterSigning(options, { ...environment, controllers: running })
  const admission = await chooseAdmissionPlugins(options, { hasServiceAccounts: running.includes(serviceAccountController) })
  const features = fixedFeatures('1.33', options.featureGates)
  const catalog = createCatalog({ features, runtimeConfig: options.runtimeConfig.join(',') })
  const onReload = (flag: string) => log.info(`the file of --${flag} has changed and is in force`)
  const rights = await authorization(options, {
    ...environment,
    onError: (error) => log.error('authorization', error),
    onReload,
  })
  const onError = (error: unknown) => log.error('who is calling cannot be found out', error)
  const who = await authenticators(options, { ...environment, features, onError, onReload, modes: rights.modes, ownAuthority })
  const gate = new Gate()
  const others = await aggregationOf(options, {
    ...environment,
    onError: (error) => log.error('the certificate for other servers cannot be read', error),
  })
  const webhooks = createWebhookTransport()
  const services = new WebhookServices(options)
  const proxies = createProxyTransport()
  const audit = await auditTrailsOf(options, { ...environment, log })
  const yaml = yamlWorkerFile() === undefined ? undefined : createYamlTranslator({ clock: environment.clock })
  let listening: Listener | undefined
  let storage: Storage | undefined
  try {
    // Listening comes first: a taken port ends the start before storage is touched, and a free one is known to discovery.
    listening = await listen(gate, await listenOptions(options, { who, log }))
    const serverAddress = advertised(options, listening.port)
    const issuerDocuments = who.accounts.documents(serverAddress)
    storage = await openStorage(options)
    const server = await createApiServer({
      ...environment,
      storage,
      features,
      kinds: catalog.definitions,
      types: catalog.types,
      authenticator: who.authenticator,
      authorizer: rights.authorizer,
      bootstrapRoles: rights.bootstrapRoles ? 'afterwards' : false,
      serviceAccountIssuer: who.accounts.issuer,
      ...(issuerDocuments === undefined ? {} : { issuerDocuments }),
      ...(who.proxyHeaders === undefined ? {} : { proxyHeaders: who.proxyHeaders }),
      admission: (parts) =>
        admission.make({
          ...parts,
          webhooks: { transport: webhooks, credentials: kubeconfigCredentials, ...services.reach },
          // By this lifetime the issuer knows mounted tokens, which live on when that is asked for.
          mountedTokenSeconds: options.serviceAccountExtendTokenExpiration ? extendableTokenSeconds : 3600,
        }),
      conversion: { transport: webhooks, ...services.reach },
      aggregation: { transport: proxies, ...others },
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
      onFault: (error) => log.error('a request failed', error),
      audit: [...audit.trails, ...(options.v >= 2 ? [(event: AuditEvent) => log.info(requestLine(event))] : [])],
    })
    services.attach(server, environment.random)
    await admission.ready()
    who.attach(server)
    followAuthorities(listening, { who, log })
    gate.open(server)
    const kubeconfig = await writeKubeconfig(options, { listening, who })
    const client = inProcessClient(server, { user: controllerManager, clock: environment.clock })
    if (options.publishClusterInfo) {
      await publishClusterInfo(client, { server: `https://${serverAddress}`, authority: listening.authority })
    }
    const controllers = runControllers({
      ...environment,
      client,
      controllers: wanted,
      bootstrapSigningKey: options.bootstrapSigningKey,
      rateLimit: controllersPace,
      onError: (error) => logControllers(error, { options, log }),
      ...(signing === undefined ? {} : { signing }),
      ...(who.accounts.issuer.issueLegacy === undefined ? {} : { legacyToken: who.accounts.issuer.issueLegacy }),
      ...(listening.authority === undefined ? {} : { rootCA: listening.authority }),
    })
    // Whichever controllers are chosen: these belong to the server.
    const ownObjects = runControllers({
      ...environment,
      client: inProcessClient(server, { user: serverItself, clock: environment.clock }),
      available: serverControllers(serverFacts(options, { port: listening.port, random: environment.random })),
      fieldManager: 'kube-apiserver',
      onError: (error) => options.v >= 1 && log.error('an object of the server itself cannot be kept yet', error),
    })
    const parts = { listening, controllers, ownObjects, server, who, rights, webhooks, proxies, others, audit, admission, yaml }
    return { url: listening.url, kubeconfig, close: () => close(parts) }
  } catch (error) {
    gate.fail()
    await listening?.close({ graceMs: 0 })
    await who[Symbol.asyncDispose]()
    await rights[Symbol.asyncDispose]()
    webhooks[Symbol.dispose]()
    proxies[Symbol.dispose]()
    others[Symbol.dispose]()
    await audit.close()
    await admission[Symbol.asyncDispose]()
    await yaml?.close()
    await storage?.close()
    throw error
  }
}

/** @throws CliError for priority and fairness with nothing to divide. */
function refuseNoSeats(options: ServeOptions): void {
  const { enablePriorityAndFairness, maxRequestsInflight: reads, maxMutatingRequestsInflight: writes } = options
  if (!enablePriorityAndFairness || reads + writes > 0) return
  const message = `--max-requests-inflight=${reads} and --max-mutating-requests-inflight=${writes} must add up to something positive`
  throw new CliError({ code: 'InvalidFlag', message: `${message} with --enable-priority-and-fairness` })
}

/** Requests that are never signed are told of nowhere else; all other failures are tried again. */
function logControllers(error: unknown, { options, log }: { readonly options: ServeOptions; readonly log: Log }): void {
  if (error instanceof ControllersError && error.code === 'NotSigned') log.error(error.message)
  else if (options.v >= 1) log.error('a controller failed and tries again', error)
}

/** Holds requests back that arrive between listening and being ready. */
class Gate {
  readonly #ready: Promise<EmbeddedServer | undefined>
  #server: EmbeddedServer | undefined
  #settle: (server: EmbeddedServer | undefined) => void = () => undefined

  constructor() {
    this.#ready = new Promise((settle) => {
      this.#settle = settle
    })
  }

  readonly handle = (request: ApiRequest): Promise<ApiResponse> => this.#server?.handle(request) ?? this.#wait(request)

  open(server: EmbeddedServer): void {
    this.#server = server
    this.#settle(server)
  }

  fail(): void {
    this.#settle(undefined)
  }

  async #wait(request: ApiRequest): Promise<ApiResponse> {
    const server = await this.#ready
    return server?.handle(request) ?? { status: 503, headers: {}, body: { kind: 'empty' } }
  }
}

async function listenOptions(options: ServeOptions, context: { readonly who: Authenticators; readonly log: Log }) {
  return {
    port: options.securePort,
    host: options.bindAddress,
    tls: await tlsOf(options, context.who.clientAuthorities()),
    goaway: { chance: options.goawayChance, random: environment.random },
    onError: (error: unknown) => context.log.error('a connection failed', error),
  }
}

async function tlsOf(options: ServeOptions, clientCa: string | undefined): Promise<TlsFiles | TlsSelfSigned> {
  const { tlsCertFile, tlsPrivateKeyFile } = options
  const believed = clientCa === undefined ? {} : { clientCa }
  if ((tlsCertFile === undefined) !== (tlsPrivateKeyFile === undefined)) {
    throw new CliError({ code: 'InvalidFlag', message: '--tls-cert-file and --tls-private-key-file go together' })
  }
  if (tlsCertFile !== undefined && tlsPrivateKeyFile !== undefined) {
    const pair = await readKeyPair({
      certificate: { flag: 'tls-cert-file', path: tlsCertFile },
      key: { flag: 'tls-private-key-file', path: tlsPrivateKeyFile },
    })
    return { ...pair, authority: pair.certificate, ...believed }
  }
  const directory = options.certDir ?? join(options.dataDir, 'pki')
  return selfSigned(directory, { ...environment, hosts: certificateHosts(options), ...believed })
}

async function openStorage(options: ServeOptions): Promise<Storage> {
  const common = { clock: environment.clock, historyMs: options.etcdCompactionInterval }
  return options.storage === 'memory' ? memoryStorage(common) : durableStorage({ ...common, dir: join(options.dataDir, 'data') })
}

async function writeKubeconfig(
  options: ServeOptions,
  context: { readonly listening: Listener; readonly who: Authenticators },
): Promise<string | undefined> {
  const { listening, who } = context
  const path = resolve(options.writeKubeconfig ?? join(options.dataDir, 'admin.kubeconfig'))
  if (options.writeKubeconfig === '') return undefined
  if (who.adminToken === undefined) {
    if (options.writeKubeconfig === undefined) return undefined
    throw new CliError({
      code: 'InvalidFlag',
      message: '--write-kubeconfig needs a token of group system:masters in the token file',
    })
  }
  await writeSecret(path, kubeconfigText({ server: listening.url, authority: listening.authority, token: who.adminToken }))
  return path
}

/** Clients choose a certificate by the authorities that they are told of. */
function followAuthorities(listening: Listener, { who, log }: { readonly who: Authenticators; readonly log: Log }): void {
  who.onClientAuthorities((pem) => {
    try {
      listening.setClientAuthorities(pem)
      log.info('the authorities of client certificates have changed')
    } catch (error) {
      log.error('the new authorities of client certificates cannot be used', error)
    }
  })
}

interface Parts {
  readonly listening: Listener
  readonly controllers: RunningControllers
  readonly ownObjects: RunningControllers
  readonly server: EmbeddedServer
  readonly who: Authenticators
  readonly rights: Authorization
  readonly webhooks: Disposable
  readonly proxies: Disposable
  readonly others: Disposable
  readonly audit: Trails
  readonly admission: ChosenPlugins
  readonly yaml: ClosableTranslator | undefined
}

/** From the outside in: no new requests, no more work of our own, then storage. */
async function close(serving: Parts): Promise<void> {
  await serving.listening.close()
  await serving.who[Symbol.asyncDispose]()
  await serving.controllers.close()
  await serving.ownObjects.close()
  await serving.server.close()
  serving.webhooks[Symbol.dispose]()
  serving.proxies[Symbol.dispose]()
  serving.others[Symbol.dispose]()
  await serving.audit.close()
  await serving.admission[Symbol.asyncDispose]()
  await serving.yaml?.close()
  await serving.rights[Symbol.asyncDispose]()
}

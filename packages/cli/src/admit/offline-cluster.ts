import type { AdmissionDecision } from '@krmkit/admission'
import { createApiServer, type EmbeddedServer } from '@krmkit/apiserver'
import { alwaysAllowAuthorizer } from '@krmkit/authorization'
import { createInProcessClient } from '@krmkit/client'
import { type RunningControllers, runControllers } from '@krmkit/controllers'
import { createCatalog, type ResourceDefinition } from '@krmkit/kinds'
import {
  type ApiObject,
  type Features,
  type JsonObject,
  type Status,
  stockProfile,
  systemClock,
  systemRandom,
  type UserInfo,
} from '@krmkit/meta'
import type { ApiResponse } from '@krmkit/protocol'
import { memoryStorage, type Storage } from '@krmkit/storage'
import { objectText } from 'krmkit/validate'
import { type ChosenPlugins, chooseAdmissionPlugins } from '../admission/choose-plugins.ts'
import { CliError, messageOf } from '../cli-error.ts'
import { featuresOf } from '../feature-gates.ts'
import type { AdmitFlags } from './admit-flags.ts'
import type { RequestedObject } from './requested-objects.ts'

/** The outcome of one simulated request. */
export interface AdmissionResult {
  readonly request: RequestedObject
  readonly operation: 'CREATE' | 'UPDATE'
  readonly allowed: boolean
  /** The object as stored; undefined for a refused request. */
  readonly object?: ApiObject
  /** The error; undefined for an accepted request. */
  readonly status?: Status
  readonly warnings: readonly string[]
  /** Decisions of the admission plugins that changed, refused, warned or annotated. */
  readonly decisions: readonly AdmissionDecision[]
}

const environment = { clock: systemClock, random: systemRandom, profile: stockProfile }
const administrator: UserInfo = { username: 'kubernetes-admin', groups: ['system:masters', 'system:authenticated'] }
const controllerManager: UserInfo = {
  username: 'system:kube-controller-manager',
  groups: ['system:masters', 'system:authenticated'],
}
/** Controllers that create objects which admission plugins read. */
const neededControllers = [
  'serviceaccount-controller',
  'root-ca-certificate-publisher-controller',
  'resourcequota-controller',
  'clusterrole-aggregation-controller',
]
/** Disabled: they call webhooks. */
const webhookPlugins = ['MutatingAdmissionWebhook', 'ValidatingAdmissionWebhook']

/**
 * An API server in memory with the objects of files and the admission plugins of flags. It opens no connections.
 */
export class OfflineCluster implements AsyncDisposable {
  readonly #server: EmbeddedServer
  readonly #controllers: RunningControllers
  readonly #plugins: ChosenPlugins
  readonly #user: UserInfo

  private constructor(parts: {
    readonly server: EmbeddedServer
    readonly controllers: RunningControllers
    readonly plugins: ChosenPlugins
    readonly user: UserInfo
  }) {
    this.#server = parts.server
    this.#controllers = parts.controllers
    this.#plugins = parts.plugins
    this.#user = parts.user
  }

  /** @throws CliError `InvalidFlag`, or `FileFailed` for an object that the cluster refuses. */
  static async start(
    flags: AdmitFlags,
    { seed, warn }: { readonly seed: readonly RequestedObject[]; readonly warn: (text: string) => void },
  ): Promise<OfflineCluster> {
    const disableAdmissionPlugins = [...flags.disableAdmissionPlugins, ...webhookPlugins]
    const plugins = await chooseAdmissionPlugins(
      { ...flags, disableAdmissionPlugins },
      { hasServiceAccounts: true, offline: true },
    )
    const features = featuresOf(flags.featureGates)
    for (const warning of features.warnings) warn(warning)
    const catalog = catalogOf(flags, features)
    const storage = memoryStorage({ clock: systemClock })
    const parts = { ...environment, storage, features, kinds: catalog.definitions, types: catalog.types }
    const webhookConfigurations = seed.filter(({ gvk }) => gvk.kind.endsWith('WebhookConfiguration')).length
    if (webhookConfigurations > 0)
      warn(
        `webhooks are not called: ignoring ${webhookConfigurations} webhook ${webhookConfigurations === 1 ? 'configuration' : 'configurations'}`,
      )
    await seedStorage(seed, { ...parts, storage: withoutClose(storage) })
    const server = await createApiServer({
      ...parts,
      authorizer: flags.as === undefined ? alwaysAllowAuthorizer : ({ rbac }) => rbac(),
      bootstrapRoles: flags.as !== undefined,
      admission: plugins.make,
    })
    const controllers = runControllers({
      ...environment,
      client: createInProcessClient(server, { user: controllerManager }),
      features,
      controllers: neededControllers,
    })
    await controllers.settled()
    const user =
      flags.as === undefined ? administrator : { username: flags.as, groups: [...flags.asGroup, 'system:authenticated'] }
    return new OfflineCluster({ server, controllers, plugins, user })
  }

  /** Creates an object, or updates the existing one. */
  async admit(given: RequestedObject): Promise<AdmissionResult> {
    const definition = await definitionOf(this.#server, given)
    const decisions: AdmissionDecision[] = []
    const paths = pathsOf(definition, given)
    const requested = { ...given, name: { ...given.name, namespace: paths.namespace } }
    const present = this.#server.registry.reader.get(
      { group: definition.storage.group, resource: definition.storage.resource },
      paths.namespace,
      requested.name.name,
    )
    const operation = present === undefined ? 'CREATE' : 'UPDATE'
    const object = withVersion(requested.object, present?.metadata.resourceVersion)
    const response = await this.#server.handle({
      ...request(operation === 'CREATE' ? 'POST' : 'PUT', operation === 'CREATE' ? paths.collection : paths.item, object),
      user: this.#user,
      decisions: (decision: AdmissionDecision) => void decisions.push(decision),
    })
    const body = await bodyOf(response)
    const warnings = warningsOf(response)
    if (response.status >= 400)
      return { request: requested, operation, allowed: false, status: body as unknown as Status, warnings, decisions }
    await this.#controllers.settled()
    return { request: requested, operation, allowed: true, object: body as unknown as ApiObject, warnings, decisions }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#controllers.close()
    await this.#server.close()
    await this.#plugins[Symbol.asyncDispose]()
  }
}

function catalogOf(flags: AdmitFlags, features: Features) {
  try {
    return createCatalog({ features, runtimeConfig: flags.runtimeConfig.join(',') })
  } catch (cause) {
    throw new CliError({ code: 'InvalidFlag', message: messageOf(cause), cause })
  }
}

/** Wraps a storage so that closing the server that seeds it leaves it open. */
function withoutClose(storage: Storage): Storage {
  return new Proxy(storage, {
    get(target, name) {
      if (name === 'close' || name === Symbol.asyncDispose) return async () => undefined
      const value = Reflect.get(target, name, target) as unknown
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

/** Stores the objects of the cluster without admission, as they were admitted earlier. */
async function seedStorage(seed: readonly RequestedObject[], parts: Parameters<typeof createApiServer>[0]): Promise<void> {
  const server = await createApiServer(parts)
  try {
    for (const requested of seed) await seedObject(server, requested)
  } finally {
    await server.close()
  }
}

async function seedObject(server: EmbeddedServer, requested: RequestedObject): Promise<void> {
  const definition = await definitionOf(server, requested)
  const { collection, item, namespace } = pathsOf(definition, requested)
  if (namespace !== '' && server.registry.reader.get({ group: '', resource: 'namespaces' }, '', namespace) === undefined) {
    const namespaceObject = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }
    await sendOrFail(server, { ...request('POST', '/api/v1/namespaces', namespaceObject), user: administrator }, requested)
  }
  const stored = definition.storage
  const present = server.registry.reader.get({ group: stored.group, resource: stored.resource }, namespace, requested.name.name)
  const object = withVersion(requested.object, present?.metadata.resourceVersion)
  const write = present === undefined ? request('POST', collection, object) : request('PUT', item, object)
  await sendOrFail(server, { ...write, user: administrator }, requested)
  const { status } = requested.object
  if (typeof status !== 'object' || status === null || !definition.subresources.some(({ name }) => name.endsWith('/status')))
    return
  const patch = { ...request('PATCH', `${item}/status`, { status } as JsonObject), user: administrator }
  await sendOrFail(server, { ...patch, headers: { 'content-type': 'application/merge-patch+json' } }, requested)
}

async function sendOrFail(
  server: EmbeddedServer,
  write: Parameters<EmbeddedServer['handle']>[0],
  { name, file }: RequestedObject,
): Promise<void> {
  const response = await server.handle(write)
  if (response.status < 400) return
  const { message = '' } = (await bodyOf(response)) as unknown as Status
  throw new CliError({ code: 'FileFailed', message: `${file}: ${objectText(name)}: ${message}` })
}

/** A new CustomResourceDefinition is served after a few turns of the event loop. */
const maxTurns = 200

async function definitionOf(server: EmbeddedServer, { gvk, name, file }: RequestedObject): Promise<ResourceDefinition> {
  for (let turn = 0; turn < maxTurns; turn++) {
    const found = server.registry.definitions.find(
      ({ kind, resource }) =>
        kind.kind === gvk.kind && kind.group === gvk.group && kind.version === gvk.version && resource.virtual !== true,
    )
    if (found !== undefined) return found
    await new Promise((resolve) => setImmediate(resolve))
  }
  const message = `${file}: the cluster does not serve ${name.kind} of ${name.apiVersion}; is its definition missing?`
  throw new CliError({ code: 'FileFailed', message })
}

function pathsOf({ group, version, resource, kind }: ResourceDefinition, { name }: RequestedObject) {
  const namespace = kind.namespaced ? name.namespace : ''
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
  const within = namespace === '' ? root : `${root}/namespaces/${encodeURIComponent(namespace)}`
  const collection = `${within}/${resource.name}`
  return { namespace, collection, item: `${collection}/${encodeURIComponent(name.name)}` }
}

/** Replaces the resourceVersion and uid of a manifest, so that updates apply to the current object. */
function withVersion(object: JsonObject, resourceVersion: string | undefined): JsonObject {
  const { resourceVersion: _, uid: __, ...metadata } = (object['metadata'] ?? {}) as JsonObject
  return { ...object, metadata: resourceVersion === undefined ? metadata : { ...metadata, resourceVersion } }
}

function request(method: string, path: string, body: object): Parameters<EmbeddedServer['handle']>[0] {
  const bytes = new TextEncoder().encode(JSON.stringify(body))
  return {
    method,
    path,
    query: 'fieldManager=krmkit',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: async () => bytes,
    peer: {},
    signal: new AbortController().signal,
  }
}

async function bodyOf({ body }: ApiResponse): Promise<JsonObject> {
  if (body.kind !== 'bytes') return {}
  return JSON.parse(new TextDecoder().decode(body.bytes)) as JsonObject
}

function warningsOf({ headers }: ApiResponse): string[] {
  const { warning = [] } = headers
  return [warning].flat().map((value) => {
    const quoted = /^299 \S+ "(.*)"$/s.exec(value)
    return quoted === null ? value : (quoted[1] ?? '').replace(/\\(.)/gs, '$1')
  })
}

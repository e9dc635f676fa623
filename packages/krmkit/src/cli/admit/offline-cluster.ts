import type { AdmissionDecision } from '@krmkit/admission'
import { type ApiResponse, createApiServer, type EmbeddedServer } from '@krmkit/apiserver'
import { alwaysAllow } from '@krmkit/authorization'
import { inProcessClient } from '@krmkit/client'
import { type RunningControllers, runControllers } from '@krmkit/controllers'
import { createCatalog, type ResourceDefinition } from '@krmkit/kinds'
import {
  type ApiObject,
  createFeatures,
  type JsonObject,
  type Status,
  stockProfile,
  systemClock,
  systemRandom,
  type UserInfo,
} from '@krmkit/meta'
import { memoryStorage, type Storage } from '@krmkit/storage'
import { type ChosenPlugins, chooseAdmissionPlugins } from '../admission/choose-plugins.ts'
import { CliError } from '../cli-error.ts'
import { objectText } from '../offline/objects.ts'
import type { AskedObject } from './requests.ts'
import type { AdmitFlags } from './run.ts'

/** What a cluster says to one object. */
export interface ClusterAnswer {
  readonly asked: AskedObject
  readonly operation: 'CREATE' | 'UPDATE'
  readonly allowed: boolean
  /** As it would be stored. */
  readonly object?: ApiObject
  /** Why not. */
  readonly status?: Status
  readonly warnings: readonly string[]
  /** What each admission plugin had to say; those that had nothing are left out. */
  readonly decisions: readonly AdmissionDecision[]
}

const environment = { clock: systemClock, random: systemRandom, profile: stockProfile }
const administrator: UserInfo = { username: 'kubernetes-admin', groups: ['system:masters', 'system:authenticated'] }
const controllerManager: UserInfo = {
  username: 'system:kube-controller-manager',
  groups: ['system:masters', 'system:authenticated'],
}
/** Those whose work decides over what admission sees. */
const neededControllers = [
  'serviceaccount-controller',
  'root-ca-certificate-publisher-controller',
  'resourcequota-controller',
  'clusterrole-aggregation-controller',
]
/** They would call services outside. */
const outsiders = ['MutatingAdmissionWebhook', 'ValidatingAdmissionWebhook']

/**
 * A whole API server in memory, with the objects that files describe, the plugins that flags choose, and no way outside.
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

  /** @throws CliError `InvalidFlag`, and `FileFailed` with what is wrong with an object of the cluster. */
  static async start(
    flags: AdmitFlags,
    { seed, warn }: { readonly seed: readonly AskedObject[]; readonly warn: (text: string) => void },
  ): Promise<OfflineCluster> {
    const disableAdmissionPlugins = [...flags.disableAdmissionPlugins, ...outsiders]
    const plugins = await chooseAdmissionPlugins(
      { ...flags, disableAdmissionPlugins },
      { hasServiceAccounts: true, offline: true },
    )
    const features = createFeatures('1.33', flags.featureGates)
    const catalog = catalogOf(flags, features)
    const storage = memoryStorage({ clock: systemClock })
    const parts = { ...environment, storage, features, kinds: catalog.definitions, types: catalog.types }
    const hooks = seed.filter(({ gvk }) => gvk.kind.endsWith('WebhookConfiguration')).length
    if (hooks > 0)
      warn(`webhooks are not called; ${hooks} ${hooks === 1 ? 'configuration' : 'configurations'} of them would count`)
    await plant(seed, { ...parts, storage: unclosed(storage) })
    const server = await createApiServer({
      ...parts,
      authorizer: flags.as === undefined ? alwaysAllow : ({ rbac }) => rbac(),
      bootstrapRoles: flags.as !== undefined,
      admission: plugins.make,
    })
    const controllers = runControllers({
      ...environment,
      client: inProcessClient(server, { user: controllerManager }),
      controllers: neededControllers,
    })
    await controllers.settled()
    const user =
      flags.as === undefined ? administrator : { username: flags.as, groups: [...flags.asGroup, 'system:authenticated'] }
    return new OfflineCluster({ server, controllers, plugins, user })
  }

  /** Creates an object, or updates it where it is there. */
  async ask(given: AskedObject): Promise<ClusterAnswer> {
    const definition = await definitionOf(this.#server, given)
    const decisions: AdmissionDecision[] = []
    const place = placeOf(definition, given)
    const asked = { ...given, name: { ...given.name, namespace: place.namespace } }
    const present = this.#server.registry.reader.get(
      { group: definition.storage.group, resource: definition.storage.resource },
      place.namespace,
      asked.name.name,
    )
    const operation = present === undefined ? 'CREATE' : 'UPDATE'
    const object = withVersion(asked.object, present?.metadata.resourceVersion)
    const response = await this.#server.handle({
      ...request(operation === 'CREATE' ? 'POST' : 'PUT', operation === 'CREATE' ? place.collection : place.item, object),
      user: this.#user,
      decisions: (decision) => void decisions.push(decision),
    })
    const body = await bodyOf(response)
    const warnings = warningsOf(response)
    if (response.status >= 400)
      return { asked, operation, allowed: false, status: body as unknown as Status, warnings, decisions }
    await this.#controllers.settled()
    return { asked, operation, allowed: true, object: body as unknown as ApiObject, warnings, decisions }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#controllers.close()
    await this.#server.close()
    await this.#plugins[Symbol.asyncDispose]()
  }
}

function catalogOf(flags: AdmitFlags, features: ReturnType<typeof createFeatures>) {
  try {
    return createCatalog({ features, runtimeConfig: flags.runtimeConfig.join(',') })
  } catch (cause) {
    throw new CliError({ code: 'InvalidFlag', message: cause instanceof Error ? cause.message : String(cause), cause })
  }
}

/** The same storage for a server that ends before another one begins. */
function unclosed(storage: Storage): Storage {
  return new Proxy(storage, {
    get(target, name) {
      if (name === 'close' || name === Symbol.asyncDispose) return async () => undefined
      const value = Reflect.get(target, name, target) as unknown
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

/** What runs in a cluster was taken before the plugins were chosen: they are not asked about it. */
async function plant(seed: readonly AskedObject[], parts: Parameters<typeof createApiServer>[0]): Promise<void> {
  const server = await createApiServer(parts)
  try {
    for (const asked of seed) await plantOne(server, asked)
  } finally {
    await server.close()
  }
}

async function plantOne(server: EmbeddedServer, asked: AskedObject): Promise<void> {
  const definition = await definitionOf(server, asked)
  const { collection, item, namespace } = placeOf(definition, asked)
  if (namespace !== '' && server.registry.reader.get({ group: '', resource: 'namespaces' }, '', namespace) === undefined) {
    const made = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }
    await sent(server, { ...request('POST', '/api/v1/namespaces', made), user: administrator }, asked)
  }
  const stored = definition.storage
  const present = server.registry.reader.get({ group: stored.group, resource: stored.resource }, namespace, asked.name.name)
  const object = withVersion(asked.object, present?.metadata.resourceVersion)
  const how = present === undefined ? request('POST', collection, object) : request('PUT', item, object)
  await sent(server, { ...how, user: administrator }, asked)
  const { status } = asked.object
  if (typeof status !== 'object' || status === null || !definition.subresources.some(({ name }) => name.endsWith('/status')))
    return
  const patch = { ...request('PATCH', `${item}/status`, { status } as JsonObject), user: administrator }
  await sent(server, { ...patch, headers: { 'content-type': 'application/merge-patch+json' } }, asked)
}

async function sent(
  server: EmbeddedServer,
  how: Parameters<EmbeddedServer['handle']>[0],
  { name, file }: AskedObject,
): Promise<void> {
  const response = await server.handle(how)
  if (response.status < 400) return
  const { message = '' } = (await bodyOf(response)) as unknown as Status
  throw new CliError({ code: 'FileFailed', message: `${file}: ${objectText(name)}: ${message}` })
}

/** Definitions that were just made take a few turns until their resources are served. */
const turns = 200

async function definitionOf(server: EmbeddedServer, { gvk, name, file }: AskedObject): Promise<ResourceDefinition> {
  for (let turn = 0; turn < turns; turn++) {
    const found = server.registry.definitions.find(
      ({ kind, resource }) =>
        kind.kind === gvk.kind && kind.group === gvk.group && kind.version === gvk.version && resource.virtual !== true,
    )
    if (found !== undefined) return found
    await new Promise((resolve) => setImmediate(resolve))
  }
  const message = `${file}: the cluster has no ${name.kind} of ${name.apiVersion}; does it lack a definition?`
  throw new CliError({ code: 'FileFailed', message })
}

function placeOf({ group, version, resource, kind }: ResourceDefinition, { name }: AskedObject) {
  const namespace = kind.namespaced ? name.namespace : ''
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
  const within = namespace === '' ? root : `${root}/namespaces/${encodeURIComponent(namespace)}`
  const collection = `${within}/${resource.name}`
  return { namespace, collection, item: `${collection}/${encodeURIComponent(name.name)}` }
}

/** Updates are meant for what is there; who described it did not know its version. */
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

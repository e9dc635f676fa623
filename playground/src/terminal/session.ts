import { isJsonObject, type JsonObject, type UserInfo } from '@krmkit/meta'
import type { Cluster, ClusterRequest } from '../cluster.ts'
import { findResource, pathOf, readResources, resourceOfKind, type ServedResource } from '../discovery.ts'
import { manifestObjects } from '../manifests.ts'
import { type Arguments, flagOf, isSet } from './arguments.ts'
import { statusError, TerminalError } from './terminal-error.ts'

/** What commands share: the cluster, the arguments, and the output. */

export interface Output {
  print(text: string): void
  /** Prints to the error stream. */
  warn(text: string): void
}

export interface SessionOptions {
  readonly cluster: Cluster
  /** Text of the editor, which `-f` names. */
  readonly manifests: string
  /** Default namespace. */
  readonly namespace: string
  readonly output: Output
  /** Ends watches. */
  readonly signal: AbortSignal
}

/** A resource with the names that a command was given. */
export interface Target {
  readonly resource: ServedResource
  /** Empty: the whole collection. */
  readonly names: readonly string[]
}

/** One run of a command. */
export class Session {
  readonly given: Arguments
  readonly output: Output
  readonly cluster: Cluster
  readonly signal: AbortSignal
  readonly #options: SessionOptions
  #resources: Promise<readonly ServedResource[]> | undefined

  constructor(given: Arguments, options: SessionOptions) {
    this.given = given
    this.#options = options
    this.output = options.output
    this.cluster = options.cluster
    this.signal = options.signal
  }

  get namespace(): string {
    return flagOf(this.given, 'namespace') ?? this.#options.namespace
  }

  /** The user of `--as`; undefined is the administrator. */
  get user(): UserInfo | undefined {
    const name = flagOf(this.given, 'as')
    if (name === undefined) return undefined
    return { username: name, groups: [...(this.given.flags.get('as-group') ?? []), 'system:authenticated'] }
  }

  resources(): Promise<readonly ServedResource[]> {
    this.#resources ??= readResources(this.cluster)
    return this.#resources
  }

  async resource(text: string): Promise<ServedResource> {
    const found = findResource(await this.resources(), text)
    if (found === undefined) throw new TerminalError(`the server doesn't have a resource type "${text}"`)
    return found
  }

  /** The targets of `pods web`, `pod/web deploy/web` or `pods,services`. */
  async targets(words: readonly string[]): Promise<Target[]> {
    const [first, ...names] = words
    if (first === undefined) throw new TerminalError('a resource is missing, such as: pods, deploy/web, configmaps game')
    if (first.includes('/')) return Promise.all(words.map((word) => this.#slashed(word)))
    return Promise.all(first.split(',').map(async (text) => ({ resource: await this.resource(text), names })))
  }

  async #slashed(word: string): Promise<Target> {
    const [text = '', name = ''] = word.split('/', 2)
    if (name === '') throw new TerminalError(`expected TYPE/NAME, found ${word}`)
    return { resource: await this.resource(text), names: [name] }
  }

  /** The only object that the words name. */
  async object(words: readonly string[]): Promise<{ readonly resource: ServedResource; readonly name: string }> {
    const [target] = await this.targets(words)
    const [name] = target?.names ?? []
    if (target === undefined || name === undefined) throw new TerminalError('the name of an object is missing')
    return { resource: target.resource, name }
  }

  /** Path of an object in the namespace of the command. */
  pathOf(resource: ServedResource, name?: string, subresource?: string): string {
    const namespace = isSet(this.given, 'all-namespaces') && name === undefined ? {} : { namespace: this.namespace }
    return pathOf(resource, {
      ...namespace,
      ...(name === undefined ? {} : { name }),
      ...(subresource === undefined ? {} : { subresource }),
    })
  }

  /** The objects of the editor with their resources. */
  async manifestObjects(): Promise<
    {
      readonly object: JsonObject
      readonly resource: ServedResource
      readonly name: string
      readonly path: (named: boolean) => string
    }[]
  > {
    if (flagOf(this.given, 'filename') === undefined)
      throw new TerminalError('must specify -f; the playground has one file, the editor: -f editor')
    const found = []
    for (const object of manifestObjects(this.#options.manifests)) {
      const { apiVersion, kind, metadata } = object
      const resource = resourceOfKind(await this.resources(), String(apiVersion), String(kind)) ?? (await this.#fresh(object))
      const { name = '', namespace = this.namespace } = isJsonObject(metadata)
        ? (metadata as { name?: string; namespace?: string })
        : {}
      const place = resource.namespaced ? { namespace } : {}
      const path = (named: boolean) => pathOf(resource, { ...place, ...(named ? { name } : {}) })
      found.push({ object, resource, name, path })
    }
    if (found.length === 0) throw new TerminalError('the editor has no objects')
    return found
  }

  /** Reads the resources again: a definition among the manifests may have just been created. */
  async #fresh({ apiVersion, kind }: JsonObject): Promise<ServedResource> {
    this.#resources = undefined
    const found = resourceOfKind(await this.resources(), String(apiVersion), String(kind))
    if (found === undefined) throw new TerminalError(`no matches for kind "${String(kind)}" in version "${String(apiVersion)}"`)
    return found
  }

  /** Sends a request, prints warnings, and parses the response. @throws TerminalError for failures, with the message of the server */
  async send<T = JsonObject>(request: ClusterRequest): Promise<T> {
    const user = this.user
    const response = await this.cluster.request({ signal: this.signal, ...request, ...(user === undefined ? {} : { user }) })
    for (const text of response.warnings) this.output.warn(`Warning: ${text}`)
    if (response.status >= 300) throw statusError(response.text)
    return JSON.parse(response.text) as T
  }

  /** Query of writes: dry run and field manager. */
  writeQuery(fieldManager: string, extra: Readonly<Record<string, string>> = {}): string {
    const query = new URLSearchParams({
      fieldManager: flagOf(this.given, 'field-manager') ?? fieldManager,
      fieldValidation: 'Strict',
      ...extra,
    })
    if (flagOf(this.given, 'dry-run') === 'server') query.set('dryRun', 'All')
    return query.toString()
  }

  /** ` (server dry run)` */
  get dryRunText(): string {
    return flagOf(this.given, 'dry-run') === 'server' ? ' (server dry run)' : ''
  }
}

/** `configmap/game`, `deployment.apps/web` */
export function printedName({ singularName, kind, group }: ServedResource, name: string): string {
  return `${singularName || kind.toLowerCase()}${group === '' ? '' : `.${group}`}/${name}`
}

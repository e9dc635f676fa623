import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import {
  type AdmissionConfiguration,
  AdmissionError,
  arrangeStaticObjects,
  type OpenStaticObjects,
  type StaticObject,
  type StaticObjects,
  staticManifestsDir,
} from '@krmkit/admission'
import { type Clock, type Features, type NamingProfile, parseApiVersion } from '@krmkit/meta'
import type { ManifestFile } from 'krmkit/validate'
import { CliError, messageOf } from '../cli-error.ts'

/** Webhook configurations and policies in folders, which plugins use besides those of the API. */

export interface StaticManifestsOptions {
  readonly clock: Clock
  readonly profile: NamingProfile
  readonly features: Features
  /** Called when changed files cannot be used; the former objects stay in effect. */
  readonly onError: (error: unknown) => void
  /** Called after changed files took effect. */
  readonly onReload?: (folder: string) => void
}

export interface StaticManifests extends Disposable {
  readonly open: OpenStaticObjects
}

const flag = 'admission-control-config-file'
const everyMs = 10_000
const extensions: ReadonlySet<string> = new Set(['.yaml', '.yml', '.json'])

/**
 * Reads the folders that the configurations of plugins name, and reads them again when their files change.
 *
 * @throws CliError `InvalidFlag` for a configuration, folder or object that cannot be used.
 */
export async function readStaticManifests(
  configuration: AdmissionConfiguration,
  options: StaticManifestsOptions,
): Promise<StaticManifests> {
  const folders = new Map<string, WatchedFolder>()
  const close = () => {
    for (const folder of folders.values()) folder[Symbol.dispose]()
  }
  try {
    for (const [plugin, own] of configuration) {
      const path = staticManifestsDir(plugin, own, options)
      if (path === undefined) continue
      const folder = new WatchedFolder(plugin, path, options)
      folders.set(plugin, folder)
      await folder.start()
    }
  } catch (cause) {
    close()
    throw new CliError({ code: 'InvalidFlag', message: `--${flag}: ${messageOf(cause)}`, cause })
  }
  return {
    open(plugin, path) {
      const folder = folders.get(plugin)
      if (folder !== undefined) return folder
      const message = `the folder ${path} of admission plugin ${plugin} has not been read`
      throw new AdmissionError({ code: 'InvalidConfiguration', message })
    },
    [Symbol.dispose]: close,
  }
}

/** The objects of a folder, which is polled for changes. */
class WatchedFolder implements StaticObjects, Disposable {
  readonly #plugin: string
  readonly #path: string
  readonly #options: StaticManifestsOptions
  #objects: StaticObjects = { list: () => [] }
  #hash = ''
  #ended = false
  #cancel: (() => void) | undefined

  constructor(plugin: string, path: string, options: StaticManifestsOptions) {
    this.#plugin = plugin
    this.#path = path
    this.#options = options
  }

  list(resource: string): ReturnType<StaticObjects['list']> {
    return this.#objects.list(resource)
  }

  async start(): Promise<void> {
    await this.#read()
    this.#schedule()
  }

  [Symbol.dispose](): void {
    this.#ended = true
    this.#cancel?.()
  }

  #schedule(): void {
    if (!this.#ended) this.#cancel = this.#options.clock.setTimeout(() => void this.#look(), everyMs)
  }

  async #look(): Promise<void> {
    try {
      if (await this.#read()) this.#options.onReload?.(this.#path)
    } catch (error) {
      this.#options.onError(error)
    }
    this.#schedule()
  }

  /** Files that cannot be used are reported once, until they change. @returns whether the objects are others. */
  async #read(): Promise<boolean> {
    const files = await filesOf(this.#path)
    const hash = hashOf(files)
    if (hash === this.#hash) return false
    this.#hash = hash
    this.#objects = arrangeStaticObjects(this.#plugin, await objectsIn(files, this.#options), this.#options.profile)
    return true
  }
}

/** The files of a folder with objects, by name. @throws Error of `node:fs` */
async function filesOf(folder: string): Promise<ManifestFile[]> {
  const entries = await readdir(folder, { withFileTypes: true })
  const paths = entries
    .filter((entry) => !entry.isDirectory() && extensions.has(extname(entry.name).toLowerCase()))
    .map(({ name }) => join(folder, name))
    .sort((a, b) => (a < b ? -1 : 1))
  return Promise.all(paths.map(async (path) => ({ path, text: await readFile(path, 'utf8') })))
}

function hashOf(files: readonly ManifestFile[]): string {
  const hash = createHash('sha256')
  for (const { path, text } of files) hash.update(path).update('\0').update(text).update('\0')
  return hash.digest('hex')
}

/** The objects of files with the defaults of the release. @throws Error for the first invalid object */
async function objectsIn(files: readonly ManifestFile[], { features }: StaticManifestsOptions): Promise<StaticObject[]> {
  const { documentsOf, nameOf, objectsOf, OfflineKinds, validatorOf, withDefaults } = await import('krmkit/validate')
  const kinds = new OfflineKinds({ release: features.release.version, features: allowingStaticNames(features) })
  await kinds.load()
  const { findings } = await validatorOf(kinds, {}).validate(files)
  const problem = findings.find(({ severity }) => severity === 'error')
  if (problem !== undefined) {
    const { file, object, path, message } = problem
    const subject = object === undefined ? '' : `${object.kind} ${JSON.stringify(object.name)}: `
    throw new Error(`error loading ${file}: ${subject}${path === '' ? '' : `${path}: `}${message}`)
  }
  return files.flatMap((file) =>
    documentsOf(file)
      .flatMap((document) => (document.kind === 'document' ? objectsOf(document) : []))
      .map((found): StaticObject => {
        const { apiVersion, kind } = nameOf(found)
        const object = { ...(found.value as object), apiVersion, kind, metadata: metadataOf(found.value) }
        const type = kinds.find({ ...parseApiVersion(apiVersion), kind })
        return { file: file.path, object: type.kind === 'found' ? withDefaults(type.definition, object) : object }
      }),
  )
}

/** Names that requests must not use are those that the objects of files must have. */
function allowingStaticNames(features: Features): Features {
  const enabled: Features['enabled'] = (gate, byDefault) =>
    gate !== 'ManifestBasedAdmissionControlConfig' && features.enabled(gate, byDefault)
  return { ...features, enabled }
}

function metadataOf(value: unknown): { name?: string } {
  return (value as { metadata?: { name?: string } | null }).metadata ?? {}
}

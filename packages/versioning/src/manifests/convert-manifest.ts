import {
  type ApiObject,
  defaultRelease,
  formatApiVersion,
  type GroupVersionKind,
  isJsonObject,
  type JsonObject,
  parseApiVersion,
} from '@krmkit/meta'
import { type ManifestDocument, readManifest, rewriteManifest, type TextRange } from '@krmkit/schema/manifest'
import { meetDemands } from './demands.ts'
import { type FoundObject, joinPath, type ManifestObjectName, objectsIn } from './objects.ts'
import { podSecurityLevel } from './pod-security.ts'
import { type Target, TargetVersions } from './target-version.ts'

/** Converts the objects of a manifest to other versions, by editing its text. */

export interface ConvertManifestOptions {
  /**
   * Group and version to convert to, `networking.k8s.io/v1`; objects of kinds without this version are not converted. Takes
   * precedence over `release`.
   */
  readonly to?: string
  /**
   * Release for which to convert: objects that it does not serve or deprecates are converted. Default: the newest recorded
   * release.
   */
  readonly release?: string
  /** Whether to accept only JSON, as for a `.json` file. Default false. */
  readonly json?: boolean
}

/** An object that was converted. */
export interface ConvertedManifestObject {
  /** Number of the document, from 1. */
  readonly document: number
  /** The object before the conversion. */
  readonly object: ManifestObjectName
  /** Previous version, such as `batch/v1beta1`. */
  readonly from: string
  readonly to: string
  /** Position of its apiVersion in the given text. */
  readonly range: TextRange
}

/** A problem of a conversion: something that cannot be converted, or needs attention. */
export interface ConversionProblem {
  /** Number of the document, from 1. */
  readonly document: number
  readonly object?: ManifestObjectName
  /** Path in the document. */
  readonly path: string
  /** Position in the given text. */
  readonly range: TextRange
  /** `error`: the object is not converted, or a server would reject it; `warning`: it behaves differently. */
  readonly severity: 'error' | 'warning'
  readonly message: string
}

export interface ConvertedManifest {
  readonly text: string
  readonly converted: readonly ConvertedManifestObject[]
  readonly problems: readonly ConversionProblem[]
}

/**
 * Converts the objects of a text of YAML or JSON. Comments, order and style of the text are kept. An object that the target
 * cannot express without loss is reported and not converted, and so is a text that cannot be parsed.
 *
 * @throws VersioningError `InvalidRelease`; MetaError for an invalid `to`.
 * @example
 * import { convertManifest } from '@krmkit/versioning'
 * const text = 'apiVersion: batch/v1beta1 # soon gone\nkind: CronJob\n'
 * convertManifest(text, { release: '1.25' }).text // 'apiVersion: batch/v1 # soon gone\nkind: CronJob\n'
 * @see API protocol specification, 9.4
 */
export function convertManifest(text: string, options: ConvertManifestOptions = {}): ConvertedManifest {
  const { json = false } = options
  const problems: ConversionProblem[] = []
  const documents: ManifestDocument[] = []
  for (const [index, document] of readManifest(text, { json }).entries()) {
    if (document.kind === 'document') documents.push(document)
    else {
      const { message, range } = document
      problems.push({ document: index + 1, path: '', range, severity: 'error', message })
    }
  }
  if (problems.length > 0) return { text, converted: [], problems }
  const converter = new Converter(options)
  const isCurrent = documents.every(({ value }) => converter.isCurrent(value))
  if (isCurrent) return { text, converted: [], problems: [] }
  const converted: ConvertedManifestObject[] = []
  const { text: written, unchanged } = rewriteManifest(
    text,
    (value, index) => {
      const document = documents[index]
      if (document === undefined) return value
      const result = converter.document(value, { document, number: index + 1 })
      converted.push(...result.converted)
      problems.push(...result.problems)
      return result.value
    },
    { json },
  )
  for (const index of unchanged) {
    const range = (documents[index] as ManifestDocument).range('apiVersion')
    const message = 'the document is not converted: its anchors or its form do not allow the change'
    problems.push({ document: index + 1, path: '', range, severity: 'error', message })
  }
  return { text: written, converted: converted.filter(({ document }) => !unchanged.includes(document - 1)), problems }
}

interface Where {
  readonly document: ManifestDocument
  readonly number: number
}

class Converter {
  readonly #targets = new TargetVersions()
  readonly #to: ReturnType<typeof parseApiVersion> | undefined
  readonly #release: string

  constructor({ to, release = defaultRelease }: ConvertManifestOptions) {
    this.#to = to === undefined ? undefined : parseApiVersion(to)
    this.#release = release
  }

  /** Whether no object of a value needs conversion. */
  isCurrent(value: unknown): boolean {
    return objectsIn(value).every(({ gvk }) => this.#target(gvk).kind === 'keep')
  }

  document(given: unknown, { document, number }: Where) {
    const converted: ConvertedManifestObject[] = []
    const problems: ConversionProblem[] = []
    const itemVersions: string[] = []
    let value = given
    for (const found of objectsIn(given)) {
      const { apiVersion, kind, namespace, name, at } = found
      const object = { apiVersion, kind, namespace, name }
      const note = (severity: 'error' | 'warning', path: string, message: string): void => {
        const full = joinPath(at, path)
        problems.push({ document: number, object, path: full, range: document.range(full), severity, message })
      }
      const result = this.#object(found, note)
      if (result === undefined) continue
      value = withObject(value, at, result.object)
      if (/^items\[\d+\]$/.test(at)) itemVersions.push(result.to)
      const range = document.range(joinPath(at, 'apiVersion'))
      converted.push({ document: number, object, from: apiVersion, to: result.to, range })
    }
    return { value: withListVersion(value, itemVersions), converted, problems }
  }

  #target(gvk: GroupVersionKind): Target {
    return this.#to === undefined ? this.#targets.forRelease(gvk, this.#release) : this.#targets.toVersion(gvk, this.#to)
  }

  #object(
    { gvk, object }: FoundObject,
    note: (severity: 'error' | 'warning', path: string, message: string) => void,
  ): { readonly object: JsonObject; readonly to: string } | undefined {
    const target = this.#target(gvk)
    if (target.kind === 'keep') return undefined
    if (target.kind === 'none') {
      note('error', 'apiVersion', `${target.message}${gvk.kind === 'PodSecurityPolicy' ? `; ${wayOut(object)}` : ''}`)
      return undefined
    }
    const to = formatApiVersion(target.to)
    const typed = { ...object, kind: gvk.kind } as unknown as ApiObject
    let isLossy = false
    const converted = target.convert(typed, (path, reason) => {
      isLossy = true
      note('error', path, `not converted, because ${to} cannot express it: ${reason}`)
    })
    if (isLossy) return undefined
    // Items of a typed list may have neither apiVersion nor kind.
    const absent = ['apiVersion', 'kind'].filter((name) => !Object.hasOwn(object, name))
    const members = Object.entries(converted).filter(([name]) => !absent.includes(name))
    const placed = inOrder(Object.fromEntries(members) as JsonObject, object)
    return { object: meetDemands(target.to, placed, note), to }
  }
}

/** Keeps the order of the members that both objects have. */
function inOrder(object: JsonObject, before: JsonObject): JsonObject {
  const kept = Object.keys(before).filter((name) => Object.hasOwn(object, name))
  const isSame = kept.every((name, index) => Object.keys(object).filter((each) => kept.includes(each))[index] === name)
  if (isSame) return object
  const added = Object.keys(object).filter((name) => !kept.includes(name))
  return Object.fromEntries([...kept, ...added].map((name) => [name, object[name]])) as JsonObject
}

/** Returns a copy of the value with an object replaced at a path such as `items[3]`. */
function withObject(value: unknown, at: string, object: JsonObject): unknown {
  const step = /^(?:\.?items)\[(\d+)\]/.exec(at)
  if (step === null || !isJsonObject(value)) return object
  const rest = at.slice(step[0].length).replace(/^\./, '')
  const items = (value['items'] as readonly unknown[]).map((item, index) =>
    index === Number(step[1]) ? withObject(item, rest, object) : item,
  )
  return { ...value, items }
}

/** Sets the version of a typed list to the version of its items. */
function withListVersion(value: unknown, itemVersions: readonly string[]): unknown {
  if (!isJsonObject(value)) return value
  const { kind, items } = value
  const [version] = itemVersions
  if (version === undefined || typeof kind !== 'string' || kind === 'List' || !Array.isArray(items)) return value
  const isWhole = itemVersions.length === items.length && itemVersions.every((each) => each === version)
  return isWhole ? { ...value, apiVersion: version } : value
}

function wayOut(policy: JsonObject): string {
  const { level, because, notCarried } = podSecurityLevel(policy)
  const why = because.length === 0 ? '' : ` (because of ${because.join(', ')})`
  const rest = notCarried.length === 0 ? '' : `, which cannot express ${notCarried.join(', ')}`
  return `label the namespaces whose pods use it with pod-security.kubernetes.io/enforce: ${level}${why}${rest}; bindings to users have no equivalent`
}

import {
  apply,
  type Change,
  type ConflictExplanation,
  explainConflict,
  extract,
  FieldManagerError,
  preview,
  type Resolution,
} from '@krmkit/fieldmanager'
import { Deployment } from '@krmkit/kinds/apps/v1'
import { ConfigMap, Service } from '@krmkit/kinds/core/v1'
import { isJsonObject, type JsonObject } from '@krmkit/meta'
import { DecodeError, decode, decodeUntyped, printYaml, type StructType } from '@krmkit/schema'
import { readManifest } from '@krmkit/schema/manifest'

/** One object and its field managers, independent of the page. */

export type Outcome =
  | {
      readonly kind: 'applied'
      readonly changes: readonly Change[]
      readonly created: boolean /** The configuration that was applied. */
      readonly yaml: string
    }
  | { readonly kind: 'conflict'; readonly explanations: readonly ConflictExplanation[] }
  /** The configuration is invalid. */
  | { readonly kind: 'refused'; readonly message: string }

/** Kinds with known list and map types; for others, maps are granular and lists atomic. */
const handles = [Deployment, ConfigMap, Service]

export class Workshop {
  live: JsonObject | undefined
  readonly #now: () => number

  constructor(now: () => number) {
    this.#now = now
  }

  /** Applies a configuration, or resolves its conflicts in one way. */
  apply(manager: string, yaml: string, resolution?: Resolution): Outcome {
    const read = this.#read(yaml)
    if (typeof read === 'string') return { kind: 'refused', message: read }
    if (manager.trim() === '') return { kind: 'refused', message: 'The manager needs a name.' }
    const schema = typeOf(read)
    const request = { live: this.live, applied: read, manager, now: this.#now(), ...(schema === undefined ? {} : { schema }) }
    try {
      const before = this.live
      const result = resolution === undefined ? { ...apply(request), applied: read } : preview(request, resolution)
      if (result.conflicts.length > 0) {
        const about = { live: before ?? {}, applied: read, ...(schema === undefined ? {} : { schema }) }
        return { kind: 'conflict', explanations: result.conflicts.map((conflict) => explainConflict(conflict, about)) }
      }
      this.live = result.object
      const text = result.applied === read ? yaml : printYaml(result.applied)
      return { kind: 'applied', changes: result.changes, created: before === undefined, yaml: text }
    } catch (error) {
      if (error instanceof FieldManagerError) return { kind: 'refused', message: error.message }
      throw error
    }
  }

  /** The configuration of a manager, extracted from its owned fields. */
  extract(manager: string): string | undefined {
    if (this.live === undefined) return undefined
    const schema = this.schema
    return printYaml(extract(this.live, manager, schema === undefined ? {} : { schema }))
  }

  get schema(): StructType | undefined {
    return this.live === undefined ? undefined : typeOf(this.live)
  }

  /** The configuration, or its error. */
  #read(yaml: string): JsonObject | string {
    const [document, ...more] = readManifest(yaml)
    if (document === undefined) return 'There is nothing to apply.'
    if (document.kind === 'error') return `Line ${document.range.line}: ${document.message}.`
    if (more.length > 0) return 'One object at a time, please.'
    const [twice] = document.repeated()
    if (twice !== undefined) return `Line ${twice.range.line}: ${twice.path} is there twice.`
    try {
      const object = decodeUntyped<JsonObject>(document.value).object
      const type = typeOf(object)
      const [problem] = type === undefined ? [] : decode(type, document.value).problems
      if (problem !== undefined) return `${problem[0]?.toUpperCase()}${problem.slice(1)}.`
      return this.#fits(object) ?? object
    } catch (error) {
      if (!(error instanceof DecodeError)) throw error
      const { path } = error
      return path === undefined || path === '' ? error.message : `Line ${document.range(path).line}: ${path} has the wrong type.`
    }
  }

  #fits(object: JsonObject): string | undefined {
    const name = nameOf(object)
    if (name === undefined) return 'An object needs apiVersion, kind and metadata.name.'
    const own = this.live === undefined ? name : nameOf(this.live)
    return own === name ? undefined : `The object is ${own}, not ${name}. Start afresh to apply another one.`
  }
}

function typeOf({ apiVersion, kind }: JsonObject): StructType | undefined {
  return handles.find((each) => each.apiVersion === apiVersion && each.kind === kind)?.type()
}

/** Identifies the object, such as `Deployment web`; required to apply. */
export function nameOf({ apiVersion, kind, metadata }: JsonObject): string | undefined {
  const { name } = isJsonObject(metadata) ? metadata : {}
  const complete = [apiVersion, kind, name].every((each) => typeof each === 'string' && each !== '')
  return complete ? `${String(kind)} ${String(name)}` : undefined
}

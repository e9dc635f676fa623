import type { ManifestDocument, TextRange } from '@krmkit/schema/manifest'
import type { OfflineKinds } from '../offline/kinds.ts'
import { documentsOf, type ManifestFile } from '../offline/manifest-files.ts'
import { type ManifestObject, nameOf, type ObjectName, objectsOf, objectText } from '../offline/objects.ts'
import { type CheckOptions, checkObject } from './check-object.ts'
import type { Finding, Problem, Severity } from './findings.ts'

/** Validates all documents of many files. */

export interface ValidateOptions {
  /** Severity of unknown and duplicate fields. */
  readonly fields: Severity | 'ignored'
  /** Whether objects of unknown kinds are accepted. */
  readonly ignoreUnknownKinds: boolean
}

/** The result of one file. */
export interface ValidatedFile {
  readonly findings: readonly Finding[]
  readonly objects: number
  readonly unchecked: number
}

/** Validates files one by one, and remembers objects to find duplicates across files. */
export class Validator {
  readonly #kinds: OfflineKinds
  readonly #options: ValidateOptions
  /** Identity of an object -> its first occurrence. */
  readonly #seen = new Map<string, { readonly file: string; readonly range: () => TextRange }>()

  constructor(kinds: OfflineKinds, options: ValidateOptions) {
    this.#kinds = kinds
    this.#options = options
  }

  async file(file: ManifestFile): Promise<ValidatedFile> {
    const findings: Finding[] = []
    let objects = 0
    let unchecked = 0
    for (const [index, document] of documentsOf(file).entries()) {
      const where = { file: file.path, document: index + 1 }
      if (document.kind === 'error') {
        const { message, range } = document
        findings.push({ ...where, rule: 'syntax', severity: 'error', path: '', message, range })
        continue
      }
      for (const object of objectsOf(document)) {
        objects++
        const checked = await this.#object(object, document)
        if (checked.unchecked) unchecked++
        findings.push(...checked.findings.map((finding) => ({ ...where, ...finding })))
        if (checked.identity !== undefined)
          findings.push(...this.#duplicateObject(checked.identity, object, { file: file.path, document, index }))
      }
    }
    return { findings: findings.sort(byPosition), objects, unchecked }
  }

  async #object(object: ManifestObject, document: ManifestDocument) {
    const { fields, ignoreUnknownKinds } = this.#options
    const name = nameOf(object)
    const checked = await checkObject(object, this.#kinds, { fields } satisfies CheckOptions)
    const isIgnored = ({ rule }: Problem) => ignoreUnknownKinds && (rule === 'missing-definition' || rule === 'unknown-kind')
    const reported = checked.problems.filter((problem) => !isIgnored(problem))
    const problems = [...reported, ...this.#duplicateFields(object, document)]
    const findings = problems.map(({ aboutName, ...problem }) => {
      const path = writtenPath(name, problem.path)
      const range = document.range(joined(object.at, path), aboutName ? 'name' : 'value')
      return { ...problem, path, range, ...(name.kind === '' ? {} : { object: name }) }
    })
    const unchecked = checked.unchecked === true || reported.length < checked.problems.length
    return { findings, unchecked, ...(checked.identity === undefined ? {} : { identity: checked.identity }) }
  }

  /** Duplicate keys within the object. */
  #duplicateFields({ at }: ManifestObject, document: ManifestDocument): Problem[] {
    const { fields } = this.#options
    if (fields === 'ignored') return []
    return document.repeated().flatMap(({ path }): Problem[] => {
      const inside = at === '' ? path : path.startsWith(`${at}.`) ? path.slice(at.length + 1) : undefined
      if (inside === undefined) return []
      return [{ rule: 'duplicate-field', severity: fields, path: inside, message: 'duplicate field', aboutName: true }]
    })
  }

  /** Reports a repeated object: an error within a file, a warning across files. */
  #duplicateObject(
    identity: string,
    object: ManifestObject,
    { file, document, index }: { file: string; document: ManifestDocument; index: number },
  ): Finding[] {
    const path = 'metadata.name'
    const range = () => document.range(joined(object.at, path))
    const first = this.#seen.get(identity)
    if (first === undefined) {
      this.#seen.set(identity, { file, range })
      return []
    }
    const name: ObjectName = nameOf(object)
    const where = first.file === file ? `line ${first.range().line}` : `${first.file}:${first.range().line}`
    const severity = first.file === file ? 'error' : 'warning'
    const message = `${objectText(name)} is already defined at ${where}`
    return [{ rule: 'duplicate-object', severity, path, message, file, document: index + 1, range: range(), object: name }]
  }
}

function joined(at: string, path: string): string {
  return at === '' || path === '' ? at || path : `${at}.${path}`
}

/** Maps paths of the internal form of a CustomResourceDefinition, with one schema at the top, to those of `v1`. */
function writtenPath({ apiVersion, kind }: ObjectName, path: string): string {
  if (kind !== 'CustomResourceDefinition' || apiVersion !== 'apiextensions.k8s.io/v1') return path
  return path
    .replace(/^spec\.validation\b/, 'spec.versions[0].schema')
    .replace(/^spec\.(?=subresources\b|additionalPrinterColumns\b)/, 'spec.versions[0].')
}

function byPosition(a: Finding, b: Finding): number {
  const [one, two] = [a.range ?? start, b.range ?? start]
  return one.line - two.line || one.column - two.column
}

const start: TextRange = { line: 0, column: 0, endLine: 0, endColumn: 0 }

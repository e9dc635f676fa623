import type { ManifestDocument, TextRange } from '@krmkit/schema/manifest'
import type { ManifestObjectName } from '@krmkit/versioning'
import { KnownFindings, type ValidationBaseline } from './baseline.ts'
import { checkObject } from './check-object.ts'
import { DefinitionFinder, type DefinitionLookup } from './definition-lookup.ts'
import { documentsOf, type ManifestFile } from './documents.ts'
import type { Problem, ValidationFinding } from './findings.ts'
import { type ManifestObject, nameOf, objectsOf, objectText } from './objects.ts'
import type { OfflineKinds } from './offline-kinds.ts'
import { type RuleSettings, severityOf } from './rule-settings.ts'
import { joinPath, suggestionFor } from './suggestions.ts'

/** Validates all documents of many files. */

export interface ValidateFilesOptions {
  readonly rules: RuleSettings
  readonly baseline?: ValidationBaseline | undefined
  /** Further sources of definitions. */
  readonly lookups: readonly DefinitionLookup[]
  readonly signal?: AbortSignal | undefined
  /** Called after each object; validation waits for the returned promise, if any. */
  readonly pause: () => Promise<void> | undefined
}

/** The result of one file. */
export interface ValidatedFile {
  /** Path of the file, as given. */
  readonly file: string
  /** Sorted by position in the file. */
  readonly findings: readonly ValidationFinding[]
  /** Number of objects in the file. */
  readonly objects: number
  /** Number of objects whose fields were not validated. */
  readonly unchecked: number
  /** Number of findings in the baseline. */
  readonly known: number
}

/** Rules about unknown kinds: if they are off, the objects are accepted, because their type is unknown. */
const aboutKinds: readonly string[] = ['missing-definition', 'unreadable-definition', 'unknown-kind']

/** Validates files one by one, and records objects to find duplicates across files. */
export class FileValidator {
  readonly #kinds: OfflineKinds
  readonly #options: ValidateFilesOptions
  readonly #definitions: DefinitionFinder
  readonly #known: KnownFindings | undefined
  /** Identity of an object -> its first occurrence. */
  readonly #seen = new Map<string, { readonly file: string; readonly range: () => TextRange }>()

  /** @param kinds receives the definitions that are looked up. */
  constructor(kinds: OfflineKinds, options: ValidateFilesOptions) {
    this.#kinds = kinds
    this.#options = options
    this.#definitions = new DefinitionFinder(kinds, { lookups: options.lookups, signal: options.signal })
    this.#known = options.baseline === undefined ? undefined : new KnownFindings(options.baseline)
  }

  async file(file: ManifestFile): Promise<ValidatedFile> {
    const findings: ValidationFinding[] = []
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
        const checked = await this.#object(object, document, file)
        if (checked.unchecked) unchecked++
        findings.push(...checked.findings.map((finding) => ({ ...where, ...finding })))
        if (checked.identity !== undefined)
          findings.push(...this.#duplicateObject(checked.identity, object, { file: file.path, document, index }))
        const pause = this.#options.pause()
        if (pause !== undefined) await pause
      }
    }
    const reported = this.#reported(findings)
    const left = reported.filter((finding) => this.#known?.take(finding) !== true)
    return { file: file.path, findings: left, objects, unchecked, known: reported.length - left.length }
  }

  /** Returns the findings of rules that are not off, with their severities, sorted by position. */
  #reported(findings: readonly ValidationFinding[]): ValidationFinding[] {
    return findings
      .flatMap((finding): ValidationFinding[] => {
        const severity = severityOf(finding.rule, finding.severity, this.#options.rules)
        if (severity === 'off') return []
        return [severity === finding.severity ? finding : { ...finding, severity }]
      })
      .sort(byPosition)
  }

  async #object(object: ManifestObject, document: ManifestDocument, { text }: ManifestFile) {
    const name = nameOf(object)
    await this.#definitions.define(object)
    const checked = await checkObject(object, this.#kinds)
    const problems = [...checked.problems, ...this.#duplicateFields(object, document)]
    const place = { document, at: object.at, text, type: checked.type }
    const findings = problems.map(({ aboutName, replacements: _, ...problem }, index) => {
      const path = writtenPath(name, problem.path)
      const range = document.range(joinPath(object.at, path), aboutName ? 'name' : 'value')
      const suggestion = suggestionFor({ ...(problems[index] as Problem), path }, place)
      return {
        ...{ ...problem, path, range },
        ...(name.kind === '' ? {} : { object: name }),
        ...(suggestion === undefined ? {} : { suggestion }),
      }
    })
    const isAccepted = ({ rule, severity }: Problem) =>
      aboutKinds.includes(rule) && severityOf(rule, severity, this.#options.rules) === 'off'
    const unchecked = checked.unchecked === true || checked.problems.some(isAccepted)
    return { findings, unchecked, ...(checked.identity === undefined ? {} : { identity: checked.identity }) }
  }

  /** Returns duplicate keys within the object. */
  #duplicateFields({ at }: ManifestObject, document: ManifestDocument): Problem[] {
    if (severityOf('duplicate-field', 'error', this.#options.rules) === 'off') return []
    return document.repeated().flatMap(({ path }): Problem[] => {
      const inside = at === '' ? path : path.startsWith(`${at}.`) ? path.slice(at.length + 1) : undefined
      if (inside === undefined) return []
      return [{ rule: 'duplicate-field', severity: 'error', path: inside, message: 'duplicate field', aboutName: true }]
    })
  }

  /** Reports a repeated object: an error within a file, a warning across files. */
  #duplicateObject(
    identity: string,
    object: ManifestObject,
    { file, document, index }: { file: string; document: ManifestDocument; index: number },
  ): ValidationFinding[] {
    const path = 'metadata.name'
    const range = () => document.range(joinPath(object.at, path))
    const first = this.#seen.get(identity)
    if (first === undefined) {
      this.#seen.set(identity, { file, range })
      return []
    }
    const name = nameOf(object)
    const where = first.file === file ? `line ${first.range().line}` : `${first.file}:${first.range().line}`
    const severity = first.file === file ? 'error' : 'warning'
    const message = `${objectText(name)} is already defined at ${where}`
    return [{ rule: 'duplicate-object', severity, path, message, file, document: index + 1, range: range(), object: name }]
  }
}

/** Maps paths in the internal form of a CustomResourceDefinition, which has one schema at the top, to paths in `v1`. */
function writtenPath({ apiVersion, kind }: ManifestObjectName, path: string): string {
  if (kind !== 'CustomResourceDefinition' || apiVersion !== 'apiextensions.k8s.io/v1') return path
  return path
    .replace(/^spec\.validation\b/, 'spec.versions[0].schema')
    .replace(/^spec\.(?=subresources\b|additionalPrinterColumns\b)/, 'spec.versions[0].')
}

function byPosition(a: ValidationFinding, b: ValidationFinding): number {
  const [one, two] = [a.range ?? start, b.range ?? start]
  return one.line - two.line || one.column - two.column
}

const start: TextRange = { line: 0, column: 0, endLine: 0, endColumn: 0 }

import { isObject, type OptionKinds, optionsProblem, shown } from '@krmkit/base/arguments'
import { createTurns, Pace } from '@krmkit/base/work'
import { defaultRelease } from '@krmkit/meta'
import type { ValidationBaseline } from './baseline.ts'
import type { DefinitionLookup } from './definition-lookup.ts'
import type { ManifestFile } from './documents.ts'
import type { ValidationFinding, ValidationSummary } from './findings.ts'
import { OfflineKinds } from './offline-kinds.ts'
import { parseRuleSettings, type RuleSettings } from './rule-settings.ts'
import { ValidateError } from './validate-error.ts'
import { FileValidator, type ValidatedFile } from './validate-files.ts'

/** Validation of manifests as functions: `krmkit validate` without files and processes. */

/** A CustomResourceDefinition, or the text of a file with some. */
export type DefinitionSource = ManifestFile | { readonly kind: string }

/** Options of a validator. */
export interface ManifestValidatorOptions {
  /** Kubernetes release to validate for, such as `1.29`. Default: the newest one that the package knows. */
  readonly release?: string
  /** Group versions that the server enables or disables, as in `--runtime-config`. Default: none. */
  readonly runtimeConfig?: string
  /** Feature gates of the server. Default: those of the release. */
  readonly featureGates?: Readonly<Record<string, boolean>>
  /**
   * Severities by rule; `off` disables a rule. Objects of unknown kinds are accepted if `unknown-kind` and
   * `missing-definition` are off.
   */
  readonly rules?: RuleSettings
}

/** The options of one run. */
export interface ValidateRunOptions {
  /** Definitions of custom resources in addition to those in the files. They are not validated. Default: none. */
  readonly definitions?: readonly DefinitionSource[]
  /**
   * Sources of definitions for custom resources that neither the files nor `definitions` define, in order. Default: none.
   */
  readonly lookups?: readonly DefinitionLookup[]
  /** Known findings, which are counted and not reported. Default: none. */
  readonly baseline?: ValidationBaseline
  /** Aborts the run: its promise rejects with the reason of the signal. */
  readonly signal?: AbortSignal
  /** Called with the result of each file, in order. */
  readonly onFile?: (file: ValidatedFile) => void
}

/** The result of a run. */
export interface ManifestValidation {
  /** Sorted by file in the given order, then by position. */
  readonly findings: readonly ValidationFinding[]
  readonly summary: ValidationSummary
}

/** Validates manifests repeatedly for one release, as editors do. */
export interface ManifestValidator {
  /** Validates files together: definitions in any file apply to all files, and duplicate objects are found. */
  validate(files: readonly ManifestFile[], options?: ValidateRunOptions): Promise<ManifestValidation>
}

/**
 * Validates manifests with the rules of a server, offline: fields, types, defaults, validation of each kind, and custom resources
 * whose definitions are given. The functions need no files and no process, and run in browsers and workers.
 *
 * @param files texts of YAML or JSON, each with any number of documents and lists. A file whose path ends in `.json` must be
 *   JSON.
 * @throws ValidateError `InvalidRule`, `InvalidOption`; KindsError `InvalidRuntimeConfig`; VersioningError for unknown releases and
 * feature gates. Problems of the files are findings.
 * @example
 * import { validateManifests } from 'krmkit/validate'
 * const text = 'apiVersion: apps/v1\nkind: Deploymint\nmetadata: {name: web}\n'
 * const { findings } = await validateManifests([{ path: 'web.yaml', text }], { release: '1.31' })
 * findings[0]?.message // 'unknown kind Deploymint in apps/v1; did you mean Deployment?'
 * findings[0]?.suggestion?.edits[0]?.text // 'Deployment'
 */
export function validateManifests(
  files: readonly ManifestFile[],
  options: ManifestValidatorOptions & ValidateRunOptions = {},
): Promise<ManifestValidation> {
  checkOptions('validateManifests', options)
  return validatorFor(options).validate(files, options)
}

/**
 * Creates a validator, which reads the kinds of the release once.
 *
 * @throws ValidateError `InvalidRule`, `InvalidOption`; KindsError `InvalidRuntimeConfig`; VersioningError for unknown releases and
 * feature gates.
 * @example
 * import { createManifestValidator } from 'krmkit/validate'
 * const validator = createManifestValidator({ rules: { 'unknown-field': 'warning' } })
 * const text = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndate: {}\n'
 * const { summary } = await validator.validate([{ path: 'a.yaml', text }])
 * summary.warnings // 1
 */
export function createManifestValidator(options: ManifestValidatorOptions = {}): ManifestValidator {
  checkOptions('createManifestValidator', options)
  return validatorFor(options)
}

function validatorFor({ rules = {}, ...options }: ManifestValidatorOptions): ManifestValidator {
  const kinds = new OfflineKinds({ ...options, release: options.release ?? defaultRelease })
  return validatorOf(kinds, rules)
}

/**
 * Creates a validator over kinds, which are not changed by runs.
 *
 * @throws ValidateError `InvalidRule`
 * @example
 * import { OfflineKinds, validatorOf } from 'krmkit/validate'
 * const validator = validatorOf(new OfflineKinds({ release: '1.33' }), { 'unknown-field': 'warning' })
 * const { findings } = await validator.validate([{ path: 'a.yaml', text: 'apiVersion: v1\nkind: ConfigMap\n' }])
 */
export function validatorOf(kinds: OfflineKinds, rules: RuleSettings): ManifestValidator {
  const checked = parseRuleSettings(rules)
  return {
    async validate(files, options = {}) {
      checkFiles(files)
      checkOptions('validate', options)
      return run(files, await kindsWith(kinds, [...(options.definitions ?? []), ...files]), checked, options)
    },
  }
}

const optionKinds: OptionKinds<ManifestValidatorOptions & ValidateRunOptions> = {
  release: 'text',
  runtimeConfig: 'text',
  featureGates: 'object',
  rules: 'object',
  definitions: 'list',
  lookups: 'list',
  baseline: 'object',
  signal: 'object',
  onFile: 'function',
}

/** @throws ValidateError `InvalidOption` */
function checkOptions(what: string, options: ManifestValidatorOptions | ValidateRunOptions): void {
  const problem = optionsProblem(options, { what, kinds: optionKinds, example: '{ release: "1.31" }' })
  if (problem !== undefined) throw new ValidateError({ code: 'InvalidOption', message: problem })
}

/** @throws ValidateError `InvalidOption` */
function checkFiles(files: readonly ManifestFile[]): void {
  const isFile = (file: unknown) =>
    isObject(file) && 'text' in file && typeof file.text === 'string' && 'path' in file && typeof file.path === 'string'
  if (Array.isArray(files) && files.every(isFile)) return
  const wrong: unknown = Array.isArray(files) ? files.find((file) => !isFile(file)) : files
  const message = `manifests are a list of files such as [{ path: "web.yaml", text }], not ${shown(wrong)}`
  throw new ValidateError({ code: 'InvalidOption', message })
}

/** Returns the kinds together with the custom resources that the sources define. */
export async function kindsWith(kinds: OfflineKinds, sources: readonly DefinitionSource[]): Promise<OfflineKinds> {
  await kinds.load()
  const all = kinds.copy()
  for (const source of sources) {
    if ('text' in source) await all.defineAll(source)
    else await all.define({ value: structuredClone(source), at: '' })
  }
  return all
}

async function run(
  files: readonly ManifestFile[],
  kinds: OfflineKinds,
  rules: RuleSettings,
  { baseline, lookups = [], signal, onFile }: ValidateRunOptions,
): Promise<ManifestValidation> {
  const pace = new Pace(createTurns())
  const pause = () => {
    signal?.throwIfAborted()
    return pace.due(true) ? pace.next() : undefined
  }
  const validator = new FileValidator(kinds, { rules, baseline, lookups, signal, pause })
  const findings: ValidationFinding[] = []
  const summary = { files: files.length, objects: 0, errors: 0, warnings: 0, unchecked: 0, known: 0 }
  for (const file of files) {
    signal?.throwIfAborted()
    const validated = await validator.file(file)
    for (const { severity } of validated.findings) summary[severity === 'error' ? 'errors' : 'warnings']++
    summary.objects += validated.objects
    summary.unchecked += validated.unchecked
    summary.known += validated.known
    findings.push(...validated.findings)
    onFile?.(validated)
  }
  return { findings, summary }
}

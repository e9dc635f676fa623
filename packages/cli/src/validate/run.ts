import { readFileSync, writeFileSync } from 'node:fs'
import {
  createValidationBaseline,
  type ManifestValidator,
  parseRuleSettings,
  parseValidationBaseline,
  type RuleSettings,
  type Severity,
  ValidateError,
  type ValidationBaseline,
  type ValidationFinding,
  validatorOf,
} from 'krmkit/validate'
import { CliError, messageOf } from '../cli-error.ts'
import { kindsOf } from '../offline/definitions.ts'
import { findManifests } from '../offline/manifest-files.ts'
import { type ColorWhen, exitCodes, type Terminal } from '../offline/terminal.ts'
import { type DefinitionSourceFlags, openDefinitionSources } from './definition-sources.ts'
import { createProgress } from './progress.ts'
import { createValidationReport, type ReportFormat } from './validation-report.ts'

/** The flags of `krmkit validate`. */
export interface ValidateFlags extends DefinitionSourceFlags {
  readonly validate: 'strict' | 'warn' | 'ignore'
  readonly kubernetesVersion: string
  readonly runtimeConfig: readonly string[]
  readonly featureGates: Readonly<Record<string, boolean>>
  readonly definitions: readonly string[]
  readonly exclude: readonly string[]
  readonly ignoreUnknownKinds: boolean
  readonly rule: Readonly<Record<string, string>>
  readonly baseline?: string
  readonly updateBaseline: boolean
  readonly output: ReportFormat
  readonly failOn: Severity
  readonly progress?: boolean
  readonly quiet: boolean
  readonly color: ColorWhen
}

const fieldSettings = { strict: 'error', warn: 'warning', ignore: 'off' } as const

/** Runs `krmkit validate`. @returns the exit code. @throws CliError `InvalidFlag` or `FileFailed` */
export async function runValidate(paths: readonly string[], flags: ValidateFlags, terminal: Terminal): Promise<number> {
  if (flags.updateBaseline && flags.baseline === undefined) {
    throw new CliError({ code: 'InvalidFlag', message: '--update-baseline needs the file: --baseline <file>' })
  }
  const validator = validatorFor(flags)
  const baseline = flags.updateBaseline ? undefined : readBaseline(flags.baseline)
  const { files, unreadable: missing } = findManifests(paths, terminal, { exclude: flags.exclude })
  const extra = findManifests(flags.definitions, terminal)
  const sources = await openDefinitionSources(flags)
  const unreadable = [...missing, ...extra.unreadable].map(
    ({ path, message }): ValidationFinding => ({ file: path, rule: 'unreadable-file', severity: 'error', path: '', message }),
  )
  const progress = createProgress({ total: files.length, wanted: flags.progress, terminal })
  const report = createValidationReport(flags.output, {
    out: terminal.out,
    paint: terminal.paint('out', flags.color),
    quiet: flags.quiet,
    version: terminal.version,
  })
  const add = (findings: readonly ValidationFinding[]) => {
    if (findings.length > 0 && flags.output === 'text') progress.clear()
    report.add(findings)
  }
  add(unreadable)
  let done = 0
  let errors = unreadable.length
  const running = validator.validate(files, {
    definitions: extra.files,
    lookups: sources.lookups,
    ...(baseline === undefined ? {} : { baseline }),
    onFile(file) {
      errors += file.findings.filter(({ severity }) => severity === 'error').length
      if (!flags.updateBaseline) add(file.findings)
      progress.step(++done, errors)
    },
  })
  const { summary, findings } = await running.finally(() => sources.close())
  progress.clear()
  if (flags.updateBaseline) {
    writeBaseline(flags.baseline ?? '', findings)
    report.end({ ...summary, errors: unreadable.length, warnings: 0, known: findings.length })
    return unreadable.length > 0 ? exitCodes.failure : exitCodes.success
  }
  report.end({ ...summary, errors })
  const isUnread = ({ rule, severity }: ValidationFinding) => rule === 'unreadable-definition' && severity === 'error'
  if (unreadable.length > 0 || findings.some(isUnread)) return exitCodes.failure
  const failed = errors > 0 || (flags.failOn === 'warning' && summary.warnings > 0)
  return failed ? exitCodes.findings : exitCodes.success
}

function validatorFor(flags: ValidateFlags): ManifestValidator {
  const kinds = kindsOf({
    release: flags.kubernetesVersion,
    runtimeConfig: flags.runtimeConfig.join(','),
    featureGates: flags.featureGates,
  })
  return validatorOf(kinds, rulesOf(flags))
}

/** `--rule` overrides the flags for some of the rules. @throws CliError `InvalidFlag` */
function rulesOf({ validate, ignoreUnknownKinds, rule }: ValidateFlags): RuleSettings {
  const fields = fieldSettings[validate]
  const accepted: RuleSettings = ignoreUnknownKinds ? { 'unknown-kind': 'off', 'missing-definition': 'off' } : {}
  try {
    return { 'unknown-field': fields, 'duplicate-field': fields, ...accepted, ...parseRuleSettings(rule) }
  } catch (cause) {
    if (!(cause instanceof ValidateError)) throw cause
    throw new CliError({ code: 'InvalidFlag', message: `--rule: ${cause.message}`, cause })
  }
}

/** @throws CliError `FileFailed` */
function readBaseline(path: string | undefined): ValidationBaseline | undefined {
  if (path === undefined) return undefined
  try {
    return parseValidationBaseline(readFileSync(path, 'utf8'))
  } catch (cause) {
    const hint = (cause as NodeJS.ErrnoException).code === 'ENOENT' ? '; --update-baseline writes it' : ''
    throw new CliError({ code: 'FileFailed', message: `cannot read ${path}: ${messageOf(cause)}${hint}`, cause })
  }
}

/** @throws CliError `FileFailed` */
function writeBaseline(path: string, findings: readonly ValidationFinding[]): void {
  try {
    writeFileSync(path, `${JSON.stringify(createValidationBaseline(findings), null, 2)}\n`)
  } catch (cause) {
    throw new CliError({ code: 'FileFailed', message: `cannot write ${path}: ${messageOf(cause)}`, cause })
  }
}

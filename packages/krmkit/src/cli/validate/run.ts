import { kindsOf, learnDefinitions } from '../offline/definitions.ts'
import { findManifests } from '../offline/manifest-files.ts'
import { type ColorWhen, exitCodes, type Terminal } from '../offline/terminal.ts'
import type { Finding, Severity } from './findings.ts'
import { createProgress } from './progress.ts'
import { Validator } from './validate.ts'
import { createValidationReport, type ReportFormat } from './validation-report.ts'

/** The flags of `krmkit validate`. */
export interface ValidateFlags {
  readonly validate: 'strict' | 'warn' | 'ignore'
  readonly kubernetesVersion: string
  readonly runtimeConfig: readonly string[]
  readonly featureGates: Readonly<Record<string, boolean>>
  readonly definitions: readonly string[]
  readonly ignoreUnknownKinds: boolean
  readonly output: ReportFormat
  readonly failOn: Severity
  readonly progress?: boolean
  readonly quiet: boolean
  readonly color: ColorWhen
}

const fieldModes = { strict: 'error', warn: 'warning', ignore: 'ignored' } as const

/** Runs `krmkit validate`. @returns the exit code. @throws CliError `InvalidFlag` */
export async function runValidate(paths: readonly string[], flags: ValidateFlags, terminal: Terminal): Promise<number> {
  const kinds = kindsOf({
    release: flags.kubernetesVersion,
    runtimeConfig: flags.runtimeConfig.join(','),
    featureGates: flags.featureGates,
  })
  const found = findManifests(paths, terminal)
  const extra = findManifests(flags.definitions, terminal)
  const unreadable = [...found.unreadable, ...extra.unreadable].map(
    ({ path, message }): Finding => ({ file: path, rule: 'unreadable-file', severity: 'error', path: '', message }),
  )
  learnDefinitions([...extra.files, ...found.files], kinds)
  const { files } = found
  const progress = createProgress({ total: files.length, wanted: flags.progress, terminal })
  const report = createValidationReport(flags.output, {
    out: terminal.out,
    paint: terminal.paint('out', flags.color),
    quiet: flags.quiet,
    version: terminal.version,
  })
  const validator = new Validator(kinds, {
    fields: fieldModes[flags.validate],
    ignoreUnknownKinds: flags.ignoreUnknownKinds,
  })
  const totals = { files: files.length, objects: 0, errors: 0, warnings: 0, unchecked: 0 }
  const add = (findings: readonly Finding[]) => {
    for (const { severity } of findings) totals[severity === 'error' ? 'errors' : 'warnings']++
    if (findings.length > 0 && flags.output === 'text') progress.clear()
    report.add(findings)
  }
  add(unreadable)
  for (const [index, file] of files.entries()) {
    const { findings, objects, unchecked } = await validator.file(file)
    totals.objects += objects
    totals.unchecked += unchecked
    add(findings)
    progress.step(index + 1, totals.errors)
  }
  progress.clear()
  report.end(totals)
  if (unreadable.length > 0) return exitCodes.failure
  const failed = totals.errors > 0 || (flags.failOn === 'warning' && totals.warnings > 0)
  return failed ? exitCodes.findings : exitCodes.success
}

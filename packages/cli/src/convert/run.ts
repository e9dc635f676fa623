import { writeFileSync } from 'node:fs'
import { convertManifest } from '@krmkit/versioning'
import { type ManifestFile, objectText } from 'krmkit/validate'
import { CliError, messageOf } from '../cli-error.ts'
import { requireReadable } from '../offline/load.ts'
import { findManifests } from '../offline/manifest-files.ts'
import { type ReportedFinding, textLine } from '../offline/reported-finding.ts'
import { type ColorWhen, exitCodes, type Terminal } from '../offline/terminal.ts'

/** The flags of `krmkit convert`. */
export interface ConvertFlags {
  readonly release: string
  readonly to?: string
  readonly write: boolean
  readonly quiet: boolean
  readonly color: ColorWhen
}

/** Runs `krmkit convert`. @returns the exit code. @throws CliError `FileFailed`, `InvalidFlag` */
export async function runConvert(paths: readonly string[], flags: ConvertFlags, terminal: Terminal): Promise<number> {
  if (flags.write && paths.includes('-')) {
    throw new CliError({ code: 'InvalidFlag', message: '--write cannot be used with standard input' })
  }
  const files = requireReadable(findManifests(paths, terminal))
  const paint = terminal.paint('err', flags.color)
  let hasProblems = false
  const written: string[] = []
  for (const file of files) {
    const { text, converted, problems } = convertManifest(file.text, {
      release: flags.release,
      json: /\.json$/i.test(file.path),
      ...(flags.to === undefined ? {} : { to: flags.to }),
    })
    for (const { object, from, to, range } of flags.quiet ? [] : converted)
      terminal.err(`${paint.bold(`${file.path}:${range.line}`)}: ${objectText(object)}: ${from} -> ${paint.green(to)}\n`)
    for (const problem of problems) {
      if (problem.severity === 'error') hasProblems = true
      const finding: ReportedFinding = { ...problem, file: file.path, rule: 'convert' }
      terminal.err(`${textLine(finding, paint)}\n`)
    }
    if (!flags.write) written.push(text)
    else if (text !== file.text) writeBack(file, text)
  }
  if (!flags.write) terminal.out(joined(written))
  return hasProblems ? exitCodes.findings : exitCodes.success
}

function writeBack({ path }: ManifestFile, text: string): void {
  try {
    writeFileSync(path, text)
  } catch (cause) {
    throw new CliError({ code: 'FileFailed', message: `cannot write ${path}: ${messageOf(cause)}`, cause })
  }
}

/** The texts of several files as one text of YAML documents. */
function joined(texts: readonly string[]): string {
  return texts.reduce((all, text) => {
    if (all === '') return text
    const ended = all.endsWith('\n') ? all : `${all}\n`
    return ended + (/^---(?:\s|$)/.test(text) ? '' : '---\n') + text
  }, '')
}

import { compareSurfaces, type SurfaceChange, surfaceRules } from '@krmkit/versioning/surface'
import type { Paint } from '../offline/paint.ts'
import { count, type ReportedFinding } from '../offline/reported-finding.ts'
import { sarifReport } from '../offline/sarif-report.ts'
import { type ColorWhen, exitCodes, type Terminal } from '../offline/terminal.ts'
import { loadCalendar, loadSurface } from './sources.ts'

/** The flags of `krmkit api-diff`. */
export interface ApiDiffFlags {
  readonly oldRelease?: string
  readonly newRelease?: string
  /** File with the dates of releases. */
  readonly calendar?: string
  readonly kubeconfig?: string
  readonly context?: string
  readonly output: 'text' | 'json' | 'sarif'
  readonly all: boolean
  readonly quiet: boolean
  readonly color: ColorWhen
}

/** Runs `krmkit api-diff`. @returns the exit code. @throws CliError, ApiError, ClientError, VersioningError */
export async function runApiDiff(
  [old, next]: readonly [string, string],
  flags: ApiDiffFlags,
  terminal: Terminal,
): Promise<number> {
  const before = { ...(await loadSurface(old, flags, terminal)), ...releaseOf(flags.oldRelease) }
  const after = { ...(await loadSurface(next, flags, terminal)), ...releaseOf(flags.newRelease) }
  const calendar = flags.calendar === undefined ? {} : { calendar: await loadCalendar(flags.calendar) }
  const changes = compareSurfaces(before, after, calendar)
  const broken = changes.filter(({ rule }) => rule !== undefined)
  const shown = flags.all ? changes : broken
  if (flags.output === 'sarif') {
    const rules = Object.fromEntries(Object.entries(surfaceRules).map(([rule, text]) => [`rule-${rule}`, text]))
    const findings = shown.map((change) => findingOf(change, next))
    terminal.out(`${JSON.stringify(sarifReport(findings, { version: terminal.version, rules }), null, 2)}\n`)
  } else if (flags.output === 'json') {
    const summary = { old: before.kinds.length, new: after.kinds.length, changes: changes.length, broken: broken.length }
    terminal.out(`${JSON.stringify({ formatVersion: 1, summary, changes: shown }, null, 2)}\n`)
  } else {
    const paint = terminal.paint('out', flags.color)
    for (const change of shown) terminal.out(`${textLine(change, paint)}\n`)
    if (!flags.quiet) {
      const result =
        broken.length === 0 ? paint.green('no rule broken') : paint.red(`${count(broken.length, 'change')} against the rules`)
      terminal.out(
        `${count(before.kinds.length, 'kind')} -> ${count(after.kinds.length, 'kind')}, ${count(changes.length, 'change')}: ${result}\n`,
      )
    }
  }
  return broken.length === 0 ? exitCodes.success : exitCodes.findings
}

function releaseOf(release: string | undefined): { readonly release?: string } {
  return release === undefined ? {} : { release }
}

function textLine({ sort, subject, path, message, rule }: SurfaceChange, paint: Paint): string {
  const mark = { added: paint.green('+'), removed: paint.red('-'), changed: paint.yellow('~'), deprecated: paint.yellow('!') }[
    sort
  ]
  const where = path === '' ? '' : ` ${paint.cyan(path)}`
  return `${mark} ${paint.bold(subject)}${where}: ${message}${rule === undefined ? '' : ` ${paint.red(`[rule ${rule}]`)}`}`
}

function findingOf({ subject, path, message, rule }: SurfaceChange, file: string): ReportedFinding {
  const severity = rule === undefined ? 'note' : 'error'
  return { file, rule: rule === undefined ? 'change' : `rule-${rule}`, severity, path, message: `${subject}: ${message}` }
}

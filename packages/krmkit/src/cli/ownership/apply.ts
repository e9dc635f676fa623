import { writeFileSync } from 'node:fs'
import { apply, explainConflict, type FieldConflict, FieldManagerError, type OfflineApplyResult } from '@krmkit/fieldmanager'
import type { JsonObject } from '@krmkit/meta'
import { CliError } from '../cli-error.ts'
import { kindsFor } from '../offline/definitions.ts'
import type { OfflineKinds } from '../offline/kinds.ts'
import { type LoadedObject, loadObjects, readable } from '../offline/load.ts'
import { findManifests } from '../offline/manifest-files.ts'
import { objectText } from '../offline/objects.ts'
import type { Paint } from '../offline/paint.ts'
import { type ObjectForm, prettyJson, printObjects } from '../offline/print.ts'
import { type ColorWhen, exitCodes, type Terminal } from '../offline/terminal.ts'
import { changeLines } from './change-text.ts'
import { inVersion } from './versions.ts'

/** What the flags of `krmkit apply` say. */
export interface ApplyFlags {
  readonly live?: string
  readonly fieldManager: string
  readonly forceConflicts: boolean
  readonly definitions: readonly string[]
  readonly write: boolean
  readonly output: ObjectForm
  readonly quiet: boolean
  readonly color: ColorWhen
}

/** An object and what came of applying it. */
interface Outcome {
  readonly applied: LoadedObject
  readonly live: JsonObject | undefined
  readonly result: OfflineApplyResult
}

/** @returns the exit code. @throws CliError `FileFailed`, `InvalidFlag` */
export function runApply(paths: readonly string[], flags: ApplyFlags, terminal: Terminal): number {
  if (flags.write && (flags.live ?? '-') === '-') {
    throw new CliError({ code: 'InvalidFlag', message: '--write needs --live with a file to write to' })
  }
  const files = readable(findManifests(paths, terminal))
  const liveFiles = flags.live === undefined ? [] : readable(findManifests([flags.live], terminal, { absent: flags.write }))
  const kinds = kindsFor([...liveFiles, ...files], flags.definitions, terminal)
  const live = new Map(loadObjects(liveFiles, kinds).map((each) => [each.identity, each]))
  const outcomes: Outcome[] = []
  const objects = new Map([...live].map(([identity, { object }]) => [identity, object]))
  for (const applied of loadObjects(files, kinds)) {
    const outcome = applyOne(applied, live.get(applied.identity), { flags, kinds, now: terminal.now() })
    outcomes.push(outcome)
    const { object } = outcome.result
    live.set(applied.identity, { ...applied, object })
    objects.set(applied.identity, object)
  }
  const paint = terminal.paint('err', flags.color)
  const failed = outcomes.some(({ result }) => result.conflicts.length > 0)
  for (const outcome of outcomes) {
    const lines = outcome.result.conflicts.length > 0 ? conflictLines(outcome, paint) : outcomeLines(outcome, paint)
    if (!flags.quiet || outcome.result.conflicts.length > 0) terminal.err(`${lines.join('\n')}\n`)
  }
  if (failed) return exitCodes.findings
  if (flags.write) writeFileSync(flags.live as string, printObjects([...objects.values()], formOf(flags)))
  else
    terminal.out(
      printObjects(
        outcomes.map(({ result }) => result.object),
        flags.output,
      ),
    )
  return exitCodes.fine
}

function formOf({ live = '', output }: ApplyFlags): ObjectForm {
  return /\.json$/i.test(live) ? 'json' : output
}

interface Applying {
  readonly flags: ApplyFlags
  readonly kinds: OfflineKinds
  readonly now: number
}

function applyOne(applied: LoadedObject, liveObject: LoadedObject | undefined, { flags, kinds, now }: Applying): Outcome {
  const live = liveObject === undefined ? undefined : inVersion(liveObject, applied.gvk, kinds)
  try {
    const result = apply({
      live,
      applied: applied.object,
      manager: flags.fieldManager,
      force: flags.forceConflicts,
      now,
      ...(applied.type === undefined ? {} : { schema: applied.type }),
    })
    return { applied, live, result }
  } catch (error) {
    if (!(error instanceof FieldManagerError)) throw error
    throw new CliError({
      code: 'FileFailed',
      message: `${applied.file}: ${objectText(applied.name)}: ${error.message}`,
      cause: error,
    })
  }
}

function outcomeLines({ applied, live, result }: Outcome, paint: Paint): string[] {
  const name = paint.bold(objectText(applied.name))
  if (live === undefined) return [`${name}: ${paint.green('created')}`]
  if (result.changes.length === 0) return [`${name}: unchanged`]
  return [`${name}: ${paint.yellow('configured')}`, ...changeLines(result.changes, paint).map((line) => `  ${line}`)]
}

function conflictLines({ applied, live, result: { conflicts } }: Outcome, paint: Paint): string[] {
  const count = conflicts.length === 1 ? '1 conflict' : `${conflicts.length} conflicts`
  return [
    `${paint.bold(objectText(applied.name))}: ${paint.red(count)}, nothing applied`,
    ...conflicts.flatMap((conflict) => explained(conflict, live ?? {}, applied, paint)),
  ]
}

function explained(conflict: FieldConflict, live: JsonObject, { object, type }: LoadedObject, paint: Paint): string[] {
  const {
    field,
    manager,
    operation,
    subresource,
    since,
    live: is,
    wanted,
    resolutions,
  } = explainConflict(conflict, {
    live,
    applied: object,
    ...(type === undefined ? {} : { schema: type }),
  })
  const details = [operation, subresource, since === undefined ? '' : `last at ${since}`].filter((text) => text !== '')
  return [
    `  ${paint.cyan(field)} is owned by ${paint.magenta(manager)} (${details.join(', ')})`,
    `    it is ${short(is)}, wanted is ${short(wanted)}`,
    ...Object.entries(resolutions).map(([way, sentence]) => `    ${paint.bold(way.padEnd(8))}${sentence}`),
  ]
}

const longest = 100

function short(value: unknown): string {
  if (value === undefined) return 'not there'
  const text = typeof value === 'object' && value !== null ? prettyJson(value).replace(/\s+/g, ' ') : prettyJson(value)
  return text.length > longest ? `${text.slice(0, longest)}...` : text
}

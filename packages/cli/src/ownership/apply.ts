import { writeFileSync } from 'node:fs'
import { apply, explainConflict, type FieldConflict, type OfflineApplyResult } from '@krmkit/fieldmanager'
import type { JsonObject } from '@krmkit/meta'
import { type OfflineKinds, objectText } from 'krmkit/validate'
import { CliError } from '../cli-error.ts'
import { kindsFor } from '../offline/definitions.ts'
import { differingExcerpts } from '../offline/excerpts.ts'
import { type LoadedObject, loadObjects, requireReadable } from '../offline/load.ts'
import { findManifests } from '../offline/manifest-files.ts'
import type { Paint } from '../offline/paint.ts'
import { type ObjectForm, prettyJson, printObjects } from '../offline/print.ts'
import { type ColorWhen, exitCodes, type Terminal } from '../offline/terminal.ts'
import { changeLines } from './change-text.ts'
import { convertToVersion } from './convert-version.ts'
import { reportingObject } from './field-manager-failure.ts'

/** The flags of `krmkit apply`. */
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

/** An applied object and its result. */
interface Outcome {
  readonly applied: LoadedObject
  readonly live: JsonObject | undefined
  readonly result: OfflineApplyResult
}

/** Runs `krmkit apply`. @returns the exit code. @throws CliError `FileFailed`, `InvalidFlag` */
export async function runApply(paths: readonly string[], flags: ApplyFlags, terminal: Terminal): Promise<number> {
  if (flags.write && (flags.live ?? '-') === '-') {
    throw new CliError({ code: 'InvalidFlag', message: '--write needs --live with a file to write to' })
  }
  const files = requireReadable(findManifests(paths, terminal))
  const liveFiles =
    flags.live === undefined ? [] : requireReadable(findManifests([flags.live], terminal, { absent: flags.write }))
  const kinds = await kindsFor([...liveFiles, ...files], flags.definitions, terminal)
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
  return exitCodes.success
}

function formOf({ live = '', output }: ApplyFlags): ObjectForm {
  return /\.json$/i.test(live) ? 'json' : output
}

interface ApplyContext {
  readonly flags: ApplyFlags
  readonly kinds: OfflineKinds
  readonly now: number
}

function applyOne(applied: LoadedObject, liveObject: LoadedObject | undefined, { flags, kinds, now }: ApplyContext): Outcome {
  const live = liveObject === undefined ? undefined : convertToVersion(liveObject, applied.gvk, kinds)
  const result = reportingObject(applied, () =>
    apply({
      live,
      applied: applied.object,
      manager: flags.fieldManager,
      force: flags.forceConflicts,
      now,
      ...(applied.type === undefined ? {} : { schema: applied.type }),
    }),
  )
  return { applied, live, result }
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
    ...conflicts.flatMap((conflict) => conflictDetails(conflict, live ?? {}, applied, paint)),
  ]
}

function conflictDetails(conflict: FieldConflict, live: JsonObject, { object, type }: LoadedObject, paint: Paint): string[] {
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
  const [liveText, appliedText] = differingExcerpts(lineOf(is), lineOf(wanted), maxLength)
  return [
    `  ${paint.cyan(field)} is owned by ${paint.magenta(manager)} (${details.join(', ')})`,
    `    live ${liveText}, applied ${appliedText}`,
    ...Object.entries(resolutions).map(([way, sentence]) => `    ${paint.bold(way.padEnd(8))}${sentence}`),
  ]
}

const maxLength = 100

/** A value as JSON on one line. */
function lineOf(value: unknown): string {
  return value === undefined ? 'absent' : prettyJson(value).replace(/\n */g, ' ')
}

import { type BlamedLine, blame, blameLines, type Owner } from '@krmkit/fieldmanager'
import { printable } from 'krmkit/validate'
import { kindsFor } from '../offline/definitions.ts'
import { type LoadedObject, loadObjects, requireReadable } from '../offline/load.ts'
import { findManifests } from '../offline/manifest-files.ts'
import type { Paint } from '../offline/paint.ts'
import { prettyJson } from '../offline/print.ts'
import { type ColorWhen, exitCodes, type Terminal } from '../offline/terminal.ts'
import { reportingObject } from './field-manager-failure.ts'

/** The flags of `krmkit blame`. */
export interface BlameFlags {
  readonly definitions: readonly string[]
  readonly output: 'text' | 'json'
  readonly color: ColorWhen
}

/** Runs `krmkit blame`. @returns the exit code. @throws CliError `FileFailed` */
export async function runBlame(paths: readonly string[], flags: BlameFlags, terminal: Terminal): Promise<number> {
  const files = requireReadable(findManifests(paths, terminal))
  const objects = loadObjects(files, await kindsFor(files, flags.definitions, terminal))
  if (flags.output === 'json') {
    terminal.out(`${prettyJson(objects.map((object) => reportingObject(object, () => jsonOf(object))))}\n`)
    return exitCodes.success
  }
  const paint = terminal.paint('out', flags.color)
  const blocks = objects.map((object) => reportingObject(object, () => textOf(blameLines(object.object, object.type), paint)))
  terminal.out(blocks.join('---\n'))
  return exitCodes.success
}

function jsonOf({ object, name, type }: LoadedObject): object {
  const fields = blame(object, type).filter(({ owners }) => owners.length > 0)
  return { object: name, fields: fields.map(({ field, steps, owners }) => ({ field, steps, owners })) }
}

const noOwner = ['', '', ''] as const

/** Formats lines with columns for owner, operation and time. */
function textOf(lines: readonly BlamedLine[], paint: Paint): string {
  const rows = lines.map(({ owners }) => cellsOf(owners))
  const widths = [0, 1, 2].map((column) => rows.reduce((width, row) => Math.max(width, (row[column] as string).length), 0))
  const colors = managerColors(lines, paint)
  return lines
    .map(({ text, owners }, index) => {
      const cells = (rows[index] as readonly string[]).map((cell, column) => cell.padEnd(widths[column] as number))
      const color = colors.get(owners[0]?.manager ?? '') ?? paint.dim
      return `${color(cells.join('  '))} ${paint.dim('|')} ${owners.length === 0 ? paint.dim(printable(text)) : color(printable(text))}\n`
    })
    .join('')
}

function cellsOf(owners: readonly Owner[]): readonly [string, string, string] {
  if (owners.length === 0) return noOwner
  const each = (text: (owner: Owner) => string) => printable([...new Set(owners.map(text))].join(', '))
  const times = owners.flatMap(({ since }) => since ?? []).sort()
  return [
    each(({ manager }) => manager),
    each(({ operation, subresource }) => (subresource === '' ? operation : `${operation}/${subresource}`)),
    printable(times.at(-1) ?? ''),
  ]
}

/** Assigns a color to each manager; colors repeat when there are more managers than colors. */
function managerColors(
  lines: readonly BlamedLine[],
  { green, yellow, cyan, magenta, blue, red }: Paint,
): Map<string, Paint['red']> {
  const palette = [green, yellow, cyan, magenta, blue, red]
  const managers = [...new Set(lines.flatMap(({ owners }) => owners.map(({ manager }) => manager)))].sort()
  return new Map(managers.map((manager, index) => [manager, palette[index % palette.length] as Paint['red']]))
}

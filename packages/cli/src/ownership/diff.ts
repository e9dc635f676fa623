import { type Change, createMergePatch, createTwoWayPatch, diffObjects, FieldManagerError } from '@krmkit/fieldmanager'
import { isJsonObject, type JsonObject } from '@krmkit/meta'
import { DecodeError, decode } from '@krmkit/schema'
import { type OfflineKinds, objectText, withDefaults } from 'krmkit/validate'
import { kindsFor } from '../offline/definitions.ts'
import { type LoadedObject, loadObjects, requireReadable } from '../offline/load.ts'
import { findManifests } from '../offline/manifest-files.ts'
import { prettyJson, printObjects } from '../offline/print.ts'
import { type ColorWhen, exitCodes, type Terminal } from '../offline/terminal.ts'
import { changeLines } from './change-text.ts'
import { convertToVersion } from './convert-version.ts'

/** The flags of `krmkit diff`. */
export interface DiffFlags {
  readonly definitions: readonly string[]
  readonly defaults: boolean
  readonly ignore: readonly string[]
  readonly showManagedFields: boolean
  readonly output: 'text' | 'json' | 'patch'
  readonly color: ColorWhen
}

/** A difference of one object. */
interface Difference {
  readonly status: 'added' | 'removed' | 'changed'
  readonly before: LoadedObject | undefined
  readonly after: LoadedObject | undefined
  readonly changes: readonly Change[]
}

/** Runs `krmkit diff`. @returns the exit code. @throws CliError `FileFailed` */
export async function runDiff([from, to]: readonly [string, string], flags: DiffFlags, terminal: Terminal): Promise<number> {
  const sides = [requireReadable(findManifests([from], terminal)), requireReadable(findManifests([to], terminal))] as const
  const kinds = await kindsFor(sides.flat(), flags.definitions, terminal)
  const found = differences(loadObjects(sides[0], kinds), loadObjects(sides[1], kinds), (before, after) =>
    changesOf(before, after, { flags, kinds, warn: (text) => terminal.err(`krmkit: ${text}\n`) }),
  )
  if (flags.output === 'json') terminal.out(`${prettyJson(found.map(jsonOf))}\n`)
  else if (flags.output === 'patch')
    terminal.out(
      printObjects(
        found.flatMap((each) => patchOf(each, flags, kinds)),
        'yaml',
      ),
    )
  else printText(found, flags, terminal)
  return found.length > 0 ? exitCodes.findings : exitCodes.success
}

type Compare = (before: LoadedObject, after: LoadedObject) => readonly Change[]

/** Compares objects with equal identity, in the order of the second side; objects of the first side alone come last. */
function differences(before: readonly LoadedObject[], after: readonly LoadedObject[], compare: Compare): Difference[] {
  const left = new Map(before.map((each) => [each.identity, each]))
  const found: Difference[] = []
  for (const object of after) {
    const old = left.get(object.identity)
    left.delete(object.identity)
    if (old === undefined) found.push({ status: 'added', before: undefined, after: object, changes: [] })
    else {
      const changes = compare(old, object)
      if (changes.length > 0) found.push({ status: 'changed', before: old, after: object, changes })
    }
  }
  for (const object of left.values()) found.push({ status: 'removed', before: object, after: undefined, changes: [] })
  return found
}

interface CompareContext {
  readonly flags: DiffFlags
  readonly kinds: OfflineKinds
  readonly warn: (text: string) => void
}

function changesOf(before: LoadedObject, after: LoadedObject, { flags, kinds, warn }: CompareContext): readonly Change[] {
  const old = convertToVersion(before, after.gvk, kinds)
  const pair = [withoutManagedFields(old, flags), withoutManagedFields(after.object, flags)] as const
  const { type } = after
  const kept = ({ field }: Change) => !flags.ignore.some((path) => isBelow(field, path.startsWith('.') ? path : `.${path}`))
  if (type === undefined) return diffObjects(pair[0], pair[1]).filter(kept)
  try {
    const typed = pair.map((object) => canonical(object, after, { flags, kinds }))
    if (typed[0] !== undefined && typed[1] !== undefined) return diffObjects(typed[0], typed[1], type).filter(kept)
  } catch (error) {
    if (!(error instanceof FieldManagerError) && !(error instanceof DecodeError)) throw error
  }
  warn(`${objectText(after.name)} has unknown fields or values of wrong types: compared without its schema`)
  return diffObjects(pair[0], pair[1]).filter(kept)
}

function isBelow(field: string, path: string): boolean {
  return field.startsWith(path) && /^(?:$|[.[])/.test(field.slice(path.length))
}

function withoutManagedFields(object: JsonObject, { showManagedFields }: DiffFlags): JsonObject {
  const { metadata } = object
  if (showManagedFields || !isJsonObject(metadata)) return object
  const { managedFields: _, ...rest } = metadata
  return { ...object, metadata: rest }
}

/** Decodes an object to its canonical form; undefined when the decoder drops or rejects a field. */
function canonical(
  object: JsonObject,
  { gvk }: LoadedObject,
  { flags, kinds }: Pick<CompareContext, 'flags' | 'kinds'>,
): JsonObject | undefined {
  const found = kinds.find(gvk)
  if (found.kind !== 'found') return undefined
  const { definition } = found
  const type = definition.kind.type()
  const decoded = decode<JsonObject>(type, object)
  if (decoded.problems.length > 0) return undefined
  return flags.defaults ? (withDefaults(definition, decoded.object) as unknown as JsonObject) : decoded.object
}

function jsonOf({ status, before, after, changes }: Difference): object {
  return {
    status,
    object: (after ?? before)?.name,
    ...(before === undefined ? {} : { before: before.file }),
    ...(after === undefined ? {} : { after: after.file }),
    changes: changes.map(({ kind, field, before: was, after: is }) => ({
      kind,
      field,
      ...(was === undefined ? {} : { before: was }),
      ...(is === undefined ? {} : { after: is }),
    })),
  }
}

/** The patch from the first to the second object; a new object is its own patch. */
function patchOf({ before, after }: Difference, flags: DiffFlags, kinds: OfflineKinds): JsonObject[] {
  if (after === undefined) return []
  const next = withoutManagedFields(after.object, flags)
  if (before === undefined) return [next]
  const old = withoutManagedFields(convertToVersion(before, after.gvk, kinds), flags)
  const { type } = after
  const strategic = type !== undefined && type.custom === undefined
  const patch = strategic ? createTwoWayPatch(type, old, next) : createMergePatch(old, next)
  const { name, namespace } = (next.metadata ?? {}) as JsonObject
  const identity = { ...(name === undefined ? {} : { name }), ...(namespace === undefined ? {} : { namespace }) }
  const { apiVersion, kind } = after.name
  return [{ apiVersion, kind, ...patch, metadata: { ...(patch.metadata as JsonObject | undefined), ...identity } }]
}

function printText(found: readonly Difference[], { color }: DiffFlags, terminal: Terminal): void {
  const paint = terminal.paint('out', color)
  for (const { status, before, after, changes } of found) {
    const name = objectText(((after ?? before) as LoadedObject).name)
    if (status === 'added') terminal.out(`${paint.green(`+ ${name}`)} ${paint.dim(`(only in ${after?.file})`)}\n`)
    else if (status === 'removed') terminal.out(`${paint.red(`- ${name}`)} ${paint.dim(`(only in ${before?.file})`)}\n`)
    else {
      terminal.out(`${paint.bold(name)} ${paint.dim(`(${before?.file} -> ${after?.file})`)}\n`)
      for (const line of changeLines(changes, paint)) terminal.out(`  ${line}\n`)
    }
  }
}

import {
  createThreeWayMergePatch,
  createThreeWayPatch,
  FieldManagerError,
  jsonPatch,
  mergePatch,
  strategicMergePatch,
} from '@krmkit/fieldmanager'
import type { JsonObject, JsonValue } from '@krmkit/meta'
import { decodeUntyped, type StructType } from '@krmkit/schema'
import { type ManifestFile, type OfflineKinds, objectText } from 'krmkit/validate'
import { CliError } from '../cli-error.ts'
import { kindsFor } from '../offline/definitions.ts'
import { type LoadedObject, loadObjects, requireReadable, valuesOf } from '../offline/load.ts'
import { findManifests } from '../offline/manifest-files.ts'
import { type ObjectForm, printObjects } from '../offline/print.ts'
import { type ColorWhen, exitCodes, type Terminal } from '../offline/terminal.ts'
import { convertToVersion } from './convert-version.ts'

/** The flags of `krmkit merge`. */
export interface MergeFlags {
  readonly patch?: string
  readonly type?: 'strategic' | 'merge' | 'json'
  readonly original?: string
  readonly modified?: string
  readonly overwrite: boolean
  readonly printPatch: boolean
  readonly definitions: readonly string[]
  readonly output: ObjectForm
  readonly color: ColorWhen
}

/** Runs `krmkit merge`. @returns the exit code. @throws CliError `FileFailed`, `InvalidFlag` */
export async function runMerge(
  target: string,
  patchPath: string | undefined,
  flags: MergeFlags,
  terminal: Terminal,
): Promise<number> {
  const given = [patchPath, flags.patch, flags.modified].filter((each) => each !== undefined)
  if (given.length !== 1) throw wrongFlag('give one of: a patch file, --patch, or --modified (with --original)')
  if (flags.original !== undefined && flags.modified === undefined) throw wrongFlag('--original needs --modified')
  const read = (path: string): readonly ManifestFile[] => requireReadable(findManifests([path], terminal))
  const [targetFiles, original, modified] = [target, flags.original, flags.modified].map((path) =>
    path === undefined ? [] : read(path),
  )
  const kinds = await kindsFor([...(targetFiles ?? []), ...(original ?? []), ...(modified ?? [])], flags.definitions, terminal)
  const live = onlyObject(target, targetFiles ?? [], kinds)
  try {
    const patch =
      flags.modified === undefined
        ? onlyValue(
            patchPath ?? '--patch',
            patchPath === undefined ? [{ path: '--patch', text: flags.patch ?? '' }] : read(patchPath),
          )
        : threeWay(live, { original: original ?? [], modified: modified ?? [], flags, kinds })
    terminal.out(printObjects([flags.printPatch ? patch : patched(live, patch, flags)], flags.output))
    return exitCodes.success
  } catch (error) {
    if (!(error instanceof FieldManagerError)) throw error
    terminal.err(`${terminal.paint('err', flags.color).red('krmkit:')} ${objectText(live.name)}: ${error.message}\n`)
    return error.code === 'Conflict' || error.code === 'Unprocessable' ? exitCodes.findings : exitCodes.failure
  }
}

function wrongFlag(message: string): CliError {
  return new CliError({ code: 'InvalidFlag', message })
}

function onlyObject(path: string, files: readonly ManifestFile[], kinds: OfflineKinds): LoadedObject {
  const all = loadObjects(files, kinds)
  // A file may hold the definition of the object as well.
  const objects = all.length > 1 ? all.filter(({ gvk }) => gvk.kind !== 'CustomResourceDefinition') : all
  const [only] = objects
  if (only === undefined || objects.length > 1) {
    throw new CliError({ code: 'FileFailed', message: `${path}: expected one object, found ${objects.length}` })
  }
  return only
}

function onlyValue(path: string, files: readonly ManifestFile[]): JsonValue {
  const values = files.flatMap(valuesOf)
  const [only] = values
  if (values.length !== 1)
    throw new CliError({ code: 'FileFailed', message: `${path}: expected one patch, found ${values.length}` })
  return decodeUntyped<JsonObject>({ value: only }, { collect: false }).object.value as JsonValue
}

/** Applies the patch: JSON patch for lists, otherwise strategic merge for built-in kinds and JSON merge for others, unless `--type` is set. */
function patched({ object, type }: LoadedObject, patch: JsonValue, { type: wanted }: MergeFlags): JsonValue {
  const builtIn = type !== undefined && type.custom === undefined
  const form = wanted ?? (Array.isArray(patch) ? 'json' : builtIn ? 'strategic' : 'merge')
  if (form === 'json') return jsonPatch(object, patch)
  if (form === 'merge') return mergePatch(object, patch)
  if (!builtIn) throw wrongFlag('strategic merge patches are for built-in kinds; use --type merge or json')
  return strategicMergePatch(type, object, patch)
}

interface ThreeWay {
  readonly original: readonly ManifestFile[]
  readonly modified: readonly ManifestFile[]
  readonly flags: MergeFlags
  readonly kinds: OfflineKinds
}

/** Computes the patch of client-side apply from the last applied, the wanted and the live object. */
function threeWay(live: LoadedObject, { original, modified, flags, kinds }: ThreeWay): JsonObject {
  const wanted = convertToVersion(onlyObject(flags.modified ?? '', modified, kinds), live.gvk, kinds)
  const last = flags.original === undefined ? {} : convertToVersion(onlyObject(flags.original, original, kinds), live.gvk, kinds)
  const type: StructType | undefined = live.type
  if (type !== undefined && type.custom === undefined && flags.type !== 'merge') {
    return createThreeWayPatch(type, { original: last, modified: wanted, current: live.object }, { overwrite: flags.overwrite })
  }
  return createThreeWayMergePatch({ original: last, modified: wanted, current: live.object }, { overwrite: flags.overwrite })
}

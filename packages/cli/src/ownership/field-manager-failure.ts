import { FieldManagerError } from '@krmkit/fieldmanager'
import { objectText } from 'krmkit/validate'
import { CliError } from '../cli-error.ts'
import type { LoadedObject } from '../offline/load.ts'

/** Runs `read`. @throws CliError `FileFailed` with file and object for a FieldManagerError. */
export function reportingObject<T>({ file, name }: LoadedObject, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof FieldManagerError)) throw error
    throw new CliError({ code: 'FileFailed', message: `${file}: ${objectText(name)}: ${error.message}`, cause: error })
  }
}

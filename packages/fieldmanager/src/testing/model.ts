import * as data from '../../../kinds/src/data/index.generated.ts'

/** The model files of the built-in types; tests only. */
export function modelFiles(): Readonly<Record<string, string>> {
  return (data as unknown as { modelFiles: Readonly<Record<string, string>> }).modelFiles
}

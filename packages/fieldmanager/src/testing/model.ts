import * as catalog from '../../../kinds/src/data/catalog.generated.ts'
import * as data from '../../../kinds/src/data/index.generated.ts'

/** The types of the built-in kinds as text; tests only. */
export function modelFiles(): Readonly<Record<string, string>> {
  return (data as unknown as { modelFiles: Readonly<Record<string, string>> }).modelFiles
}

/** Names of the built-in kinds of every version: `core/v1.Pod`. */
export function kindNames(): string[] {
  const facts = JSON.parse((catalog as unknown as { catalogJson: string }).catalogJson) as Readonly<
    Record<string, { readonly versions: Readonly<Record<string, { readonly kinds: object }>> }>
  >
  return Object.entries(facts).flatMap(([folder, { versions }]) =>
    Object.entries(versions).flatMap(([version, { kinds }]) => Object.keys(kinds).map((kind) => `${folder}/${version}.${kind}`)),
  )
}

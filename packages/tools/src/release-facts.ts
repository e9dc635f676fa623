/**
 * `npm run release:facts -- 1.38` reads the facts of a release from its published Go modules, adds them to the model of all releases
 * (packages/tools/release-facts/model) and writes a report on what changed. It needs Go and a build of `@krmkit/schema`.
 *
 *     1.38, 0.38.1      the newest patch, or one; of the newest release of the model or the one after it
 *     --rebuild         the model again, from the patches that it records
 *     --report 1.37     only the report, from the model
 *     --partial         continue without modules that cannot be downloaded
 *
 * The facts of a release and the report stay in .cache/release-facts.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { root } from './lib/workspace.ts'
import { extractRelease, readRelease } from './release-facts/extract.ts'
import { type Model, minorOf, minorsOf, readModel, viewAt, withRelease, writeModel } from './release-facts/model.ts'
import { reportChanges } from './release-facts/report.ts'
import { linesOfRoles } from './release-facts/role-lines.ts'

const home = join(root, 'packages/tools/release-facts')
const cache = join(root, '.cache/release-facts')

/** The model of all releases, as it is checked in. */
export const modelFolder: string = join(home, 'model')

export async function main(args: readonly string[]): Promise<void> {
  const [release] = args.filter((each) => !each.startsWith('--'))
  const isPartial = args.includes('--partial')
  const model = readModel(modelFolder)
  if (args.includes('--rebuild')) return writeModel(modelFolder, await rebuilt(model, isPartial))
  if (release === undefined) throw new Error('name a release: npm run release:facts -- 1.38')
  if (args.includes('--report')) return writeReport(model, minorOf(release))
  const extended = await withExtracted(model, release, isPartial)
  writeModel(modelFolder, extended)
  writeReport(extended, minorOf(release))
}

async function withExtracted(model: Model, release: string, isPartial: boolean): Promise<Model> {
  const folder = join(cache, `1.${minorOf(release)}`)
  extractRelease(release, { sources: join(home, 'extract'), folder, isPartial })
  const facts = readRelease(folder)
  const { parseYaml } = await import('@krmkit/schema/yaml')
  const roles = linesOfRoles(new Map([...facts.roles].map(([name, text]) => [name, parseYaml(text).value])))
  return withRelease(model, { ...facts, roles })
}

async function rebuilt(model: Model, isPartial: boolean): Promise<Model> {
  let again: Model = { files: new Map() }
  for (const minor of minorsOf(model)) again = await withExtracted(again, viewAt(model, minor).release.release, isPartial)
  return again
}

function writeReport(model: Model, minor: number): void {
  const minors = minorsOf(model)
  const before = minors[minors.indexOf(minor) - 1]
  if (before === undefined) throw new Error(`the model has no release before 1.${minor}`)
  const file = join(cache, `1.${minor}.md`)
  mkdirSync(cache, { recursive: true })
  writeFileSync(file, reportChanges(viewAt(model, before), viewAt(model, minor)))
  console.log(relative(root, file))
}

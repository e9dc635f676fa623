/** The licenses of the packages in a bundle, which are not installed beside it. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { readManifest } from '../lib/workspace.ts'

/**
 * @param modules paths of bundled modules
 * @returns name, version and license text of each package of other authors, by name.
 */
export function licensesOf(modules: Iterable<string>): string {
  const folders = new Set([...modules].filter((path) => path.includes('/node_modules/')).map(packageFolder))
  const texts = [...folders].map((folder) => {
    const { name, version, license } = readManifest(folder)
    const file = readdirSync(folder).find((each) => /^licen[cs]e(\.\w+)?$/i.test(each))
    const text = file === undefined ? `License: ${license}` : readFileSync(join(folder, file), 'utf8').trim()
    return `${name} ${version}\n\n${text}\n`
  })
  return [...new Set(texts)].sort().join(`\n${'-'.repeat(80)}\n\n`)
}

/** The folder of the package of a module; folders inside of a package may have a manifest without a name. */
function packageFolder(path: string): string {
  let folder = dirname(path)
  while (!isPackage(folder)) folder = dirname(folder)
  return folder
}

function isPackage(folder: string): boolean {
  return existsSync(join(folder, 'package.json')) && readManifest(folder).version !== undefined
}

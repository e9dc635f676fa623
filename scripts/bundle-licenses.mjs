// The licenses of the packages in a bundle, which are not installed beside it.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/**
 * @param {Iterable<string>} modules paths of bundled modules
 * @returns {string} name, version and license text of each package of other authors, by name.
 */
export function licensesOf(modules) {
  const folders = new Set([...modules].filter((path) => path.includes('/node_modules/')).map(packageFolder))
  const texts = [...folders].map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    const file = readdirSync(folder).find((each) => /^licen[cs]e(\.\w+)?$/i.test(each))
    const text = file === undefined ? `License: ${license}` : readFileSync(join(folder, file), 'utf8').trim()
    return `${name} ${version}\n\n${text}\n`
  })
  return [...new Set(texts)].sort().join(`\n${'-'.repeat(80)}\n\n`)
}

/** The folder of the package of a module; folders inside of a package may have a manifest without a name. */
function packageFolder(path) {
  let folder = dirname(path)
  while (!isPackage(folder)) folder = dirname(folder)
  return folder
}

function isPackage(folder) {
  const manifest = join(folder, 'package.json')
  return existsSync(manifest) && JSON.parse(readFileSync(manifest, 'utf8')).version !== undefined
}

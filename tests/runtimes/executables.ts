import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { root } from '../source-files.ts'

/**
 * Executables in the optional packages of this folder. Their install scripts do not run: the files of the platform are used as they are.
 * The root does not depend on them, because npm scripts would then run with the `node` of such a package.
 */

const modules = join(root, 'tests/runtimes/node_modules')

/**
 * The executable of a runtime whose package depends on one package for each platform.
 *
 * @param file path of the executable in the package of the platform
 * @returns undefined where the package is not installed
 */
export function platformExecutable(name: string, file: string): string | undefined {
  const manifest = join(modules, name, 'package.json')
  if (!existsSync(manifest)) return undefined
  const { optionalDependencies = {} } = JSON.parse(readFileSync(manifest, 'utf8')) as {
    readonly optionalDependencies?: Readonly<Record<string, string>>
  }
  // The packages of the platforms are beside the file itself, not beside the link to it.
  const { resolve } = createRequire(realpathSync(manifest))
  for (const platform of Object.keys(optionalDependencies)) {
    try {
      const found = join(dirname(resolve(`${platform}/package.json`)), file)
      if (existsSync(found)) return found
    } catch (error) {
      // The package of another platform.
      if ((error as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') throw error
    }
  }
  return undefined
}

/** The executable in a package for one platform. @returns undefined where it is not installed */
export function packageExecutable(name: string, file: string): string | undefined {
  const path = join(modules, name, file)
  return existsSync(path) ? path : undefined
}

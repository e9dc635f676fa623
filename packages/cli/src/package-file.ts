import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** The path of a file of this package, such as `package.json`, for the built and the bundled modules; undefined when it is missing. */
export function packageFile(path: string): string | undefined {
  const files = ['../', '../../'].map((up) => fileURLToPath(new URL(up + path, import.meta.url)))
  return files.find((file) => existsSync(file))
}

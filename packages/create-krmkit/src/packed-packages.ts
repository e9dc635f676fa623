import { existsSync, readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { CreateError } from './create-error.ts'

/** Uses packages that `npm pack` has written to a folder as dependencies of a project. */

/** The members of package.json that contain package versions. */
export interface Dependencies {
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
}

/** Returns file dependencies by package name: `@krmkit/meta` is in `krmkit-meta-0.1.0.tgz`. */
export function packedPackages(folder: string, version: string): Readonly<Record<string, string>> {
  const suffix = `-${version}.tgz`
  const files = existsSync(folder) ? readdirSync(folder) : []
  return Object.fromEntries(
    files
      .filter((file) => file.startsWith('krmkit-') && file.endsWith(suffix))
      .sort()
      .map((file) => [packageNameOf(file.slice(0, -suffix.length)), `file:${join(resolve(folder), file)}`]),
  )
}

function packageNameOf(stem: string): string {
  return stem === 'krmkit' ? stem : stem.replace('krmkit-', '@krmkit/')
}

/**
 * Replaces versions of krmkit packages by files; `overrides` does the same for dependencies between these packages.
 *
 * @throws CreateError `MissingTarball`
 */
export function withPackedPackages<T extends Dependencies>(
  manifest: T,
  { files, folder }: { readonly files: Readonly<Record<string, string>>; readonly folder: string },
): T & { readonly overrides: Readonly<Record<string, string>> } {
  const { dependencies = {}, devDependencies = {} } = manifest
  const missing = [...Object.keys(dependencies), ...Object.keys(devDependencies)].filter(
    (name) => isKrmkitPackage(name) && !(name in files),
  )
  if (missing.length > 0) {
    const message = `${folder} has no packed ${missing.join(', ')}; write them with \`npm pack\` in the version of create-krmkit`
    throw new CreateError({ code: 'MissingTarball', message })
  }
  return {
    ...manifest,
    ...(manifest.dependencies === undefined ? {} : { dependencies: replace(dependencies, files) }),
    ...(manifest.devDependencies === undefined ? {} : { devDependencies: replace(devDependencies, files) }),
    overrides: files,
  }
}

/** Whether a package is one of krmkit. */
export function isKrmkitPackage(name: string): boolean {
  return name === 'krmkit' || name.startsWith('@krmkit/')
}

function replace(
  versions: Readonly<Record<string, string>>,
  files: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(versions).map(([name, version]) => [name, files[name] ?? version]))
}

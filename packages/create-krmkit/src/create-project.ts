import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { CreateError } from './create-error.ts'
import { type Dependencies, isKrmkitPackage, packedPackages, withPackedPackages } from './packed-packages.ts'
import { isTemplateName, type TemplateName, templateFolder, templates } from './templates.ts'

export interface CreateProjectOptions {
  /** Folder of the project, which must not exist or be empty. It may contain a folder `.git`. */
  readonly folder: string
  readonly template: TemplateName
  /** Name in package.json. Default: the name of the folder. */
  readonly name?: string
  /**
   * Folder with packages of krmkit written by `npm pack` (`krmkit-meta-0.1.0.tgz`). The project then installs these files
   * instead of released versions. Default: released versions.
   */
  readonly tarballs?: string
}

export interface CreatedProject {
  /** Absolute path. */
  readonly folder: string
  readonly name: string
  /** The written files, as sorted paths relative to the folder. */
  readonly files: readonly string[]
}

interface Manifest extends Dependencies {
  readonly name: string
}

const packageName = /^(?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*$/
const maxNameLength = 214
/** Files by their name in templates: npm omits files with their real names from packages. */
const realNames: Readonly<Record<string, string>> = { _gitignore: '.gitignore' }

/**
 * Writes the files of a template. Nothing is installed.
 *
 * @throws CreateError `UnknownTemplate`, `InvalidName`, `FolderNotEmpty`, `MissingTarball`; nothing is written in this case.
 * @example
 * import { createProject } from 'create-krmkit'
 * const { files } = createProject({ folder: 'my-operator', template: 'operator' })
 * files.includes('package.json') // true
 */
export function createProject({ template, tarballs, ...options }: CreateProjectOptions): CreatedProject {
  const folder = resolve(options.folder)
  const name = options.name ?? basename(folder)
  if (!isTemplateName(template)) {
    const known = templates.map((each) => each.name).join(', ')
    throw new CreateError({ code: 'UnknownTemplate', message: `unknown template "${template}"; available: ${known}` })
  }
  if (!packageName.test(name) || name.length > maxNameLength) {
    const message = `"${name}" is no name of an npm package: use lower-case letters, digits, "-", "." and "_", or choose another with --name`
    throw new CreateError({ code: 'InvalidName', message })
  }
  if (existsSync(folder) && readdirSync(folder).some((entry) => entry !== '.git')) {
    throw new CreateError({ code: 'FolderNotEmpty', message: `${folder} contains files; choose a new or an empty folder` })
  }
  const files = filesOf(template, { name, tarballs })
  for (const [path, text] of files) {
    const target = join(folder, path)
    mkdirSync(dirname(target), { recursive: true })
    writeFileSync(target, text)
  }
  return { folder, name, files: [...files.keys()].sort() }
}

/** Returns the text of each file of the project, by path. */
function filesOf(template: TemplateName, { name, tarballs }: { readonly name: string; readonly tarballs: string | undefined }) {
  const source = fileURLToPath(templateFolder(template))
  const files = new Map<string, string>()
  for (const entry of readdirSync(source, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const from = join(entry.parentPath ?? entry.path, entry.name)
    const path = join(dirname(from.slice(source.length)), realNames[entry.name] ?? entry.name)
    files.set(path.split(sep).join('/'), readFileSync(from, 'utf8').replaceAll('{{name}}', name))
  }
  const manifest = { ...(JSON.parse(files.get('package.json') ?? '{}') as Manifest), name }
  files.set('package.json', `${JSON.stringify(withVersions(manifest, tarballs), null, 2)}\n`)
  return files
}

/** Sets the versions of krmkit packages in the manifest, which are `*` in templates. All packages are released together. */
function withVersions(manifest: Manifest, tarballs: string | undefined): Manifest {
  const version = ownVersion()
  if (tarballs !== undefined) {
    return withPackedPackages(manifest, { files: packedPackages(tarballs, version), folder: tarballs })
  }
  const released = (versions: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(versions).map(([name, range]) => [name, isKrmkitPackage(name) ? `^${version}` : range]))
  const { dependencies, devDependencies, ...others } = manifest
  return {
    ...others,
    ...(dependencies === undefined ? {} : { dependencies: released(dependencies) }),
    ...(devDependencies === undefined ? {} : { devDependencies: released(devDependencies) }),
  }
}

function ownVersion(): string {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
    readonly version: string
  }
  return version
}

/** Empty projects outside the workspace, with packed packages as dependencies. */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Manifest, readManifest, root } from '../lib/workspace.ts'

/** A packed package of the workspace. */
export interface Packed {
  /** Name of its folder. */
  readonly name: string
  readonly folder: string
  /** As published. */
  readonly manifest: Manifest
  readonly tarball: string
  /** Folder with the files of the tarball. */
  readonly unpacked: string
}

/** A check of a release and what it found. */
export interface CheckResult {
  readonly name: string
  readonly problems: readonly string[]
}

/** Members of the `package.json` of a project. */
export interface ProjectManifest {
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
  readonly [member: string]: unknown
}

export interface ProjectOptions {
  readonly name: string
  readonly packed: readonly Packed[]
  /** Dependencies on packages of the workspace get the path of the tarball. */
  readonly manifest: ProjectManifest
  /** Flags of `npm install`. */
  readonly flags?: readonly string[]
}

/** How a program of a check runs and what it is expected to do. */
export interface Expectation {
  readonly cwd: string
  /** Part of what it prints. */
  readonly prints?: string
  /** The exit code; default 0. */
  readonly status?: number
  /** Additional variables. */
  readonly env?: Readonly<Record<string, string>>
}

/** What a program of a check may take. */
const timeoutMs = 300_000

/** The version of a library that projects install besides the packages: that of the workspace. */
export function workspaceVersion(name: string): string {
  const version = readManifest(root).devDependencies?.[name]
  if (version === undefined) throw new Error(`the workspace does not depend on ${name}`)
  return version
}

/** Makes a project in a folder and installs its dependencies. @returns the folder of the project */
export function createProject(work: string, { name, packed, manifest, flags = [] }: ProjectOptions): string {
  const folder = join(work, name)
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name, private: true, ...withTarballs(manifest, packed) }, null, 2))
  install(folder, flags)
  return folder
}

/** Whether programs can import the package. */
export function hasEntries({ exports = {} }: Manifest): boolean {
  return Object.keys(exports).some((path) => path !== './package.json')
}

/** The manifest with tarballs in place of released versions, among the packages themselves too. */
function withTarballs(manifest: ProjectManifest, packed: readonly Packed[]): ProjectManifest {
  const files = Object.fromEntries(packed.map(({ manifest: { name }, tarball }) => [name, `file:${tarball}`]))
  const replaced = (dependencies: Readonly<Record<string, string>> = {}) =>
    Object.fromEntries(Object.entries(dependencies).map(([name, version]) => [name, files[name] ?? version]))
  const { dependencies, devDependencies, ...others } = manifest
  return { ...others, dependencies: replaced(dependencies), devDependencies: replaced(devDependencies), overrides: files }
}

export function install(folder: string, flags: readonly string[] = []): void {
  const usual = ['--no-audit', '--no-fund', '--prefer-offline', '--ignore-scripts', '--loglevel=error']
  execFileSync('npm', ['install', ...usual, ...flags], { cwd: folder, stdio: ['ignore', 'ignore', 2] })
}

/** @returns the problems of running a program: its exit code, or text that it does not print. */
export function problemsOf(
  command: string,
  args: readonly string[],
  { cwd, prints, status = 0, env = {} }: Expectation,
): string[] {
  const ran = spawnSync(command, args, { cwd, encoding: 'utf8', timeout: timeoutMs, env: { ...process.env, ...env } })
  const printed = `${ran.stdout ?? ''}${ran.stderr ?? ''}`
  if (ran.status !== status) {
    const how = ran.status === null ? `was ended by ${ran.signal ?? ran.error?.message}` : `ended with ${ran.status}`
    return [`${command} ${args.join(' ')} ${how}: ${printed.trim().split('\n').slice(-12).join(' | ')}`]
  }
  return prints === undefined || printed.includes(prints)
    ? []
    : [`${command} ${args.join(' ')} did not print ${prints}: ${printed}`]
}

// Empty projects outside the workspace, with packed packages as dependencies.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../setup.mjs'

/** Seconds that a program of a check may take. */
const timeoutMs = 300_000

/** The versions of tools that projects install besides the packages. */
export function workspaceVersion(name) {
  return JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).devDependencies[name]
}

/**
 * Makes a project and installs its dependencies.
 *
 * @param {string} work
 * @param {{ name: string, packed: { manifest: object, tarball: string }[], manifest: object, flags?: string[] }} options `manifest`: members
 * of package.json; dependencies on packages of the workspace get the path of the tarball
 * @returns the folder.
 */
export function createProject(work, { name, packed, manifest, flags = [] }) {
  const folder = join(work, name)
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name, private: true, ...withTarballs(manifest, packed) }, null, 2))
  install(folder, flags)
  return folder
}

/** Whether programs can import the package. */
export function hasEntries({ exports = {} }) {
  return Object.keys(exports).some((path) => path !== './package.json')
}

/** The manifest with tarballs in place of released versions, among the packages themselves too. */
export function withTarballs(manifest, packed) {
  const files = Object.fromEntries(packed.map(({ manifest: { name }, tarball }) => [name, `file:${tarball}`]))
  const replaced = (dependencies = {}) =>
    Object.fromEntries(Object.entries(dependencies).map(([name, version]) => [name, files[name] ?? version]))
  const { dependencies, devDependencies, ...others } = manifest
  return { ...others, dependencies: replaced(dependencies), devDependencies: replaced(devDependencies), overrides: files }
}

export function install(folder, flags = []) {
  const usual = ['--no-audit', '--no-fund', '--prefer-offline', '--ignore-scripts', '--loglevel=error']
  execFileSync('npm', ['install', ...usual, ...flags], { cwd: folder, stdio: ['ignore', 'ignore', 2] })
}

/** @returns the problems of running a program: its exit code, or text that it does not print. */
export function problemsOf(command, args, { cwd, prints, status = 0, env = {} }) {
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

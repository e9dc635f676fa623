import { resolve } from 'node:path'
import { isJsonObject } from '@krmkit/meta'
import { booleanIn, type Entry, invalid, stringIn, stringsIn } from '../kubeconfig-file.ts'

/** A credential command: member `exec` of a user entry. @see API protocol specification, 5.8 */
export interface ExecConfig {
  /** A path, or a name that is looked up in PATH. */
  readonly command: string
  readonly args: readonly string[]
  /** Variables added to the environment of the process. */
  readonly env: readonly { readonly name: string; readonly value: string }[]
  /** API version of the ExecCredential that the command must print. */
  readonly apiVersion: string
  /** Shown when the command is missing. */
  readonly installHint: string | undefined
  /** Whether the command receives the cluster. */
  readonly provideClusterInfo: boolean
  readonly interactiveMode: 'Never' | 'IfAvailable' | 'Always'
}

/** The cluster as passed to a command. */
export type ExecCluster = Readonly<Record<string, unknown>>

const modes = ['Never', 'IfAvailable', 'Always'] as const

/** Reads member `exec` of a user entry. @throws ClientError `InvalidKubeconfig` */
export function readExecConfig(user: Entry, group: string): ExecConfig {
  const where = `${user.name}: exec`
  const members = user.members.exec
  if (!isJsonObject(members)) throw invalid(where, 'is not an object')
  const exec = members as Readonly<Record<string, unknown>>
  const command = stringIn(exec, 'command', where)
  if (command === undefined) throw invalid(where, 'command is missing')
  const apiVersion = stringIn(exec, 'apiVersion', where)
  if (apiVersion !== `${group}/v1` && apiVersion !== `${group}/v1beta1`)
    throw invalid(where, `apiVersion must be ${group}/v1 or ${group}/v1beta1`)
  return {
    // Made absolute: a path next to a kubeconfig in the working directory would otherwise become a bare name, which is
    // looked up in PATH.
    command: isPath(command) ? resolve(user.folder, command) : command,
    args: stringsIn(exec, 'args', where),
    env: environmentIn(exec, where),
    apiVersion,
    installHint: withoutControls(stringIn(exec, 'installHint', where)),
    provideClusterInfo: booleanIn(exec, 'provideClusterInfo', where),
    interactiveMode: modeIn(exec, { apiVersion, where }),
  }
}

function isPath(command: string): boolean {
  return command.includes('/') || (process.platform === 'win32' && command.includes('\\'))
}

function modeIn(
  exec: Readonly<Record<string, unknown>>,
  { apiVersion, where }: { readonly apiVersion: string; readonly where: string },
): ExecConfig['interactiveMode'] {
  const mode = stringIn(exec, 'interactiveMode', where)
  if (mode === undefined) {
    if (apiVersion.endsWith('/v1beta1')) return 'IfAvailable'
    throw invalid(where, 'interactiveMode is required')
  }
  const found = modes.find((known) => known === mode)
  if (found === undefined) throw invalid(where, `interactiveMode must be one of ${modes.join(', ')}`)
  return found
}

function environmentIn(exec: Readonly<Record<string, unknown>>, where: string): ExecConfig['env'] {
  const value = exec.env ?? []
  if (!Array.isArray(value)) throw invalid(where, 'env is not a list')
  return value.map((entry: unknown) => {
    if (typeof entry !== 'object' || entry === null) throw invalid(where, 'env must hold objects with name and value')
    const members = entry as Readonly<Record<string, unknown>>
    const name = stringIn(members, 'name', where)
    if (name === undefined) throw invalid(where, 'an entry of env has no name')
    return { name, value: stringIn(members, 'value', where) ?? '' }
  })
}

/** Removes control characters, which could move the cursor of a terminal. */
function withoutControls(text: string | undefined): string | undefined {
  let plain = ''
  for (const character of text ?? '') {
    const code = character.codePointAt(0) ?? 0
    if (character === '\n' || (code >= 0x20 && (code < 0x7f || code > 0x9f))) plain += character
  }
  return text === undefined ? undefined : plain
}

/** Returns the cluster for a command. `config` comes from the extension `<group>/exec`. */
export function execClusterOf(
  { members }: Entry,
  options: { readonly ca: string | undefined; readonly group: string },
): ExecCluster {
  const copied = ['server', 'tls-server-name', 'insecure-skip-tls-verify', 'proxy-url', 'disable-compression'] as const
  const config = extensionIn(members.extensions, `${options.group}/exec`)
  return {
    ...Object.fromEntries(copied.flatMap((name) => (hasValue(members[name]) ? [[name, members[name]]] : []))),
    ...(options.ca === undefined ? {} : { 'certificate-authority-data': Buffer.from(options.ca).toString('base64') }),
    ...(config === undefined ? {} : { config }),
  }
}

function hasValue(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '' && value !== false
}

function extensionIn(extensions: unknown, name: string): unknown {
  if (!Array.isArray(extensions)) return undefined
  const found = extensions.find(
    (each: unknown) => typeof each === 'object' && each !== null && (each as { name?: unknown }).name === name,
  )
  return (found as { extension?: unknown } | undefined)?.extension
}

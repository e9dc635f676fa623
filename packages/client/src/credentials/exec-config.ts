import { isAbsolute, join } from 'node:path'
import { type Entry, flagIn, invalid, textIn } from '../kubeconfig-file.ts'

/** A command that gets credentials, as member `exec` of a user has it; @see API protocol specification, 5.8. */
export interface ExecConfig {
  /** A path, or a name to look for in PATH. */
  readonly command: string
  readonly args: readonly string[]
  /** Added to the environment of the process. */
  readonly env: readonly { readonly name: string; readonly value: string }[]
  /** That the command must answer with. */
  readonly apiVersion: string
  /** Told to people whose command is missing. */
  readonly installHint: string | undefined
  /** Whether the command is told of the cluster. */
  readonly provideClusterInfo: boolean
  readonly interactiveMode: 'Never' | 'IfAvailable' | 'Always'
}

/** What a command is told of the cluster; names as they go to it. */
export type ExecCluster = Readonly<Record<string, unknown>>

const modes = ['Never', 'IfAvailable', 'Always'] as const

/** @throws ClientError `InvalidKubeconfig` */
export function readExecConfig(user: Entry, group: string): ExecConfig {
  const where = `${user.name}: exec`
  const members = user.members.exec
  if (typeof members !== 'object' || members === null || Array.isArray(members)) throw invalid(where, 'is not an object')
  const exec = members as Readonly<Record<string, unknown>>
  const command = textIn(exec, 'command', where)
  if (command === undefined) throw invalid(where, 'names no command')
  const apiVersion = textIn(exec, 'apiVersion', where)
  if (apiVersion !== `${group}/v1` && apiVersion !== `${group}/v1beta1`)
    throw invalid(where, `apiVersion must be ${group}/v1 or ${group}/v1beta1`)
  return {
    command: isPath(command) && !isAbsolute(command) ? join(user.folder, command) : command,
    args: listOfTexts(exec, 'args', where),
    env: environmentIn(exec, where),
    apiVersion,
    installHint: plainText(textIn(exec, 'installHint', where)),
    provideClusterInfo: flagIn(exec, 'provideClusterInfo', where),
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
  const mode = textIn(exec, 'interactiveMode', where)
  if (mode === undefined) {
    if (apiVersion.endsWith('/v1beta1')) return 'IfAvailable'
    throw invalid(where, 'interactiveMode is needed')
  }
  const found = modes.find((known) => known === mode)
  if (found === undefined) throw invalid(where, `interactiveMode must be one of ${modes.join(', ')}`)
  return found
}

function listOfTexts(exec: Readonly<Record<string, unknown>>, name: string, where: string): readonly string[] {
  const value = exec[name] ?? []
  if (Array.isArray(value) && value.every((one): one is string => typeof one === 'string')) return value
  throw invalid(where, `${name} is not a list of texts`)
}

function environmentIn(exec: Readonly<Record<string, unknown>>, where: string): ExecConfig['env'] {
  const value = exec.env ?? []
  if (!Array.isArray(value)) throw invalid(where, 'env is not a list')
  return value.map((entry: unknown) => {
    if (typeof entry !== 'object' || entry === null) throw invalid(where, 'env holds something else than names and values')
    const members = entry as Readonly<Record<string, unknown>>
    const name = textIn(members, 'name', where)
    if (name === undefined) throw invalid(where, 'env holds a value without a name')
    return { name, value: textIn(members, 'value', where) ?? '' }
  })
}

/** Without what could move a terminal's cursor. */
function plainText(text: string | undefined): string | undefined {
  let plain = ''
  for (const character of text ?? '') {
    const code = character.codePointAt(0) ?? 0
    if (character === '\n' || (code >= 0x20 && (code < 0x7f || code > 0x9f))) plain += character
  }
  return text === undefined ? undefined : plain
}

/** What a command may learn of a cluster entry; `config` comes from the extension that is meant for it. */
export function execClusterOf(
  { members }: Entry,
  options: { readonly ca: string | undefined; readonly group: string },
): ExecCluster {
  const copied = ['server', 'tls-server-name', 'insecure-skip-tls-verify', 'proxy-url', 'disable-compression'] as const
  const config = extensionIn(members.extensions, `${options.group}/exec`)
  return {
    ...Object.fromEntries(copied.flatMap((name) => (isSet(members[name]) ? [[name, members[name]]] : []))),
    ...(options.ca === undefined ? {} : { 'certificate-authority-data': Buffer.from(options.ca).toString('base64') }),
    ...(config === undefined ? {} : { config }),
  }
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '' && value !== false
}

function extensionIn(extensions: unknown, name: string): unknown {
  if (!Array.isArray(extensions)) return undefined
  const found = extensions.find(
    (one: unknown) => typeof one === 'object' && one !== null && (one as { name?: unknown }).name === name,
  )
  return (found as { extension?: unknown } | undefined)?.extension
}

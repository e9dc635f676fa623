import { pemBlocks } from '@krmkit/base/pem'
import {
  type BootstrapTokenRecord,
  type BootstrapTokenUsage,
  bootstrapSecretName,
  bootstrapSecretType,
  bootstrapTokenSecret,
  bootstrapTokenUsages,
  formatBootstrapToken,
  generateBootstrapToken,
  isBootstrapTokenId,
  parseBootstrapToken,
  publicKeyPinOf,
  readBootstrapToken,
} from '@krmkit/certificates/bootstrap'
import { type Client, createRemoteClient, type KubeconfigConnection, resourceType } from '@krmkit/client'
import { type ApiObject, formatTime, type Random, stockProfile } from '@krmkit/meta'
import { columns } from '../access/access-text.ts'
import { connectionOf, withClient } from '../access/rbac-source.ts'
import { type ObjectForm, printObjects } from '../offline/print.ts'
import { exitCodes, type Terminal } from '../offline/terminal.ts'
import { publishClusterInfo } from './cluster-info.ts'

/** Flags of the connection to the server. */
export interface ServerFlags {
  readonly kubeconfig?: string
  readonly context?: string
}

export interface CreateFlags extends ServerFlags {
  /** Milliseconds; 0: no expiration. */
  readonly ttl: number
  readonly usages: readonly BootstrapTokenUsage[]
  readonly groups: readonly string[]
  readonly description?: string
  readonly printJoinCommand: boolean
}

export interface ListFlags extends ServerFlags {
  readonly output: 'text' | ObjectForm
}

interface Secret extends ApiObject {
  type?: string
  data?: Record<string, string>
}

const secrets = resourceType<Secret>({ group: '', version: 'v1', resource: 'secrets', kind: 'Secret' })
const namespace = stockProfile.systemNamespace

/** Runs `krmkit token generate`. */
export function runGenerate(terminal: Terminal, random: Random): number {
  terminal.out(`${formatBootstrapToken(generateBootstrapToken(random))}\n`)
  return exitCodes.success
}

/** Runs `krmkit token create`. @throws CliError, CertificateError, ApiError, ClientError */
export async function runCreate(
  given: string | undefined,
  flags: CreateFlags,
  { terminal, random }: { readonly terminal: Terminal; readonly random: Random },
): Promise<number> {
  const token = given === undefined ? generateBootstrapToken(random) : parseBootstrapToken(readArgument(given, terminal))
  const { ttl, usages, groups, description = '' } = flags
  const expires = ttl === 0 ? {} : { expires: terminal.now() + ttl }
  const secret = bootstrapTokenSecret(token, { usages, groups, description, ...expires })
  const connection = await connectionOf(flags)
  await withClient(createRemoteClient(connection), (client) => client.create(secrets, secret, { fieldManager: 'krmkit' }))
  const text = formatBootstrapToken(token)
  terminal.out(flags.printJoinCommand ? `${joinCommand(text, connection)}\n` : `${text}\n`)
  return exitCodes.success
}

/** Runs `krmkit token list`. Secrets without a token of their name are reported on the error stream. */
export async function runList(flags: ListFlags, terminal: Terminal): Promise<number> {
  const fieldSelector = `type=${bootstrapSecretType(stockProfile)}`
  const { items } = await withServer(flags, (client) => client.list(secrets, { namespace, fieldSelector }))
  const records: BootstrapTokenRecord[] = []
  for (const item of items) {
    const record = readBootstrapToken(item)
    if (record === undefined) terminal.err(`krmkit: Secret ${JSON.stringify(item.metadata.name)} holds no token of its name\n`)
    else records.push(record)
  }
  if (flags.output !== 'text') {
    if (records.length > 0) terminal.out(printObjects(records.map(printedForm), flags.output))
  } else if (records.length > 0) {
    const heading = ['TOKEN', 'TTL', 'EXPIRES', 'USAGES', 'DESCRIPTION', 'EXTRA GROUPS']
    terminal.out(columns([heading, ...records.map((record) => rowOf(record, terminal.now()))]))
  }
  return exitCodes.success
}

/** Runs `krmkit token delete`; each token is named by its id or as a whole. */
export async function runDelete(given: readonly string[], flags: ServerFlags, terminal: Terminal): Promise<number> {
  const ids = given.map((each) => {
    const text = readArgument(each, terminal)
    return isBootstrapTokenId(text) ? text : parseBootstrapToken(text).id
  })
  await withServer(flags, async (client) => {
    for (const id of ids) {
      await client.delete(secrets, bootstrapSecretName(id), { namespace })
      terminal.out(`bootstrap token ${JSON.stringify(id)} deleted\n`)
    }
  })
  return exitCodes.success
}

/** Runs `krmkit token publish-cluster-info`. */
export async function runPublish(flags: ServerFlags & { readonly server?: string }, terminal: Terminal): Promise<number> {
  const connection = await connectionOf(flags)
  const server = flags.server ?? connection.server
  await withClient(createRemoteClient(connection), (client) => publishClusterInfo(client, { server, authority: connection.ca }))
  terminal.out(`${stockProfile.publicNamespace}/cluster-info published for ${server}\n`)
  return exitCodes.success
}

/** Reads a token argument; `-` reads standard input, which other users of the machine cannot see. */
export function readArgument(given: string, terminal: Terminal): string {
  return given === '-' ? terminal.stdin().trim() : given
}

async function withServer<T>(flags: ServerFlags, use: (client: Client) => Promise<T>): Promise<T> {
  return withClient(createRemoteClient(await connectionOf(flags)), use)
}

function joinCommand(token: string, { server, ca }: KubeconfigConnection): string {
  // A kubeconfig with a bundle has at least one authority.
  const pins = ca === undefined ? [] : pemBlocks(ca, 'CERTIFICATE').map(publicKeyPinOf)
  const trust =
    ca === undefined
      ? '--discovery-token-unsafe-skip-ca-verification'
      : pins.map((pin) => `--discovery-token-ca-cert-hash ${pin}`).join(' ')
  return `krmkit join-info ${server} --token ${token} ${trust}`
}

function rowOf(record: BootstrapTokenRecord, now: number): readonly string[] {
  const { expires, usages, description, groups } = record
  const unknown = usages.filter((usage) => !(bootstrapTokenUsages as readonly string[]).includes(usage))
  const known = bootstrapTokenUsages.filter((usage) => usages.includes(usage))
  return [
    formatBootstrapToken(record),
    expires === 'never' ? '<forever>' : expires === 'unreadable' ? '<invalid>' : lifeOf(expires - now),
    expires === 'never' ? '<never>' : expires === 'unreadable' ? '<invalid>' : formatTime(expires),
    orNone([...known, ...unknown].join(',')),
    orNone(description.replace(/\s+/g, ' ')),
    orNone(groups.join(',')),
  ]
}

/** Formats a duration in its largest whole unit. */
function lifeOf(ms: number): string {
  if (ms <= 0) return '<expired>'
  const [size, letter] = units.find(([each]) => ms >= each) ?? [1000, 's']
  return `${Math.floor(ms / size)}${letter}`
}

const units: readonly (readonly [number, string])[] = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'm'],
]

function orNone(text: string): string {
  return text === '' ? '<none>' : text
}

function printedForm({ id, secret, expires, description, usages, groups }: BootstrapTokenRecord) {
  return {
    token: formatBootstrapToken({ id, secret }),
    ...(description === '' ? {} : { description }),
    ...(typeof expires === 'number' ? { expires: formatTime(expires) } : {}),
    usages,
    groups,
  }
}

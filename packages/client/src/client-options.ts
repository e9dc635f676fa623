import {
  isObject,
  kindsProblem,
  membersProblem,
  type OptionKind,
  type OptionKinds,
  optionsProblem,
  shown,
} from '@krmkit/base/arguments'
import type { Clock, Random, UserInfo } from '@krmkit/meta'
import { invalidRequest } from './call-arguments.ts'
import type { ProtobufCodecOptions } from './protobuf-codec.ts'
import type { Impersonation } from './request-options.ts'

/** The options of clients and their validation: an ignored user would make a client act as another user. */

/** Options of every client, in-process or remote. */
export interface ClientOptions {
  /** Namespace of calls without one. Default `default`. */
  readonly namespace?: string
  /** Headers sent with every request. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>
  /** Default `krmkit`. */
  readonly userAgent?: string
  /** Impersonates another user; requires the permission to impersonate. */
  readonly impersonate?: Impersonation
  readonly clock?: Clock
  readonly random?: Pick<Random, 'bytes'>
  /** Maximum number of retries after responses with a Retry-After. Default 10. */
  readonly maxRetries?: number
  /**
   * Maximum duration of one watch request in milliseconds, after which the watch is resumed. The server is asked for a
   * shorter timeout, and a connection that stays open longer is dropped. Default: 10 minutes for remote clients; for others
   * the server decides.
   */
  readonly watchTimeoutMs?: number
  /** Receives the text of each Warning header. */
  readonly onWarning?: (text: string) => void
  /**
   * Sends and requests objects of known types as protobuf; `request()` uses the media types of its headers. Default: JSON.
   *
   * @example
   * import { createRemoteClient, loadKubeconfig } from '@krmkit/client'
   * import { createCatalog } from '@krmkit/kinds'
   * createRemoteClient({ ...(await loadKubeconfig()), protobuf: { kinds: createCatalog() } })
   */
  readonly protobuf?: ProtobufCodecOptions
}

const clientKinds: OptionKinds<ClientOptions> = {
  namespace: 'text',
  headers: 'object',
  userAgent: 'text',
  impersonate: 'object',
  clock: 'object',
  random: 'object',
  maxRetries: 'number',
  watchTimeoutMs: 'number',
  onWarning: 'function',
  protobuf: 'object',
}
const impersonationKinds: OptionKinds<Impersonation> = { user: 'text', groups: 'texts', uid: 'text', extra: 'object' }
const userKinds: OptionKinds<UserInfo> = { username: 'text', groups: 'texts', uid: 'text', extra: 'object' }

export interface ExpectedOptions {
  /** Name of the function that takes the options. */
  readonly what: string
  readonly kinds: Readonly<Record<string, OptionKind>>
  /** Options of a typical call. */
  readonly example: string
}

/** @throws ClientError `InvalidRequest` */
export function checkArguments(options: unknown, expected: ExpectedOptions): void {
  failWith(optionsProblem(options, expected))
}

/** @param expected options in addition to those of every client @throws ClientError `InvalidRequest` */
export function checkClientOptions(options: object, expected: ExpectedOptions): void {
  checkArguments(options, { ...expected, kinds: { ...expected.kinds, ...clientKinds } })
  const { impersonate } = options as Pick<ClientOptions, 'impersonate'>
  if (impersonate === undefined) return
  checkArguments(impersonate, { what: 'impersonate', kinds: impersonationKinds, example: '' })
  if (!impersonate.user) throw invalidRequest('impersonate needs a user, such as { user: "alice" }')
}

/** Whether a value has these functions. @throws ClientError `InvalidRequest` */
export function checkFunctions(value: unknown, names: readonly string[], message: string): void {
  const members = Object(value) as Readonly<Record<string, unknown>>
  if (names.some((name) => typeof members[name] !== 'function')) throw invalidRequest(`${message}, not ${shown(value)}`)
}

/** Validates the user of in-process requests; omitted groups become empty. @throws ClientError `InvalidRequest` */
export function checkedUser(user: UserInfo): UserInfo {
  if (!isObject(user)) throw invalidRequest(`user is { username, groups }, not ${shown(user)}`)
  failWith(membersProblem('user', user, userKinds) ?? kindsProblem('user', user, userKinds))
  if (!user.username) throw invalidRequest('user needs a username')
  return user.groups === undefined ? { ...(user as UserInfo), groups: [] } : user
}

function failWith(problem: string | undefined): void {
  if (problem !== undefined) throw invalidRequest(problem)
}

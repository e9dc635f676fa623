import { type FrontProxyHeaders, parseAuthorities } from '@krmkit/authentication'
import type { Clock } from '@krmkit/meta'
import { CliError, messageOf } from '../cli-error.ts'
import { readText } from '../files.ts'
import { type WatchedFile, watchFile } from '../watched-file.ts'
import type { AuthenticationOptions } from './options.ts'

/** The certificate authorities of clients and proxies, reloaded when their files change. */
export interface CertificateBundles extends Disposable {
  /** PEM of the client certificate authorities; undefined when there are none. */
  readonly clientCa: (() => string) | undefined
  /** PEM of the authorities of authenticating proxies. */
  readonly frontCa: (() => string) | undefined
  readonly proxyHeaders: FrontProxyHeaders | undefined
  /** All authorities, as named in the TLS handshake. */
  all(): string | undefined
  onChange(change: (pem: string) => void): void
}

/** @throws CliError for a file that cannot be read or parsed. */
export async function createCertificateBundles(
  options: AuthenticationOptions,
  environment: {
    readonly clock: Clock
    readonly onError: (error: unknown) => void
    /** PEM of a client certificate authority in addition to those of the file. */
    readonly ownAuthority?: string | undefined
  },
): Promise<CertificateBundles> {
  const { ownAuthority } = environment
  let changed: ((pem: string) => void) | undefined
  // For a partly written or invalid file, the last valid one stays in effect.
  const onChange = (text: string) => {
    try {
      parseAuthorities(text)
    } catch (error) {
      environment.onError(error)
      return
    }
    changed?.(all() ?? '')
  }
  const follow = (path: string | undefined, flag: string) =>
    path === undefined ? undefined : bundleFile(path, { ...environment, flag, onChange })
  const client = await follow(options.clientCaFile, 'client-ca-file')
  const front = await follow(options.requestheaderClientCaFile, 'requestheader-client-ca-file')
  const joined = (...texts: (string | undefined)[]) => {
    const given = texts.filter((text) => text !== undefined)
    return given.length === 0 ? undefined : given.join('\n')
  }
  let cached: { readonly file: string | undefined; readonly text: string } | undefined
  // Called for every request with a certificate, hence the cache.
  const clientAuthorities = () => {
    if (cached === undefined || cached.file !== client?.text)
      cached = { file: client?.text, text: joined(client?.text, ownAuthority) ?? '' }
    return cached.text
  }
  const all = () => joined(client?.text, ownAuthority, front?.text)
  const proxyHeaders = front === undefined ? namedHeaders(options) : headersOf(options)
  if (front !== undefined && client !== undefined) refuseCommonAuthorities(options, { client: client.text, front: front.text })
  return {
    clientCa: client === undefined && ownAuthority === undefined ? undefined : clientAuthorities,
    frontCa: front && (() => front.text),
    proxyHeaders,
    all,
    onChange(change) {
      changed = change
    },
    [Symbol.dispose]() {
      client?.[Symbol.dispose]()
      front?.[Symbol.dispose]()
    },
  }
}

/** Reads a PEM bundle of authorities. @throws CliError `FileFailed` when it is empty or a certificate cannot be parsed. */
export async function readAuthorities(path: string, flag: string): Promise<string> {
  const text = await readText(path, flag)
  requireAuthorities(text, { path, flag })
  return text
}

function requireAuthorities(text: string, { path, flag }: { readonly path: string; readonly flag: string }): void {
  try {
    parseAuthorities(text)
  } catch (cause) {
    const why = messageOf(cause)
    throw new CliError({ code: 'FileFailed', message: `--${flag}: ${path}: ${why}`, cause })
  }
}

async function bundleFile(
  path: string,
  options: {
    readonly clock: Clock
    readonly flag: string
    readonly onError: (error: unknown) => void
    readonly onChange: (text: string) => void
  },
): Promise<WatchedFile> {
  const { flag } = options
  let file: WatchedFile
  try {
    file = await watchFile(path, options)
  } catch (cause) {
    throw new CliError({ code: 'FileFailed', message: `--${flag}: cannot read ${path}`, cause })
  }
  try {
    requireAuthorities(file.text, { path, flag })
    return file
  } catch (error) {
    file[Symbol.dispose]()
    throw error
  }
}

/** The headers that flags name without a front proxy: callers may not send them to servers behind this one. */
function namedHeaders(options: AuthenticationOptions): FrontProxyHeaders | undefined {
  const { requestheaderUsernameHeaders, requestheaderUidHeaders, requestheaderGroupHeaders, requestheaderExtraHeadersPrefix } =
    options
  const others = [...requestheaderUidHeaders, ...requestheaderGroupHeaders, ...requestheaderExtraHeadersPrefix]
  const names = [...requestheaderUsernameHeaders, 'X-Remote-User']
  return requestheaderUsernameHeaders.length + others.length === 0
    ? undefined
    : headersOf({ ...options, requestheaderUsernameHeaders: names })
}

function headersOf(options: AuthenticationOptions): FrontProxyHeaders {
  if (options.requestheaderUsernameHeaders.length === 0) {
    throw new CliError({
      code: 'InvalidFlag',
      message: '--requestheader-client-ca-file needs --requestheader-username-headers, such as X-Remote-User',
    })
  }
  return {
    usernameHeaders: options.requestheaderUsernameHeaders,
    uidHeaders: options.requestheaderUidHeaders,
    groupHeaders: options.requestheaderGroupHeaders,
    extraHeaderPrefixes: options.requestheaderExtraHeadersPrefix,
  }
}

/**
 * Rejects an authority that signs both clients and proxies without a list of proxy names: every client certificate would then be able to
 * impersonate any user.
 *
 * Differs: kube-apiserver only warns.
 */
function refuseCommonAuthorities(
  { requestheaderAllowedNames }: AuthenticationOptions,
  bundles: { readonly client: string; readonly front: string },
): void {
  if (requestheaderAllowedNames.length > 0) return
  const callers = new Set(parseAuthorities(bundles.client).map(({ fingerprint256 }) => fingerprint256))
  if (!parseAuthorities(bundles.front).some(({ fingerprint256 }) => callers.has(fingerprint256))) return
  throw new CliError({
    code: 'InvalidFlag',
    message:
      '--requestheader-client-ca-file and --client-ca-file share an authority: set --requestheader-allowed-names, otherwise every client could act as a proxy',
  })
}

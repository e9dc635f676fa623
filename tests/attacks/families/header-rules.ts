import type { RawHeader } from '../harness/http1.ts'

/**
 * The rules by which headers determine the user of a request: an independent, small model of kube-apiserver, against which
 * responses are checked.
 */

export interface Identity {
  readonly username: string
  readonly groups: readonly string[]
}

export type Transport = 'http1' | 'http2' | 'in-process'

/** The certificate of the connection. */
export type Shown = 'none' | 'bob' | 'proxy' | 'stranger'

export interface HeaderCase {
  readonly name: string
  readonly transport: Transport
  readonly shown: Shown
  readonly headers: readonly RawHeader[]
}

export interface Expected {
  /** Undefined: the request must be rejected. */
  readonly as: Identity | undefined
  /** Rejection is also correct: for malformed or repeated headers, and for lists beyond those of stock clients. */
  readonly mayRefuse: boolean
}

export const knownTokens: Readonly<Record<string, Identity>> = {
  'admin-token-0123456789': { username: 'admin', groups: ['system:masters'] },
  'alice-token-0123456789': { username: 'alice', groups: ['dev', 'ops'] },
  'carol-token-0123456789': { username: 'carol', groups: ['guests'] },
}
const bob: Identity = { username: 'bob', groups: ['dev'] }

/** The size up to which lists of stock clients must be accepted. */
const usual = { headers: 500, bytes: 64 * 1024 }

export function expectedIdentity({ transport, shown, headers }: HeaderCase): Expected {
  const values = new Map<string, Buffer[]>()
  let odd = false
  let bytes = 0
  for (const [name, raw] of headers) {
    const value = transport === 'http1' ? trimmed(raw) : Buffer.from(raw)
    const lower = name.toLowerCase()
    bytes += name.length + raw.length
    if (!/^[!#$%&'*+.^_`|~0-9a-z-]+$/.test(lower) || (transport === 'http2' && name !== lower)) odd = true
    if (isIdentityHeader(lower, shown) && isMalformed(value)) return refused
    if (transport !== 'http1' && trimmed(value).length !== value.length) odd = true
    if (isMalformed(value) || value.some((byte) => byte >= 0x80)) odd = true
    values.set(lower, [...(values.get(lower) ?? []), value])
  }
  const text = (name: string) => (values.get(name) ?? []).map((value) => value.toString('utf8'))
  const large = headers.length > usual.headers || bytes > usual.bytes
  const repeated = singular.some((name) => (values.get(name)?.length ?? 0) > 1)
  const mayRefuse = odd || large || repeated
  const caller = callerOf(text, shown)
  if (caller === undefined) return refused
  return impersonated(caller, text, {
    mayRefuse,
    extras: [...values.keys()].some((name) => name.startsWith('impersonate-extra-')),
  })
}

const refused: Expected = { as: undefined, mayRefuse: true }
/** Headers with a single value. */
const singular = ['authorization', 'impersonate-user', 'impersonate-uid', 'x-remote-user', 'x-remote-uid']

function isIdentityHeader(name: string, shown: Shown): boolean {
  return name === 'authorization' || name.startsWith('impersonate-') || (shown === 'proxy' && name.startsWith('x-remote-'))
}

/** Control characters except tab, and DEL, which header values cannot contain. */
function isMalformed(value: Uint8Array): boolean {
  return value.some((byte) => (byte < 0x20 && byte !== 9) || byte === 0x7f)
}

function trimmed(raw: Uint8Array): Buffer {
  const isSpace = (byte: number | undefined) => byte === 0x20 || byte === 9
  let start = 0
  let end = raw.length
  while (start < end && isSpace(raw[start])) start++
  while (end > start && isSpace(raw[end - 1])) end--
  return Buffer.from(raw.subarray(start, end))
}

function callerOf(text: (name: string) => readonly string[], shown: Shown): Identity | undefined {
  const named = text('x-remote-user').find((name) => name !== '')
  if (shown === 'proxy' && named !== undefined)
    return { username: named, groups: text('x-remote-group').filter((group) => group !== '') }
  if (shown === 'bob') return bob
  const [scheme = '', token = ''] = (text('authorization')[0] ?? '').trim().split(' ', 3)
  return scheme.toLowerCase() === 'bearer' ? knownTokens[token] : undefined
}

function impersonated(
  caller: Identity,
  text: (name: string) => readonly string[],
  { mayRefuse, extras }: { mayRefuse: boolean; extras: boolean },
): Expected {
  const users = text('impersonate-user')
  const groups = text('impersonate-group')
  const uid = text('impersonate-uid')[0] ?? ''
  const username = users[0] ?? ''
  if (username === '') {
    if (groups.length > 0 || uid !== '' || extras) return refused
    // kube-apiserver treats an empty name as the caller; rejecting it is stricter.
    return { as: caller, mayRefuse: mayRefuse || users.length > 0 }
  }
  if (!caller.groups.includes('system:masters')) return refused
  return { as: { username, groups }, mayRefuse: mayRefuse || groups.includes('') }
}

/** Undefined when the response is correct; otherwise the reason. */
export function judgeIdentity(
  expected: Expected,
  answer: { readonly status: number; readonly identity: Identity | undefined },
): string | undefined {
  const { status, identity } = answer
  if (identity === undefined) {
    if (status >= 500) return `answered with ${status}`
    const isRefusal = status === 0 || status === 400 || status === 401 || status === 403 || status === 431
    if (!isRefusal) return `answered with ${status} without an identity`
    return expected.mayRefuse ? undefined : `refused with ${status}, but is ${show(expected.as)}`
  }
  if (expected.as === undefined) return `ran as ${show(identity)}, but must be refused`
  const same = identity.username === expected.as.username && sameGroups(identity.groups, expected.as.groups)
  return same ? undefined : `ran as ${show(identity)}, but is ${show(expected.as)}`
}

/** The server adds its groups to the given ones. */
function sameGroups(found: readonly string[], named: readonly string[]): boolean {
  const own = new Set(['system:authenticated', 'system:unauthenticated'])
  const without = (groups: readonly string[]) =>
    [...new Set(groups)]
      .filter((group) => !own.has(group))
      .sort()
      .join('\n')
  return without(found) === without(named)
}

function show(identity: Identity | undefined): string {
  return identity === undefined
    ? 'refused'
    : JSON.stringify(`${identity.username} of ${identity.groups.slice(0, 4).join(', ')}`.slice(0, 160))
}

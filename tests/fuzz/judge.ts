import type { Identity } from '../attacks/families/header-rules.ts'
import type { RawAnswer } from '../attacks/harness/http1.ts'
import { faultOf } from '../attacks/harness/target.ts'
import type { Draft } from './requests.ts'

/** Checks the response to a random request. */

/** What callers without permissions may do besides discovery. */
const openToAll = /^\/apis\/(authentication|authorization)\.k8s\.io\/v1\/selfsubject(access|rules)?reviews$/
const resourcePath = /^\/(api\/v1|apis\/[^/]+\/[^/]+)\/[^/]/

/** Undefined for a proper response; otherwise the problem. */
export function judge(draft: Draft, answer: RawAnswer): string | undefined {
  const { expected } = draft
  const { status, text } = answer
  if (status === 0) return expected.mayRefuse || isRefusedByParsers(draft) ? undefined : `no answer: ${text}`
  const fault = faultOf(answer)
  if (fault !== undefined) return fault
  return wrongUser(draft, answer) ?? (status >= 400 ? undefined : wrongRights(draft, status))
}

/** Requests that no HTTP library accepts: the connection ends with or without a response. */
function isRefusedByParsers({ method, path }: Draft): boolean {
  return method === 'BREW' || !path.startsWith('/') || /[^\x21-\x7e]/.test(path)
}

function wrongUser({ expected }: Draft, { text }: RawAnswer): string | undefined {
  const shown = shownUser(text)
  if (shown === undefined) return undefined
  // Rejected impersonation names the caller, which is also known.
  const callers = ['system:anonymous', 'admin', 'alice', 'carol']
  const named = expected.as?.username
  if (shown.refused) {
    const right = named === undefined || isQuoted(shown.username) || shown.username === named || callers.includes(shown.username)
    return right ? undefined : `refused as ${shown.username}, but is ${named}`
  }
  return shown.username === named ? undefined : `ran as ${shown.username}, but is ${named ?? 'refused'}`
}

/** The user that a response names: in a review, or in an error. */
function shownUser(text: string): { readonly username: string; readonly refused: boolean } | undefined {
  const review = text.includes('"userInfo"') ? /"userInfo":\{"username":("(?:[^"\\]|\\.)*")/.exec(text) : null
  if (review !== null) return { username: JSON.parse(review[1] ?? '""') as string, refused: false }
  const refusal = text.includes('is forbidden') ? /User \\"((?:[^"\\]|\\[^"])*)\\" cannot/.exec(text) : null
  return refusal === null ? undefined : { username: refusal[1] ?? '', refused: true }
}

/** Names with other characters are quoted in messages as by Go. */
function isQuoted(username: string): boolean {
  return username.includes('\\\\')
}

/** Success without permission. */
function wrongRights({ expected, path, method }: Draft, status: number): string | undefined {
  if (isMaster(expected.as) || status >= 300) return undefined
  if (!resourcePath.test(path) || openToAll.test(path) || method === 'OPTIONS') return undefined
  return `answered with ${status} for ${expected.as?.username ?? 'a caller who must be refused'}`
}

function isMaster(identity: Identity | undefined): boolean {
  return identity?.groups.includes('system:masters') === true
}

/** A browser request. */
export function describe({ index, method, path, query, headers, body }: Draft, { status, text }: RawAnswer): string {
  const shown = headers.map(([name, value]) => `${name}: ${JSON.stringify(Buffer.from(value).toString('latin1').slice(0, 200))}`)
  return `request ${index}: ${method} ${path.slice(0, 300)}?${query.slice(0, 300)}\n${shown.join('\n')}\n${Buffer.from(body).toString().slice(0, 600)}\n-> ${status} ${text.slice(0, 600)}`
}

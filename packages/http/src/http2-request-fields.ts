/** What a header list of HTTP/2 says about the request itself. */
export interface RequestFields {
  readonly method: string
  readonly target: string
  readonly contentLength: string | undefined
  /** The list is that of a request: its pseudo headers are there, once and in front, and nothing is about the connection. */
  readonly wellFormed: boolean
}

const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
/** A path, an asterisk, or the absolute form that some clients of the stock server send. */
const requestTarget = /^(?:\*|\/[^ ]*|https?:\/\/[^ ]+)$/
const digits = /^\d{1,15}$/

/** Fields with rules of their own: false for those that must not be there. */
const special = new Map<string, boolean>([
  ['connection', false],
  ['keep-alive', false],
  ['proxy-connection', false],
  ['transfer-encoding', false],
  ['upgrade', false],
  ['content-length', true],
  ['host', true],
  ['te', true],
])

/** @see RFC 9113, 8.1 to 8.3 */
export function readRequestFields(raw: readonly string[]): RequestFields {
  const pseudo: Record<string, string | undefined> = {
    ':method': undefined,
    ':scheme': undefined,
    ':path': undefined,
    ':authority': undefined,
  }
  let at = 0
  let wellFormed = true
  for (; at + 1 < raw.length && raw[at]!.charCodeAt(0) === 58; at += 2) {
    const name = raw[at]!
    if (!(name in pseudo) || pseudo[name] !== undefined) wellFormed = false
    pseudo[name] = raw[at + 1]!
  }
  const single = new Map<string, string>()
  for (; at + 1 < raw.length; at += 2) {
    const name = raw[at]!
    if (name.charCodeAt(0) === 58) wellFormed = false
    const allowed = special.get(name)
    if (allowed === undefined) continue
    if (!allowed || single.has(name)) wellFormed = false
    single.set(name, raw[at + 1]!)
  }
  const { ':method': method = '', ':scheme': scheme = '', ':path': path = '' } = pseudo
  const contentLength = single.get('content-length')
  if (!token.test(method)) wellFormed = false
  // CONNECT has no target; it is answered 405.
  if (method !== 'CONNECT' && (scheme === '' || !requestTarget.test(path))) wellFormed = false
  if (contentLength !== undefined && !digits.test(contentLength)) wellFormed = false
  if ((single.get('te') ?? 'trailers') !== 'trailers') wellFormed = false
  return { method, target: path === '' ? '/' : path, contentLength, wellFormed }
}

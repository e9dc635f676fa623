/** The request line of an HTTP/2 header list, and the fields that framing depends on. */
export interface RequestFields {
  readonly method: string
  readonly target: string
  readonly contentLength: string | undefined
  /**
   * Whether the list follows the rules for requests: each pseudo-header once and before other fields, and no connection-specific fields.
   */
  readonly wellFormed: boolean
}

const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
/** A path, an asterisk, or the absolute form, which kube-apiserver accepts. */
const requestTarget = /^(?:\*|\/[^ ]*|https?:\/\/[^ ]+)$/
const digits = /^\d{1,15}$/

/** Fields with special rules; false marks forbidden fields. */
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

/** Reads and checks the fields. @see RFC 9113, 8.1 to 8.3 */
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
  // CONNECT has no target. It is rejected with 405 later.
  if (method !== 'CONNECT' && (scheme === '' || !requestTarget.test(path))) wellFormed = false
  if (contentLength !== undefined && !digits.test(contentLength)) wellFormed = false
  if ((single.get('te') ?? 'trailers') !== 'trailers') wellFormed = false
  return { method, target: path === '' ? '/' : path, contentLength, wellFormed }
}

import type { JsonObject, JsonValue, Status, StatusCause, StatusDetails } from '@krmkit/meta'
import { truncateGoText } from '@krmkit/meta/go-text'
import { membersOf, mismatch, own, text, whole } from './go-json.ts'

/** Reads the Status of a webhook's response: the member `name` of the Go type and path `at`. */
export function statusOf(members: JsonObject, at: string, name: string): Status | undefined {
  const value = own(members, name)
  if (value === undefined || value === null) return undefined
  const given = membersOf(value, `${at}.${name}`, 'v1.Status')
  // Go names the innermost type, then the whole path.
  const path = `${at.slice(at.indexOf('.') + 1)}.${name}`
  const where = `Status.${path}`
  const status: Status = { kind: 'Status', apiVersion: 'v1', metadata: listMeta(own(given, 'metadata'), path) }
  const word = text(given, 'status', where)
  const message = text(given, 'message', where)
  const reason = text(given, 'reason', where, 'v1.StatusReason')
  const code = whole(given, 'code', where)
  const details = own(given, 'details')
  if (word !== '') status.status = word as 'Success' | 'Failure'
  if (message !== '') status.message = message
  if (reason !== '') status.reason = truncateGoText(reason)
  if (details !== undefined && details !== null)
    status.details = detailsOf(membersOf(details, `${where}.details`, 'v1.StatusDetails'), `${path}.details`)
  if (code !== undefined) status.code = code
  return status
}

function listMeta(value: JsonValue | undefined, path: string): Status['metadata'] {
  if (value === undefined || value === null) return {}
  const given = membersOf(value, `Status.${path}.metadata`, 'v1.ListMeta')
  const where = `ListMeta.${path}.metadata`
  const resourceVersion = text(given, 'resourceVersion', where)
  const token = text(given, 'continue', where)
  return { ...(resourceVersion === '' ? {} : { resourceVersion }), ...(token === '' ? {} : { continue: token }) }
}

function detailsOf(given: JsonObject, path: string): StatusDetails {
  const where = `StatusDetails.${path}`
  const details: StatusDetails = {}
  for (const name of ['name', 'group', 'kind', 'uid'] as const) {
    const value = text(given, name, where, name === 'uid' ? 'types.UID' : 'string')
    if (value !== '') details[name] = value
  }
  const causes = own(given, 'causes')
  if (causes !== undefined && causes !== null) {
    if (!Array.isArray(causes)) throw mismatch(causes, `${where}.causes`, '[]v1.StatusCause')
    if (causes.length > 0) details.causes = causesOf(causes, { where: `${where}.causes`, path: `${path}.causes` })
  }
  const seconds = whole(given, 'retryAfterSeconds', where)
  if (seconds !== undefined && seconds !== 0) details.retryAfterSeconds = seconds
  return details
}

/** As many causes as a Status of this server has. Differs: all of them on kube-apiserver. */
const maxCauses = 1000
const maxCauseCharacters = 256 * 1024

function causesOf(
  given: readonly JsonValue[],
  { where, path }: { readonly where: string; readonly path: string },
): StatusCause[] {
  const causes: StatusCause[] = []
  let characters = 0
  for (const each of given) {
    const cause = causeOf(membersOf(each, where, 'v1.StatusCause'), `StatusCause.${path}`)
    for (const text of Object.values(cause)) characters += text.length
    if (causes.length >= maxCauses || characters > maxCauseCharacters) break
    causes.push(cause)
  }
  return causes
}

function causeOf(given: JsonObject, where: string): StatusCause {
  const cause: StatusCause = {}
  for (const name of ['reason', 'message', 'field'] as const) {
    const value = text(given, name, where, name === 'reason' ? 'v1.CauseType' : 'string')
    if (value !== '') cause[name] = value
  }
  return cause
}

import type { JsonObject, JsonValue, Status, StatusCause, StatusDetails } from '@krmkit/meta'
import { truncateGoText } from '@krmkit/meta/go-text'
import { at, membersOf, mismatch, own, text, whole } from './go-json.ts'

/** Reads the Status of a webhook's response. */
export function statusOf(members: JsonObject): Status | undefined {
  const value = own(members, 'status')
  if (value === undefined || value === null) return undefined
  const where = `${at}.status`
  const given = membersOf(value, where, 'v1.Status')
  const status: Status = { kind: 'Status', apiVersion: 'v1', metadata: listMeta(own(given, 'metadata'), where) }
  const word = text(given, 'status', where)
  const message = text(given, 'message', where)
  const reason = text(given, 'reason', where)
  const code = whole(given, 'code', where)
  const details = own(given, 'details')
  if (word !== '') status.status = word as 'Success' | 'Failure'
  if (message !== '') status.message = message
  if (reason !== '') status.reason = truncateGoText(reason)
  if (details !== undefined && details !== null)
    status.details = detailsOf(membersOf(details, `${where}.details`, 'v1.StatusDetails'))
  if (code !== undefined) status.code = code
  return status
}

function listMeta(value: JsonValue | undefined, where: string): Status['metadata'] {
  if (value === undefined || value === null) return {}
  const given = membersOf(value, `${where}.metadata`, 'v1.ListMeta')
  const resourceVersion = text(given, 'resourceVersion', where)
  const token = text(given, 'continue', where)
  return { ...(resourceVersion === '' ? {} : { resourceVersion }), ...(token === '' ? {} : { continue: token }) }
}

function detailsOf(given: JsonObject): StatusDetails {
  const where = `${at}.status.details`
  const details: StatusDetails = {}
  for (const name of ['name', 'group', 'kind', 'uid'] as const) {
    const value = text(given, name, where)
    if (value !== '') details[name] = value
  }
  const causes = own(given, 'causes')
  if (causes !== undefined && causes !== null) {
    if (!Array.isArray(causes)) throw mismatch(causes, `${where}.causes`, '[]v1.StatusCause')
    if (causes.length > 0) details.causes = causesOf(causes, `${where}.causes`)
  }
  const seconds = whole(given, 'retryAfterSeconds', where)
  if (seconds !== undefined && seconds !== 0) details.retryAfterSeconds = seconds
  return details
}

/** As many causes as a Status of this server has. Differs: all of them on the stock server. */
const maxCauses = 1000
const maxCauseCharacters = 256 * 1024

function causesOf(given: readonly JsonValue[], where: string): StatusCause[] {
  const causes: StatusCause[] = []
  let characters = 0
  for (const each of given) {
    const cause = causeOf(membersOf(each, where, 'v1.StatusCause'))
    for (const text of Object.values(cause)) characters += text.length
    if (causes.length >= maxCauses || characters > maxCauseCharacters) break
    causes.push(cause)
  }
  return causes
}

function causeOf(given: JsonObject): StatusCause {
  const where = `${at}.status.details.causes`
  const cause: StatusCause = {}
  for (const name of ['reason', 'message', 'field'] as const) {
    const value = text(given, name, where)
    if (value !== '') cause[name] = value
  }
  return cause
}

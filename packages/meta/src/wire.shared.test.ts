/** Recorded responses of kube-apiserver that this package reproduces: Status objects and selectors. */

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { ApiError, type FieldError, MetaError, parseLabelSelector, type Status } from './index.ts'
import { parseFieldSelector } from './selectors/field-selector.ts'

interface Step {
  readonly id: string
  readonly query?: Record<string, string | string[]>
}

interface Scenario {
  readonly name: string
  readonly steps: readonly Step[]
  readonly expected: Record<string, { readonly status?: unknown; readonly body?: unknown } | undefined>
}

const folder = new URL('../../../../shared/wire/scenarios/', import.meta.url)
const present = existsSync(folder)
const scenarios: Scenario[] = present ? load() : []

describe.skipIf(!present)('recorded responses (skipped: ../shared is absent)', () => {
  const statuses = scenarios.flatMap(failures)

  it('formats the message of every recorded Invalid from its causes', () => {
    const seen = statuses.filter(
      (it) =>
        it.reason === 'Invalid' && it.details?.kind && it.details.causes && / is invalid/.test(it.message ?? '') && !isMasked(it),
    )
    for (const status of seen) {
      const { group = '', kind = '', name = '', causes = [] } = status.details ?? {}
      const made = ApiError.invalid({ group, kind }, name, causes as FieldError[]).status
      expect(made).toEqual(status)
    }
    expect(seen.length).toBeGreaterThan(400)
  })

  it('creates every recorded NotFound and AlreadyExists from its details', () => {
    const makers = { NotFound: ApiError.notFound, AlreadyExists: ApiError.alreadyExists }
    let seen = 0
    for (const status of statuses) {
      const { group = '', kind = '', name = '', retryAfterSeconds } = status.details ?? {}
      if ((status.reason !== 'NotFound' && status.reason !== 'AlreadyExists') || isMasked(status)) continue
      if (kind === '') expect(ApiError.genericNotFound().status).toEqual(status)
      else if (retryAfterSeconds !== undefined) {
        expect(ApiError.generateNameConflict({ group, resource: kind }, name, retryAfterSeconds).status).toEqual(status)
      } else {
        const made = makers[status.reason as 'NotFound' | 'AlreadyExists']({ group, resource: kind }, name).status
        if (status.message?.startsWith('object is being deleted: ')) made.message = `object is being deleted: ${made.message}`
        if (!/ (not found|already exists)$/.test(status.message ?? '')) continue
        expect(made).toEqual(status)
      }
      seen++
    }
    expect(seen).toBeGreaterThan(80)
  })

  it('creates the other recorded failures from their details', () => {
    const seen = new Map<string, number>()
    for (const status of statuses) {
      const made = isMasked(status) ? undefined : rebuild(status)
      if (made === undefined) continue
      expect(made.status).toEqual(status)
      seen.set(made.reason, (seen.get(made.reason) ?? 0) + 1)
    }
    expect([...seen.keys()].sort()).toEqual([
      'BadRequest',
      'Conflict',
      'Expired',
      'Forbidden',
      'InternalError',
      'MethodNotAllowed',
      'NotAcceptable',
      'RequestEntityTooLarge',
      'Unauthorized',
      'UnsupportedMediaType',
    ])
  })

  it('rejects label selectors with the recorded messages and parses the others [P158]', () => {
    const seen = selectors('labelSelector')
    for (const { text, message } of seen)
      expect({ text, message: outcome(() => parseLabelSelector(text)) }).toEqual({ text, message })
    expect(seen.length).toBeGreaterThan(40)
  })

  it('rejects field selectors with the recorded messages and parses the others [P157]', () => {
    const seen = selectors('fieldSelector')
    for (const { text, message } of seen)
      expect({ text, message: outcome(() => parseFieldSelector(text)) }).toEqual({ text, message })
    expect(seen.length).toBeGreaterThan(20)
  })
})

function load(): Scenario[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.json'))
    .map((file) => JSON.parse(readFileSync(new URL(file, folder), 'utf8').replaceAll('{id}', 'id')) as Scenario)
}

function failures(scenario: Scenario): Status[] {
  return Object.values(scenario.expected).flatMap((answer) => {
    const body = answer?.body as Status | undefined
    return body !== null && typeof body === 'object' && body.kind === 'Status' && body.status === 'Failure' ? [body] : []
  })
}

function isMasked(value: unknown): boolean {
  return /<(masked|any|4xx|rv|uid|time)/.test(JSON.stringify(value))
}

/** Recreates the failure; `undefined` when its text belongs to another package. */
function rebuild(status: Status): ApiError | undefined {
  const { group = '', kind = '', name = '', causes } = status.details ?? {}
  const message = status.message ?? ''
  const after = (marker: string) => message.slice(message.indexOf(marker) + marker.length)
  switch (status.reason) {
    case 'BadRequest':
      return ApiError.badRequest(message)
    case 'Unauthorized':
      return ApiError.unauthorized()
    case 'Forbidden':
      if (!message.includes('forbidden: ') || causes !== undefined) return undefined
      return ApiError.forbidden({ group, resource: kind }, name, after('forbidden: '))
    case 'Conflict':
      if (kind === '') return ApiError.applyConflict(causes ?? [], message)
      if (kind.includes('/') || causes !== undefined || !message.startsWith('Operation cannot')) return undefined
      return ApiError.conflict({ group, resource: kind }, name, after(`${JSON.stringify(name)}: `))
    case 'MethodNotAllowed':
      if (kind === '') return ApiError.generic(405)
      if (!message.includes('is not supported')) return undefined
      return ApiError.methodNotSupported({ group, resource: kind }, message.split(' ')[0] as string)
    case 'NotAcceptable':
      return status.details === undefined ? ApiError.notAcceptable(message) : ApiError.generic(406, { serverMessage: message })
    case 'UnsupportedMediaType':
      return status.details === undefined
        ? ApiError.unsupportedMediaType(message)
        : ApiError.generic(415, { serverMessage: message })
    case 'Expired':
      return ApiError.expired(message)
    case 'RequestEntityTooLarge':
      return ApiError.requestEntityTooLarge(after('too large: '))
    case 'InternalError':
      return ApiError.internalError(after('occurred: '))
    default:
      return undefined
  }
}

function selectors(parameter: string): { text: string; message: string | undefined }[] {
  return scenarios.flatMap(({ steps, expected }) =>
    steps.flatMap(({ id, query }) => {
      const text = query?.[parameter]
      const answer = expected[id]
      if (typeof text !== 'string' || answer === undefined) return []
      if (answer.status === 200)
        return (answer.body as { items?: unknown } | undefined)?.items ? [{ text, message: undefined }] : []
      const { message, reason } = (answer.body ?? {}) as Status
      const ours = /^(unable to parse requirement|found |invalid (field )?selector)/.test(message ?? '')
      return answer.status === 400 && reason === 'BadRequest' && ours ? [{ text, message }] : []
    }),
  )
}

function outcome(parse: () => unknown): string | undefined {
  try {
    parse()
    return undefined
  } catch (error) {
    if (error instanceof MetaError) return error.message
    throw error
  }
}

import { describe, expect, it } from 'vitest'
import { ApiError } from './api-error.ts'
import { successStatus } from './status.ts'
import { field } from './validation/field-error.ts'

const pods = { group: '', resource: 'pods' }
const deployments = { group: 'apps', resource: 'deployments' }
const none = { group: '', resource: '' }

describe('ApiError', () => {
  it('serializes members in the order of kube-apiserver', () => {
    expect(JSON.stringify(ApiError.generateNameConflict(deployments, 'a').status)).toBe(
      '{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"deployments.apps \\"a\\" already exists, the server was not able to generate a unique name for the object","reason":"AlreadyExists","details":{"name":"a","group":"apps","kind":"deployments","retryAfterSeconds":1},"code":409}',
    )
  })

  it('carries status code and reason, and is an Error without stack', () => {
    const limit = Error.stackTraceLimit
    const error = ApiError.notFound(pods, 'a"b')
    expect([error.code, error.reason, error.message, error.name]).toEqual([404, 'NotFound', 'pods "a\\"b" not found', 'ApiError'])
    expect(error).toBeInstanceOf(Error)
    expect(error.stack ?? '').not.toMatch(/\n\s+at /)
    expect(Error.stackTraceLimit).toBe(limit)
    expect([ApiError.is(error), ApiError.is(new Error('x')), ApiError.is(null)]).toEqual([true, false, false])
    expect([new ApiError({ kind: 'Status', apiVersion: 'v1', metadata: {} }).code]).toEqual([500])
  })

  it('maps every reason to its status code', () => {
    const made: [ApiError, number, string, string][] = [
      [ApiError.alreadyExists(pods, 'a'), 409, 'AlreadyExists', 'pods "a" already exists'],
      [ApiError.conflict(deployments, 'a', 'why'), 409, 'Conflict', 'Operation cannot be fulfilled on deployments.apps "a": why'],
      [ApiError.applyConflict([{ reason: 'FieldManagerConflict' }], 'm'), 409, 'Conflict', 'm'],
      [ApiError.badRequest('m'), 400, 'BadRequest', 'm'],
      [ApiError.unauthorized(), 401, 'Unauthorized', 'Unauthorized'],
      [ApiError.forbidden(pods, 'a', 'why'), 403, 'Forbidden', 'pods "a" is forbidden: why'],
      [ApiError.forbidden(pods, '', 'why'), 403, 'Forbidden', 'pods is forbidden: why'],
      [ApiError.forbidden(none, '', 'why'), 403, 'Forbidden', 'forbidden: why'],
      [
        ApiError.methodNotSupported(deployments, 'create'),
        405,
        'MethodNotAllowed',
        'create is not supported on resources of kind "deployments.apps"',
      ],
      [ApiError.notAcceptable('m'), 406, 'NotAcceptable', 'm'],
      [ApiError.unsupportedMediaType('m'), 415, 'UnsupportedMediaType', 'm'],
      [ApiError.expired('m'), 410, 'Expired', 'm'],
      [ApiError.gone('m'), 410, 'Gone', 'm'],
      [ApiError.tooManyRequests('m', 1), 429, 'TooManyRequests', 'm'],
      [ApiError.timeout('m', 1), 504, 'Timeout', 'Timeout: m'],
      [
        ApiError.serverTimeout(pods, 'list', 1),
        500,
        'ServerTimeout',
        'The list operation against pods could not be completed at this time, please try again.',
      ],
      [ApiError.tooLargeResourceVersion(9, '5'), 504, 'Timeout', 'Timeout: Too large resource version: 9, current: 5'],
      [ApiError.serviceUnavailable('m'), 503, 'ServiceUnavailable', 'm'],
      [ApiError.internalError('m'), 500, 'InternalError', 'Internal error occurred: m'],
      [ApiError.requestEntityTooLarge('m'), 413, 'RequestEntityTooLarge', 'Request entity too large: m'],
      [ApiError.genericNotFound(), 404, 'NotFound', 'the server could not find the requested resource'],
    ]
    for (const [error, code, reason, message] of made) {
      expect([error.code, error.reason, error.message]).toEqual([code, reason, message])
      expect(error.status).toMatchObject({
        kind: 'Status',
        apiVersion: 'v1',
        metadata: {},
        status: 'Failure',
        message,
        reason,
        code,
      })
    }
  })

  it('fills in the details', () => {
    expect(ApiError.badRequest('m').status.details).toBeUndefined()
    expect(ApiError.genericNotFound().status.details).toEqual({})
    expect(ApiError.serverTimeout(pods, 'list', 2).status.details).toEqual({ name: 'list', kind: 'pods', retryAfterSeconds: 2 })
    expect(ApiError.tooManyRequests('m').status.details).toEqual({})
    expect(ApiError.timeout('m', 3).status.details).toEqual({ retryAfterSeconds: 3 })
    expect(ApiError.internalError('m').status.details).toEqual({ causes: [{ message: 'm' }] })
    expect(ApiError.tooLargeResourceVersion(9n, 5).status.details).toEqual({
      causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
      retryAfterSeconds: 1,
    })
  })

  it('lists every cause of an invalid object, but each message once', () => {
    const kind = { group: 'apps', kind: 'Deployment' }
    const bad = field.invalid('a', 1, 'm')
    expect(ApiError.invalid(kind, 'd', []).status).toMatchObject({
      message: 'Deployment.apps "d" is invalid',
      details: { name: 'd', group: 'apps', kind: 'Deployment' },
    })
    expect(ApiError.invalid(kind, 'd', [bad, bad]).message).toBe('Deployment.apps "d" is invalid: a: Invalid value: 1: m')
    const several = ApiError.invalid({ group: '', kind: 'Pod' }, '', [bad, field.required('b'), bad])
    expect(several.message).toBe('Pod "" is invalid: [a: Invalid value: 1: m, b: Required value]')
    expect(several.status.details).toEqual({
      kind: 'Pod',
      causes: [
        { reason: 'FieldValueInvalid', message: 'Invalid value: 1: m', field: 'a' },
        { reason: 'FieldValueRequired', message: 'Required value', field: 'b' },
        { reason: 'FieldValueInvalid', message: 'Invalid value: 1: m', field: 'a' },
      ],
    })
  })

  it('describes an error response without a Status', () => {
    const text = (code: number, failure = {}) => [ApiError.generic(code, failure).reason, ApiError.generic(code, failure).message]
    expect(text(400)).toEqual(['BadRequest', 'the server rejected our request for an unknown reason'])
    expect(text(401)).toEqual(['Unauthorized', 'the server has asked for the client to provide credentials'])
    expect(text(403, { serverMessage: 'no' })).toEqual(['Forbidden', 'no'])
    expect(text(405)).toEqual(['MethodNotAllowed', 'the server does not allow this method on the requested resource'])
    expect(text(406)).toEqual(['NotAcceptable', 'the server was unable to respond with a content type that the client supports'])
    expect(text(406, { serverMessage: '406: x' })).toEqual(['NotAcceptable', '406: x'])
    expect(text(409)).toEqual(['Conflict', 'the server reported a conflict'])
    expect(text(409, { verb: 'POST' })).toEqual(['AlreadyExists', 'the server reported a conflict'])
    expect(text(415, { serverMessage: '415: x' })).toEqual(['UnsupportedMediaType', '415: x'])
    expect(text(418)).toEqual(['', 'the server responded with the status code 418 but did not return more information'])
    expect(text(422)[0]).toBe('Invalid')
    expect(text(429)[0]).toBe('TooManyRequests')
    expect(text(502, { serverMessage: 'b"' })).toEqual([
      'InternalError',
      'an error on the server ("b\\"") has prevented the request from succeeding',
    ])
    expect(text(503)[0]).toBe('ServiceUnavailable')
    expect(text(504)[0]).toBe('Timeout')
    expect(text(404, { verb: 'GET', resource: deployments, name: 'd' })[1]).toBe(
      'the server could not find the requested resource (get deployments.apps d)',
    )
    expect(text(404, { verb: 'GET', resource: pods })[1]).toBe('the server could not find the requested resource (get pods)')
    expect(ApiError.generic(503, { serverMessage: 's', unexpected: true, retryAfterSeconds: 4 }).status.details).toEqual({
      causes: [{ reason: 'UnexpectedServerResponse', message: 's' }],
      retryAfterSeconds: 4,
    })
  })

  it('creates the Status of a success', () => {
    expect(successStatus()).toEqual({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success' })
    expect(successStatus({ name: 'a', uid: 'u' }).details).toEqual({ name: 'a', uid: 'u' })
  })
})

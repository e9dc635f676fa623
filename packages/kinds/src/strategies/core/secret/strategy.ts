/** Secret. @see Configuration and storage specification, 2.2 */

import { memberNames, type Work } from '@krmkit/base/work'
import { type DeepReadonly, setMember } from '@krmkit/meta'
import { DecodeError } from '@krmkit/schema'
import { base64ToBytes, bytesToBase64 } from '@krmkit/schema/decode'
import { parseJson } from '@krmkit/schema/paced'
import type { Secret } from '../../../types/core-v1.generated.ts'
import { deepEqual } from '../../shared/equality.ts'
import type { ContextErrorList, FieldPath } from '../../shared/field-path.ts'
import { forEachKey, forEachMember } from '../../shared/for-each.ts'
import { validateMetadata, validateMetadataUpdate } from '../../shared/metadata.ts'
import { creationRules, defineStrategy, updateRules } from '../../shared/strategy.ts'
import { base64Bytes, isEmpty, isSet, own } from '../../shared/values.ts'
import { fillNulls, maxDataSize, validateDataKey } from '../config-map/strategy.ts'
import { tlsWarning } from './tls-warning.ts'

const immutableDetail = 'field is immutable when `immutable` is set'

// biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII is meant
const ascii = /^[\u0000-\u007f]*$/

/** Merges `stringData` into `data`. */
function* mergeStringData(secret: Secret): Work {
  const text = secret.stringData
  if (text === undefined) return
  if (isSet(text)) {
    const encoder = new TextEncoder()
    const data: Record<string, string> = {}
    yield* forEachMember(secret.data, (given, key) => setMember(data, key, given[key]))
    yield* forEachMember(text, (_, key) => {
      const value = text[key] as string
      setMember(data, key, ascii.test(value) ? btoa(value) : bytesToBase64(encoder.encode(value)))
    })
    if (isSet(secret.data) || memberNames(text).length > 0) secret.data = data
  }
  delete secret.stringData
}

function* validateSecret(secret: DeepReadonly<Secret>, errors: ContextErrorList): Work {
  yield* validateMetadata(secret, errors, { namespaced: true })
  const at = errors.child('data')
  let size = 0
  yield* forEachKey(secret.data, (key, value) => {
    validateDataKey(key, at)
    size += base64Bytes(value)
  })
  if (size > maxDataSize) at.tooLong('', maxDataSize)
  yield* validateType(secret, at, errors)
}

/** Each built-in type requires certain data. */
function* validateType(secret: DeepReadonly<Secret>, at: FieldPath, errors: ContextErrorList): Work {
  const { domain } = errors.context.profile
  const value = (key: string): string | undefined => own(secret.data, key)
  switch (secret.type) {
    case `${domain}/service-account-token`: {
      const key = `${domain}/service-account.name`
      if (isEmpty(own(secret.metadata.annotations, key))) errors.child('metadata').child('annotations').key(key).required()
      break
    }
    case `${domain}/dockercfg`:
      yield* validateJson(value('.dockercfg'), at.key('.dockercfg'))
      break
    case `${domain}/dockerconfigjson`:
      yield* validateJson(value('.dockerconfigjson'), at.key('.dockerconfigjson'))
      break
    case `${domain}/basic-auth`:
      if (value('username') === undefined && value('password') === undefined) {
        at.key('username').required()
        at.key('password').required()
      }
      break
    case `${domain}/ssh-auth`:
      if (isEmpty(value('ssh-privatekey'))) at.key('ssh-privatekey').required()
      break
    case `${domain}/tls`:
      for (const key of ['tls.crt', 'tls.key']) if (value(key) === undefined) at.key(key).required()
      break
  }
}

/** The value must be a JSON object; errors do not quote it. */
function* validateJson(encoded: string | null | undefined, at: FieldPath): Work {
  if (encoded === undefined) {
    at.required()
    return
  }
  const redacted = '<secret contents redacted>'
  try {
    const { value } = yield* parseJson(base64ToBytes(encoded ?? ''), {})
    if (typeof value === 'object' && !Array.isArray(value)) return
    const noun = Array.isArray(value)
      ? 'array'
      : typeof value === 'boolean'
        ? 'bool'
        : typeof value === 'bigint'
          ? 'number'
          : typeof value
    at.invalid(redacted, `json: cannot unmarshal ${noun} into Go value of type map[string]interface {}`)
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error
    at.invalid(redacted, error.message)
  }
}

function* defaultSecret(secret: Secret): Work {
  yield* mergeStringData(secret)
  if (isEmpty(secret.type)) secret.type = 'Opaque'
}

export const secretStrategy = defineStrategy<Secret>({
  defaults: defaultSecret,
  validate: creationRules((errors, secret) => validateSecret(secret, errors)),
  validateUpdate: updateRules(function* (errors, secret, old) {
    yield* validateMetadataUpdate(secret, old, errors)
    if (secret.type !== old.type) errors.child('type').invalid(secret.type ?? '', 'field is immutable')
    if (old.immutable === true) {
      if (secret.immutable !== true) errors.child('immutable').forbidden(immutableDetail)
      if (!(yield* deepEqual(secret.data, old.data))) errors.child('data').forbidden(immutableDetail)
    }
    yield* validateSecret(secret, errors)
  }),
  canonicalize: (secret) => fillNulls(secret.data),
  prepareForUpdate(secret, old) {
    // Old clients omit the type; the stored one is kept.
    if (isEmpty(secret.type) && isSet(old.type)) secret.type = old.type
  },
  warnings(secret, _old, { profile }) {
    if (secret.type !== `${profile.domain}/tls`) return []
    const text = (key: string) => new TextDecoder().decode(base64ToBytes(own(secret.data, key) ?? ''))
    const warning = tlsWarning(text('tls.crt'), text('tls.key'))
    return warning === undefined ? [] : [warning]
  },
  distinctEmpties: [['data']],
  deleteResponse: 'StatusAlways',
  selectableFields: {
    type: (secret) => secret.type ?? '',
  },
})

/** Secrets. @see Configuration and storage specification, 2.2 */
import type { DeepReadonly } from '@krmkit/meta'
import { base64ToBytes, bytesToBase64 } from '@krmkit/schema'
import type { Secret } from '../../types/core-v1.generated.ts'
import type { FieldPath, Report } from '../shared/field-path.ts'
import { checkMetadata, checkMetadataUpdate } from '../shared/metadata.ts'
import { defineStrategy, findings } from '../shared/strategy.ts'
import { base64Bytes, isEmpty, isSet, own, sortedKeys } from '../shared/values.ts'
import { checkDataKey, maxDataSize, sameData } from './config-map.ts'

const frozen = 'field is immutable when `immutable` is set'

// biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII is meant
const ascii = /^[\u0000-\u007f]*$/

/** Members that may be written as text become part of the data, replacing what is there. */
function mergeText(secret: Secret): void {
  if (isSet(secret.data) && !Object.values(secret.data).every(isSet)) {
    secret.data = Object.fromEntries(Object.entries(secret.data).map(([key, value]) => [key, isSet(value) ? value : '']))
  }
  const text = secret.stringData
  if (text === undefined) return
  if (isSet(text)) {
    const encoder = new TextEncoder()
    const data = new Map(Object.entries(secret.data ?? {}))
    for (const [key, value] of Object.entries(text))
      data.set(key, ascii.test(value) ? btoa(value) : bytesToBase64(encoder.encode(value)))
    if (data.size > 0) secret.data = Object.fromEntries(data)
  }
  delete secret.stringData
}

function checkSecret(secret: DeepReadonly<Secret>, report: Report): void {
  checkMetadata(secret, report, { namespaced: true })
  const at = report.at('data')
  let size = 0
  for (const key of sortedKeys(secret.data)) {
    checkDataKey(key, at)
    size += base64Bytes(own(secret.data, key) ?? '')
  }
  if (size > maxDataSize) at.tooLong('', maxDataSize)
  checkType(secret, at, report)
}

/** Each well-known type needs its own data. */
function checkType(secret: DeepReadonly<Secret>, at: FieldPath, report: Report): void {
  const { domain } = report.context.profile
  const value = (key: string): string | undefined => own(secret.data, key)
  switch (secret.type) {
    case `${domain}/service-account-token`: {
      const key = `${domain}/service-account.name`
      if (isEmpty(own(secret.metadata.annotations, key))) report.at('metadata').child('annotations').key(key).required()
      break
    }
    case `${domain}/dockercfg`:
      checkJson(value('.dockercfg'), at.key('.dockercfg'))
      break
    case `${domain}/dockerconfigjson`:
      checkJson(value('.dockerconfigjson'), at.key('.dockerconfigjson'))
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

/** The value must be a JSON object; what it holds is not told. */
function checkJson(encoded: string | undefined, at: FieldPath): void {
  if (encoded === undefined) {
    at.required()
    return
  }
  const redacted = '<secret contents redacted>'
  const text = new TextDecoder().decode(base64ToBytes(encoded))
  if (text === '') {
    at.invalid(redacted, 'unexpected end of JSON input')
    return
  }
  try {
    const parsed: unknown = JSON.parse(text)
    if (typeof parsed !== 'object' || Array.isArray(parsed)) {
      const noun = Array.isArray(parsed) ? 'array' : typeof parsed === 'boolean' ? 'bool' : typeof parsed
      at.invalid(redacted, `json: cannot unmarshal ${noun} into Go value of type map[string]interface {}`)
    }
  } catch {
    at.invalid(redacted, `invalid character '${text.trimStart().charAt(0)}' looking for beginning of value`)
  }
}

export const secretStrategy = defineStrategy<Secret>({
  defaults(secret) {
    mergeText(secret)
    if (isEmpty(secret.type)) secret.type = 'Opaque'
  },
  validate(secret, context) {
    return findings(context, (report) => checkSecret(secret, report))
  },
  validateUpdate(secret, old, context) {
    return findings(context, (report) => {
      checkMetadataUpdate(secret, old, report)
      if (secret.type !== old.type) report.at('type').invalid(secret.type ?? '', 'field is immutable')
      if (old.immutable === true) {
        if (secret.immutable !== true) report.at('immutable').forbidden(frozen)
        if (!sameData(secret.data, old.data)) report.at('data').forbidden(frozen)
      }
      checkSecret(secret, report)
    })
  },
  prepareForUpdate(secret, old) {
    // Old clients send no type; it stays what it was.
    if (isEmpty(secret.type) && isSet(old.type)) secret.type = old.type
  },
  deleteAnswer: 'StatusAlways',
  selectableFields: {
    type: (secret) => secret.type ?? '',
  },
})

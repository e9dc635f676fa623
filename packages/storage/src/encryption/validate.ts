import { type FieldError, field, Path } from '@krmkit/meta'
import { goQuote, goText } from '@krmkit/meta/go-text'
import type {
  EncryptionConfiguration,
  EncryptionKey,
  EncryptionKeys,
  EncryptionProvider,
  KmsConfiguration,
} from './configuration.ts'
import { parseResourceName } from './resource-name.ts'

const aesKeyBytes = [16, 24, 32]
const secretboxKeyBytes = [32]
/** Replaces values that may contain keys in messages. */
const redacted = 'REDACTED'
/** Stored data that is not an API resource. */
const withoutApi = ['apiserveripinfo', 'serviceipallocations', 'servicenodeportallocations']

/**
 * Validates a parsed configuration with the messages of kube-apiserver. No message contains a key.
 *
 * Differs: version v1 of the KMS API is not supported.
 *
 * @see {@link parseEncryptionConfiguration}
 */
export function validateEncryptionConfiguration({ resources }: EncryptionConfiguration): FieldError[] {
  const root = Path.of('resources')
  if (resources.length === 0) return [field.required(root, 'at least one resources is required')]
  const kmsNames = new Set<string>()
  return resources.flatMap(({ resources: names, providers }, at) => {
    const namesPath = root.index(at).child('resources')
    const providersPath = root.index(at).child('providers')
    return [
      ...(names.length === 0 ? [field.required(namesPath, `at least one ${namesPath} is required`)] : []),
      ...overlapErrors(names, namesPath),
      ...names.flatMap((name, index) => nameErrors(name, namesPath.index(index))),
      ...(providers.length === 0 ? [field.required(providersPath, `at least one ${providersPath} is required`)] : []),
      ...providers.flatMap((provider, index) => providerErrors(provider, providersPath.index(index), kmsNames)),
    ]
  })
}

function overlapErrors(names: readonly string[], path: Path): FieldError[] {
  const parsed = names.map(parseResourceName)
  const repeats = new Set(parsed.map(({ resource, group }) => `${resource}.${group}`)).size < parsed.length
  const overlaps = parsed.some((one, i) =>
    parsed.some((other, j) => {
      if (i === j || (one.resource === other.resource && one.group === other.group)) return false
      if (one.resource === '*' && one.group === '*') return true
      return one.group === other.group && (one.resource === '*' || other.resource === '*')
    }),
  )
  const printed = goText(`[]string{${names.map(goQuote).join(', ')}}`)
  const overlapping =
    "using overlapping resources such as 'secrets' and '*.' in the same resource list is not allowed as they will be masked"
  return [
    ...(repeats ? [field.invalid(path, printed, 'the same resource cannot be specified multiple times')] : []),
    ...(overlaps ? [field.invalid(path, printed, overlapping)] : []),
  ]
}

function nameErrors(name: string, path: Path): FieldError[] {
  const problem = nameProblem(name)
  return problem === undefined ? [] : [field.invalid(path, name, problem)]
}

function nameProblem(name: string): string | undefined {
  if (name.toLowerCase() !== name) return 'resource name should not contain capital letters'
  if (name === '*') return "use '*.' to encrypt all the resources from core API group or *.* to encrypt all resources"
  if (withoutApi.includes(name)) return 'resources which do not have REST API/s cannot be encrypted'
  const { resource, group } = parseResourceName(name)
  if (group === 'events.k8s.io') {
    return "'*.events.k8s.io' objects are stored using the 'events' API group in etcd. Use 'events' instead in the config file"
  }
  if (group === 'extensions') return "'extensions' group has been removed and cannot be used for encryption"
  if (group === '*' && resource !== '*') return 'encrypting the same resource across groups is not supported'
  return undefined
}

function providerErrors(provider: EncryptionProvider, path: Path, kmsNames: Set<string>): FieldError[] {
  const { aesgcm, aescbc, secretbox, kms } = provider
  const given = Object.keys(provider).length
  if (given === 0) {
    const detail = 'provider does not contain any of the expected providers: KMS, AESGCM, AESCBC, Secretbox, Identity'
    return [field.invalid(path, redacted, detail)]
  }
  const single =
    given === 1
      ? []
      : [
          field.invalid(
            path,
            redacted,
            'more than one provider specified in a single element, should split into different list elements',
          ),
        ]
  if (kms !== undefined) return [...single, ...kmsErrors(kms, path.child('kms'), kmsNames)]
  if (aesgcm !== undefined) return [...single, ...keysErrors(aesgcm, path.child('aesgcm'), aesKeyBytes)]
  if (aescbc !== undefined) return [...single, ...keysErrors(aescbc, path.child('aescbc'), aesKeyBytes)]
  if (secretbox !== undefined) return [...single, ...keysErrors(secretbox, path.child('secretbox'), secretboxKeyBytes)]
  return single
}

/** @param known names of the preceding plugins; the name of this plugin is added */
function kmsErrors({ apiVersion, name, endpoint, timeoutMs }: KmsConfiguration, path: Path, known: Set<string>): FieldError[] {
  const errors: FieldError[] = []
  if (name === '') errors.push(field.required(path.child('name'), 'name is a mandatory field for a provider'))
  if (apiVersion !== 'v1' && name.includes(':')) {
    errors.push(field.invalid(path.child('name'), name, `invalid KMS provider name ${name}, must not contain ':'`))
  }
  if (known.has(name)) {
    errors.push(field.invalid(path.child('name'), name, `duplicate KMS provider name ${name}, names must be unique`))
  }
  known.add(name)
  if (timeoutMs <= 0) {
    errors.push(field.invalid(path.child('timeout'), goText(`${timeoutMs / 1000}s`), 'timeout should be a positive value'))
  }
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(endpoint)?.[1] ?? ''
  if (endpoint === '') errors.push(field.invalid(path.child('endpoint'), '', 'endpoint is a mandatory field for a kms'))
  else if (scheme !== 'unix') {
    const detail = `unsupported scheme ${goQuote(scheme)} for KMS provider, only unix is supported`
    errors.push(field.invalid(path.child('endpoint'), endpoint, detail))
  }
  if (apiVersion === 'v2') return errors
  const detail = `unsupported apiVersion ${apiVersion} for KMS provider, only v2 is supported`
  return [...errors, field.invalid(path.child('apiVersion'), apiVersion, detail)]
}

function keysErrors({ keys }: EncryptionKeys, provider: Path, lengths: readonly number[]): FieldError[] {
  const path = provider.child('keys')
  if (keys.length === 0) return [field.required(path, 'at least one keys is required')]
  return keys.flatMap((key, at) => keyErrors(key, path.index(at), lengths))
}

function keyErrors({ name, secret }: EncryptionKey, path: Path, lengths: readonly number[]): FieldError[] {
  const unnamed = name === '' ? [field.required(path.child('name'), 'name is a mandatory field for a key')] : []
  const at = path.child('secret')
  if (secret === '') return [...unnamed, field.required(at, 'secret is a mandatory field for a key')]
  const bytes = decodeBase64(secret)
  if (bytes === undefined) return [...unnamed, field.invalid(at, redacted, 'secrets must be base64 encoded')]
  if (lengths.includes(bytes.length)) return unnamed
  const detail = `secret is not of the expected length, got ${bytes.length}, expected one of [${lengths.join(' ')}]`
  return [...unnamed, field.invalid(at, redacted, detail)]
}

/** Standard base64 with padding; line breaks are ignored, as in Go. */
export function decodeBase64(text: string): Buffer | undefined {
  const joined = text.replace(/[\r\n]/g, '')
  if (joined.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(joined)) return undefined
  return Buffer.from(joined, 'base64')
}

/** Validation of StorageVersion. */

import type { Work } from '@krmkit/base/work'
import { validateDns1035Label, validateDns1123Subdomain, validateQualifiedNameFormat } from '@krmkit/meta/names'
import type {
  ServerStorageVersion,
  StorageVersionCondition,
  StorageVersionStatus,
} from '../../../types/apiserverinternal-v1alpha1.generated.ts'
import type { FieldPath } from '../../shared/field-path.ts'
import { forEachItem } from '../../shared/for-each.ts'
import { goList, goTexts } from '../../shared/go-form.ts'
import { isEmpty, isSet, type R } from '../../shared/values.ts'

/** Names are `<group>.<resource>`. */
export function validateStorageVersionName(name: string): string[] {
  const dot = name.lastIndexOf('.')
  if (dot < 0) return ['name must be in the form of <group>.<resource>']
  return [
    ...validateDns1123Subdomain(name.slice(0, dot)).map((fault) => `the group segment ${fault}`),
    ...validateDns1035Label(name.slice(dot + 1)).map((fault) => `the resource segment ${fault}`),
  ]
}

export function* validateStatus(status: R<StorageVersionStatus> | null | undefined, at: FieldPath): Work {
  const { commonEncodingVersion, conditions, storageVersions } = status ?? {}
  const servers = storageVersions ?? []
  const seen = new Set<string>()
  for (const [i, server] of servers.entries()) {
    const here = at.child('storageVersions').index(i)
    const { apiServerID = '' } = server
    if (seen.has(apiServerID)) here.child('apiServerID').duplicate(apiServerID)
    seen.add(apiServerID)
    yield* validateServer(server, here)
    yield
  }
  validateCommonVersion(servers, commonEncodingVersion, at.child('commonEncodingVersion'))
  // kube-apiserver leaves out the name of the list in the paths of its errors.
  validateConditions(conditions ?? [], at)
}

function* validateServer(server: R<ServerStorageVersion>, at: FieldPath): Work {
  const { apiServerID = '', encodingVersion = '', decodableVersions, servedVersions } = server
  at.child('apiServerID').invalidAll(apiServerID, validateDns1123Subdomain(apiServerID))
  const encoding = apiVersionFaults(encodingVersion)
  if (encoding.length > 0) at.child('encodingVersion').invalid(encodingVersion, encoding.join(','))
  const versions = decodableVersions ?? []
  const decodable = new Set<string>()
  yield* forEachItem(versions, (version, i) => {
    decodable.add(version)
    const faults = apiVersionFaults(version)
    if (faults.length > 0) at.child('decodableVersions').index(i).invalid(version, faults.join(','))
  })
  if (!decodable.has(encodingVersion)) {
    const printed = goTexts('string', decodableVersions)
    at.child('decodableVersions').invalid(printed, `decodableVersions must include encodingVersion ${encodingVersion}`)
  }
  let list: string | undefined
  yield* forEachItem(servedVersions, (version, i) => {
    const here = at.child('servedVersions').index(i)
    const faults = apiVersionFaults(version)
    if (faults.length > 0) here.invalid(version, faults.join(','))
    if (decodable.has(version)) return
    list ??= goList(versions)
    here.invalid(version, `individual served version : ${version} must be included in decodableVersions : ${list}`)
  })
}

function validateCommonVersion(
  servers: readonly R<ServerStorageVersion>[],
  given: string | null | undefined,
  at: FieldPath,
): void {
  const [first, ...others] = servers.map(({ encodingVersion = '' }) => encodingVersion)
  const common = others.every((version) => version === first) ? first : undefined
  if (common === undefined) {
    if (!isSet(given)) return
    const detail =
      'should be nil if servers do not agree on the same encoding version, or if there is no server reporting the supported versions yet'
    at.invalid(given, detail)
  } else if (!isSet(given)) at.invalid(null, `the common encoding version is ${common}`)
  else if (given !== common) at.invalid(given, `the actual common encoding version is ${common}`)
}

function validateConditions(conditions: readonly R<StorageVersionCondition>[], at: FieldPath): void {
  const positions = new Map<string, number>()
  for (const [i, { type = '', status = '', reason, message }] of conditions.entries()) {
    const here = at.index(i)
    const before = positions.get(type)
    if (before !== undefined) {
      const detail = `the type of the condition is not unique, it also appears in conditions[${before}]`
      here.child('type').invalid(type, detail)
    }
    positions.set(type, i)
    here.child('type').invalidAll(type, validateQualifiedNameFormat(type))
    here.child('status').invalidAll(status, validateQualifiedNameFormat(status))
    if (isEmpty(reason)) here.child('reason').required('reason cannot be empty')
    if (isEmpty(message)) here.child('message').required('message cannot be empty')
  }
}

const notAnApiVersion =
  "an apiVersion is a DNS-1035 label, which must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyVersion')"
const empty = 'must be non-empty'

/** What is wrong with an `apiVersion`. */
function apiVersionFaults(text: string): string[] {
  const parts = text.split('/')
  if (parts.length > 2) return [notAnApiVersion]
  const version = parts.at(-1) as string
  const group = parts.length === 2 ? (parts[0] as string) : undefined
  const ofGroup = group === undefined ? [] : group === '' ? [empty] : validateDns1123Subdomain(group)
  const ofVersion = version === '' ? [empty] : validateDns1035Label(version)
  return [...ofGroup.map((fault) => `group part: ${fault}`), ...ofVersion.map((fault) => `version part: ${fault}`)]
}

import type { Work } from '@krmkit/base/work'
import type { ApiObject, DeepReadonly } from '@krmkit/meta'
import type { Printer, Strategy } from '../interfaces.ts'
import { column, nameColumn } from '../printers/columns.ts'
import type { ContextErrorList, FieldPath } from '../strategies/shared/field-path.ts'
import { validateMetadata, validateMetadataUpdate } from '../strategies/shared/metadata.ts'
import { defineStrategy, updateRules, validateWith } from '../strategies/shared/strategy.ts'
import { isSet, type R } from '../strategies/shared/values.ts'

/** PodSecurityPolicy, which releases before 1.25 have. */

interface Ranged {
  rule?: string
  ranges?: { min?: number; max?: number }[]
}

/** The part of the policy that defaults and validation read. */
interface PodSecurityPolicy extends ApiObject {
  spec?: {
    privileged?: boolean
    readOnlyRootFilesystem?: boolean
    volumes?: string[]
    defaultAllowPrivilegeEscalation?: boolean
    allowPrivilegeEscalation?: boolean
    seLinux?: { rule?: string }
    runAsUser?: Ranged
    runAsGroup?: Ranged
    supplementalGroups?: Ranged
    fsGroup?: Ranged
    allowedHostPaths?: { pathPrefix?: string }[]
    allowedFlexVolumes?: { driver?: string }[]
    requiredDropCapabilities?: string[]
    defaultAddCapabilities?: string[]
    allowedCapabilities?: string[]
  }
}

type Spec = R<NonNullable<PodSecurityPolicy['spec']>>

const optionalGroupRules = ['MayRunAs', 'MustRunAs', 'RunAsAny']

function validateRule(rule: string | undefined, at: FieldPath, supported: readonly string[]): void {
  if (!supported.includes(rule ?? '')) at.child('rule').notSupported(rule ?? '', supported)
}

function validateRanges(ranged: R<Ranged> | undefined, at: FieldPath): void {
  for (const [i, { min = 0, max = 0 }] of (ranged?.ranges ?? []).entries()) {
    const range = at.child('ranges').index(i)
    if (min < 0) range.child('min').invalid(min, 'min cannot be negative')
    if (max < 0) range.child('max').invalid(max, 'max cannot be negative')
    if (min > max) range.child('min').invalid(min, 'min cannot be greater than max')
  }
}

function validateSpec(spec: Spec, at: FieldPath): void {
  validateRule(spec.runAsUser?.rule, at.child('runAsUser'), ['MustRunAs', 'MustRunAsNonRoot', 'RunAsAny'])
  validateRanges(spec.runAsUser, at.child('runAsUser'))
  if (isSet(spec.runAsGroup)) {
    validateRule(spec.runAsGroup.rule, at.child('runAsGroup'), optionalGroupRules)
    validateRanges(spec.runAsGroup, at.child('runAsGroup'))
  }
  validateRule(spec.seLinux?.rule, at.child('seLinux'), ['MustRunAs', 'RunAsAny'])
  for (const member of ['supplementalGroups', 'fsGroup'] as const) {
    validateRule(spec[member]?.rule, at.child(member), optionalGroupRules)
    validateRanges(spec[member], at.child(member))
  }
  if (spec.defaultAllowPrivilegeEscalation === true && spec.allowPrivilegeEscalation === false) {
    const detail = 'Cannot set DefaultAllowPrivilegeEscalation to true without also setting AllowPrivilegeEscalation to true'
    at.child('defaultAllowPrivilegeEscalation').invalid(true, detail)
  }
  for (const [i, { pathPrefix = '' }] of (spec.allowedHostPaths ?? []).entries()) {
    if (pathPrefix === '') at.child('allowedHostPaths').index(i).required('is required')
  }
  for (const [i, { driver = '' }] of (spec.allowedFlexVolumes ?? []).entries()) {
    if (driver === '') at.child('allowedFlexVolumes').index(i).child('driver').required('must specify a driver')
  }
  for (const [i, name] of (spec.requiredDropCapabilities ?? []).entries()) {
    if (spec.defaultAddCapabilities?.includes(name) === true) {
      at.child('defaultAddCapabilities').index(i).invalid(name, 'capability is also listed in requiredDropCapabilities')
    }
    if (spec.allowedCapabilities?.includes(name) === true) {
      at.child('allowedCapabilities').index(i).invalid(name, 'capability is also listed in requiredDropCapabilities')
    }
  }
}

function* validatePolicy(policy: DeepReadonly<PodSecurityPolicy>, errors: ContextErrorList): Work {
  yield* validateMetadata(policy, errors, { namespaced: false })
  validateSpec(policy.spec ?? {}, errors.child('spec'))
}

const printer: Printer<PodSecurityPolicy> = {
  columns: [
    nameColumn,
    column('Priv', 'string', 'Whether pods may be privileged.'),
    column('Caps', 'string', 'Capabilities that pods may add.'),
    column('SELinux', 'string', 'Rule for the SELinux context.'),
    column('RunAsUser', 'string', 'Rule for the user.'),
    column('FsGroup', 'string', 'Rule for the group of volumes.'),
    column('SupGroup', 'string', 'Rule for supplemental groups.'),
    column('ReadOnlyRootFs', 'string', 'Whether the root file system must be read-only.'),
    column('Volumes', 'string', 'Types of volumes that pods may use.'),
  ],
  cells: ({ metadata, spec = {} }) => [
    metadata.name ?? '',
    String(spec.privileged ?? false),
    (spec.allowedCapabilities ?? []).join(','),
    spec.seLinux?.rule ?? '',
    spec.runAsUser?.rule ?? '',
    spec.fsGroup?.rule ?? '',
    spec.supplementalGroups?.rule ?? '',
    spec.readOnlyRootFilesystem ?? false,
    (spec.volumes ?? []).join(','),
  ],
}

export const podSecurityPolicyStrategy: Strategy = defineStrategy<PodSecurityPolicy>({
  defaults(policy) {
    policy.spec ??= {}
    policy.spec.allowPrivilegeEscalation ??= true
  },
  validate: (policy, context) => validateWith(context, (errors) => validatePolicy(policy, errors)),
  validateUpdate: updateRules(function* (errors, policy, old) {
    yield* validateMetadataUpdate(policy, old, errors)
    validateSpec(policy.spec ?? {}, errors.child('spec'))
  }),
  deleteResponse: 'Status',
  printer,
})

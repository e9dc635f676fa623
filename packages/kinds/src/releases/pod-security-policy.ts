import type { ApiObject, DeepReadonly } from '@krmkit/meta'
import type { Strategy } from '../interfaces.ts'
import type { ContextErrorList, FieldPath } from '../strategies/shared/field-path.ts'
import { validateMetadata, validateMetadataUpdate } from '../strategies/shared/metadata.ts'
import type { Steps } from '../strategies/shared/steps.ts'
import { defineStrategy, validateStepsWith } from '../strategies/shared/strategy.ts'
import { isSet, type R } from '../strategies/shared/values.ts'

/**
 * PodSecurityPolicy, which releases before 1.25 have. Its types are facts of those releases; they are written here because the model of the
 * newest one does not have them.
 */

interface Ranged {
  rule?: string
  ranges?: { min?: number; max?: number }[]
}

/** The part of the policy that defaults and validation read. */
interface PodSecurityPolicy extends ApiObject {
  spec?: {
    privileged?: boolean
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

function* validatePolicy(policy: DeepReadonly<PodSecurityPolicy>, errors: ContextErrorList): Steps {
  yield* validateMetadata(policy, errors, { namespaced: false })
  validateSpec(policy.spec ?? {}, errors.child('spec'))
}

export const podSecurityPolicyStrategy: Strategy = defineStrategy<PodSecurityPolicy>({
  defaults(policy) {
    policy.spec ??= {}
    policy.spec.allowPrivilegeEscalation ??= true
  },
  validate: (policy, context) => validateStepsWith(context, (errors) => validatePolicy(policy, errors)),
  validateUpdate: (policy, old, context) =>
    validateStepsWith(context, function* (errors) {
      yield* validateMetadataUpdate(policy, old, errors)
      validateSpec(policy.spec ?? {}, errors.child('spec'))
    }),
  deleteAnswer: 'Status',
})

type Node = Readonly<Record<string, unknown>>

interface FieldOptions {
  readonly pointer?: boolean
  readonly required?: boolean
  readonly zero?: unknown
}

const text: Node = { scalar: 'string' }
const bool: Node = { scalar: 'bool' }
const listOf = (node: Node): Node => ({ list: node })

/** A field of the model with its protobuf number. */
function field(json: string, number: number, node: Node, { pointer = false, required = false, zero }: FieldOptions = {}) {
  const isNumber = node.scalar === 'bool' || node.scalar === 'int32' || node.scalar === 'int64'
  return {
    json,
    go: json.charAt(0).toUpperCase() + json.slice(1),
    type: node,
    ...(pointer ? { pointer } : {}),
    ...(required ? {} : { optional: true, omitempty: true }),
    proto: { number, type: isNumber ? 'varint' : 'bytes', rep: 'list' in node ? 'rep' : 'opt' },
    ...(zero === undefined ? {} : { zero }),
  }
}

const typeMeta = { json: '', go: 'TypeMeta', type: { ref: 'meta/v1.TypeMeta' }, inline: true, embedded: true }

function metadata(type: string) {
  return {
    ...field('metadata', 1, { ref: `meta/v1.${type}` }, { zero: {} }),
    go: type,
    embedded: true,
  }
}

/** The types of the policy in `folder/v1beta1`: `policy` or `extensions`. */
export function podSecurityPolicyTypes(folder: string): Readonly<Record<string, unknown>> {
  const ref = (type: string): Node => ({ ref: `${folder}/v1beta1.${type}` })
  const struct = (...fields: readonly object[]) => ({ fields })
  const strategy = () => struct(field('rule', 1, text, { required: true, zero: '' }), field('ranges', 2, listOf(ref('IDRange'))))
  const optionalStrategy = () => struct(field('rule', 1, text), field('ranges', 2, listOf(ref('IDRange'))))
  const int = (json: string, number: number, scalar: string) => field(json, number, { scalar }, { required: true, zero: 0 })
  const bounds = (scalar: string) => struct(int('min', 1, scalar), int('max', 2, scalar))
  return {
    PodSecurityPolicy: {
      root: true,
      ...struct(typeMeta, metadata('ObjectMeta'), field('spec', 2, ref('PodSecurityPolicySpec'), { zero: {} })),
    },
    PodSecurityPolicyList: {
      root: true,
      ...struct(
        typeMeta,
        metadata('ListMeta'),
        field('items', 2, listOf(ref('PodSecurityPolicy')), { required: true, zero: null }),
      ),
    },
    PodSecurityPolicySpec: struct(
      field('privileged', 1, bool),
      field('defaultAddCapabilities', 2, listOf(text)),
      field('requiredDropCapabilities', 3, listOf(text)),
      field('allowedCapabilities', 4, listOf(text)),
      field('volumes', 5, listOf(text)),
      field('hostNetwork', 6, bool),
      field('hostPorts', 7, listOf(ref('HostPortRange'))),
      { ...field('hostPID', 8, bool), go: 'HostPID' },
      { ...field('hostIPC', 9, bool), go: 'HostIPC' },
      { ...field('seLinux', 10, ref('SELinuxStrategyOptions'), { required: true, zero: {} }), go: 'SELinux' },
      field('runAsUser', 11, ref('RunAsUserStrategyOptions'), { required: true, zero: {} }),
      field('runAsGroup', 22, ref('RunAsGroupStrategyOptions'), { pointer: true }),
      field('supplementalGroups', 12, ref('SupplementalGroupsStrategyOptions'), { required: true, zero: {} }),
      { ...field('fsGroup', 13, ref('FSGroupStrategyOptions'), { required: true, zero: {} }), go: 'FSGroup' },
      field('readOnlyRootFilesystem', 14, bool),
      field('defaultAllowPrivilegeEscalation', 15, bool, { pointer: true }),
      field('allowPrivilegeEscalation', 16, bool, { pointer: true }),
      field('allowedHostPaths', 17, listOf(ref('AllowedHostPath'))),
      field('allowedFlexVolumes', 18, listOf(ref('AllowedFlexVolume'))),
      field('allowedCSIDrivers', 23, listOf(ref('AllowedCSIDriver'))),
      field('allowedUnsafeSysctls', 19, listOf(text)),
      field('forbiddenSysctls', 20, listOf(text)),
      field('allowedProcMountTypes', 21, listOf(text)),
      field('runtimeClass', 24, ref('RuntimeClassStrategyOptions'), { pointer: true }),
    ),
    AllowedCSIDriver: struct(field('name', 1, text, { required: true, zero: '' })),
    AllowedFlexVolume: struct(field('driver', 1, text, { required: true, zero: '' })),
    AllowedHostPath: struct(field('pathPrefix', 1, text), field('readOnly', 2, bool)),
    FSGroupStrategyOptions: optionalStrategy(),
    HostPortRange: bounds('int32'),
    IDRange: bounds('int64'),
    RunAsGroupStrategyOptions: strategy(),
    RunAsUserStrategyOptions: strategy(),
    RuntimeClassStrategyOptions: struct(
      field('allowedRuntimeClassNames', 1, listOf(text), { required: true, zero: null }),
      field('defaultRuntimeClassName', 2, text, { pointer: true }),
    ),
    SELinuxStrategyOptions: struct(field('rule', 1, text, { required: true, zero: '' }), {
      ...field('seLinuxOptions', 2, { ref: 'core/v1.SELinuxOptions' }, { pointer: true }),
      go: 'SELinuxOptions',
    }),
    SupplementalGroupsStrategyOptions: optionalStrategy(),
  }
}

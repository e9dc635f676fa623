/** CertificateSigningRequest. */
import {
  builtInSigners,
  decodeBase64,
  readSigningRequest,
  validateCertificateBundle,
  validateKubeletClientRequest,
  validateKubeletServingRequest,
} from '@krmkit/certificates/request'
import { type DeepReadonly, formatTime, type NamingProfile } from '@krmkit/meta'
import { goText, joinFormatted } from '@krmkit/meta/go-text'
import type { StrategyContext } from '../../../interfaces.ts'
import type { CertificateSigningRequest, CertificateSigningRequestCondition } from '../../../types/certificates-v1.generated.ts'
import type { ContextErrorList } from '../../shared/field-path.ts'
import { keepMembers, validateMetadata, validateMetadataUpdate } from '../../shared/metadata.ts'
import type { Steps } from '../../shared/steps.ts'
import { defineStrategy, validateStepsWith } from '../../shared/strategy.ts'
import { copy, isEmpty, isSet, keep, type R, semanticEqual } from '../../shared/values.ts'
import { validateSignerName } from '../signer-name.ts'

type Csr = CertificateSigningRequest
type Request = DeepReadonly<Csr>

const usages = [
  'any',
  'cert sign',
  'client auth',
  'code signing',
  'content commitment',
  'crl sign',
  'data encipherment',
  'decipher only',
  'digital signature',
  'email protection',
  'encipher only',
  'ipsec end system',
  'ipsec tunnel',
  'ipsec user',
  'key agreement',
  'key encipherment',
  'microsoft sgc',
  'netscape sgc',
  'ocsp signing',
  's/mime',
  'server auth',
  'signing',
  'timestamping',
]
const minExpirationSeconds = 600
/** Condition types that state facts and so must not be false. */
const trueOnlyTypes = ['Approved', 'Denied', 'Failed']

function conditionsOf(csr: Request | undefined, type: string): readonly R<CertificateSigningRequestCondition>[] {
  return (csr?.status?.conditions ?? []).filter((condition) => condition.type === type)
}

/** The error of a base64 text that must hold a PKCS#10 request in PEM, signed with its own key. */
function requestError(request: string | null | undefined, { requestSignatureError }: StrategyContext): string | undefined {
  try {
    const decoded = readSigningRequest(request)
    return requestSignatureError?.(decoded)
  } catch (error) {
    return error instanceof Error ? error.message : 'malformed certificate request'
  }
}

/** The error of a base64 text that must hold certificates in PEM; an empty text is valid. */
function certificateError(certificate: string | null | undefined): string | undefined {
  const bytes = decodeBase64(certificate ?? '')
  return bytes === undefined ? undefined : validateCertificateBundle(new TextDecoder('latin1').decode(bytes))
}

/** `old` is undefined on create. An update may keep already invalid values unchanged. */
function* validateRequest(csr: Request, old: Request | undefined, errors: ContextErrorList): Steps {
  // Any name valid in a path is allowed; the generic rules check that.
  yield* validateMetadata(csr, errors, { namespaced: false, name: () => [] })
  const at = errors.child('spec')
  const spec: R<Partial<Csr['spec']>> = csr.spec ?? {}
  const error = requestError(spec.request, errors.context)
  if (error !== undefined) at.child('request').invalid(printBytes(spec.request), error)
  validateUsages(spec.usages ?? [], old?.spec?.usages, errors)
  const signer = spec.signerName ?? ''
  const legacy = `${errors.context.profile.domain}/legacy-unknown`
  if (signer === legacy && old?.spec?.signerName !== legacy) {
    at.child('signerName').invalid(signer, 'the legacy signerName is not allowed via this API version')
  } else validateSignerName(signer, at.child('signerName'))
  const seconds = spec.expirationSeconds
  if (isSet(seconds) && seconds < minExpirationSeconds) {
    at.child('expirationSeconds').invalid(seconds, 'may not specify a duration less than 600 seconds (10 minutes)')
  }
  validateConditions(csr, old, errors)
  const certificate = csr.status?.certificate
  const before = old?.status?.certificate
  const tolerated = old !== undefined && ((certificate ?? '') === (before ?? '') || certificateError(before) !== undefined)
  const wrong = tolerated ? undefined : certificateError(certificate)
  if (wrong !== undefined) errors.child('status').child('certificate').invalid('<certificate data>', wrong)
}

function printBytes(base64: string | null | undefined) {
  const bytes = decodeBase64(base64 ?? '') ?? new Uint8Array()
  if (bytes.length === 0) return goText('[]byte(nil)')
  return goText(`[]byte{${joinFormatted(bytes, (byte) => `0x${byte.toString(16)}`)}}`)
}

function validateUsages(list: readonly string[], old: readonly string[] | undefined, errors: ContextErrorList): void {
  const at = errors.child('spec').child('usages')
  if (list.length === 0) at.required()
  if (!(old ?? []).some((usage) => !usages.includes(usage))) {
    for (const [i, usage] of list.entries()) if (!usages.includes(usage)) at.index(i).notSupported(usage, usages)
  }
  if (new Set(old).size < (old ?? []).length) return
  const seen = new Set<string>()
  for (const [i, usage] of list.entries()) {
    if (seen.has(usage)) at.index(i).duplicate(usage)
    seen.add(usage)
  }
}

function validateConditions(csr: Request, old: Request | undefined, errors: ContextErrorList): void {
  const at = errors.child('status').child('conditions')
  const conditions = old?.status?.conditions ?? []
  const before = new Set<string>(conditions.map(({ type }) => type))
  const bothAllowed = before.has('Approved') && before.has('Denied')
  const twiceAllowed = before.size < conditions.length
  const seen = new Set<string>()
  for (const [i, { type = '', status = '' }] of (csr.status?.conditions ?? []).entries()) {
    const here = at.index(i)
    if (type === '' && !before.has('')) here.child('type').required()
    const allowed = trueOnlyTypes.includes(type) ? ['True'] : ['False', 'True', 'Unknown']
    if (status === '') here.child('status').required()
    else if (!allowed.includes(status)) here.child('status').notSupported(status, allowed)
    const contrary = (type === 'Approved' && seen.has('Denied')) || (type === 'Denied' && seen.has('Approved'))
    if (contrary && !bothAllowed) here.child('type').invalid(type, 'Approved and Denied conditions are mutually exclusive')
    if (seen.has(type) && !twiceAllowed) here.child('type').duplicate(type)
    seen.add(type)
  }
}

interface Rights {
  readonly approve?: boolean
  readonly sign?: boolean
}

function* validateRequestUpdate(
  csr: Request,
  old: Request,
  errors: ContextErrorList,
  { approve = false, sign = false }: Rights,
): Steps {
  yield* validateRequest(csr, old, errors)
  const at = errors.child('status')
  for (const type of trueOnlyTypes) {
    const fewer = conditionsOf(csr, type).length < conditionsOf(old, type).length
    if (fewer) at.child('conditions').forbidden(`updates may not remove a condition of type "${type}"`)
  }
  for (const type of approve ? [] : ['Approved', 'Denied']) {
    const now = conditionsOf(csr, type)
    const before = conditionsOf(old, type)
    if (now.length > before.length) at.child('conditions').forbidden(`updates may not add a condition of type "${type}"`)
    else if (now.length === before.length && !semanticEqual(now, before)) {
      at.child('conditions').forbidden(`updates may not modify a condition of type "${type}"\n`)
    }
  }
  const before = old.status?.certificate ?? ''
  if ((csr.status?.certificate ?? '') !== before) {
    if (!sign) at.child('certificate').forbidden('updates may not set certificate content')
    else if (before !== '') at.child('certificate').forbidden('updates may not modify existing certificate content')
  }
  yield* validateMetadataUpdate(csr, old, errors)
}

/** Sets the times that a client omitted. */
function setConditionTimes(csr: Csr, old: Request, context: StrategyContext): void {
  const now = formatTime(context.clock.now())
  const known = new Map<string, string>()
  for (const { type, status, lastTransitionTime } of old.status?.conditions ?? []) {
    const key = JSON.stringify([type, status])
    if (!isEmpty(lastTransitionTime) && !known.has(key)) known.set(key, lastTransitionTime)
  }
  for (const condition of csr.status?.conditions ?? []) {
    if (isEmpty(condition.lastUpdateTime)) condition.lastUpdateTime = now
    if (!isEmpty(condition.lastTransitionTime)) continue
    condition.lastTransitionTime = known.get(JSON.stringify([condition.type, condition.status])) ?? now
  }
}

/** Restores the conditions of `type` unless some were added or removed, which validation rejects. */
function preserveConditions(csr: Csr, old: Request, type: string): void {
  const before = conditionsOf(old, type)
  const conditions = csr.status?.conditions ?? []
  const places = [...conditions.keys()].filter((i) => conditions[i]?.type === type)
  if (places.length !== before.length) return
  for (const [i, place] of places.entries()) conditions[place] = copy(before[i])
}

/** Infers the signer of a v1beta1 request, which may omit it. */
function inferLegacySigner(spec: R<Partial<Csr['spec']>>, profile: NamingProfile): string {
  const signers = builtInSigners(profile)
  try {
    const asked = { request: readSigningRequest(spec.request), usages: spec.usages ?? [] }
    if (validateKubeletClientRequest(asked) === undefined) return signers.apiserverClientKubelet
    if (validateKubeletServingRequest(asked) === undefined) return signers.kubeletServing
  } catch {
    // Validation rejects malformed requests.
  }
  return signers.legacyUnknown
}

export const certificateSigningRequestStrategy = defineStrategy<Csr>({
  defaults(csr, version, profile) {
    if (version !== 'v1beta1' || !isSet(csr.spec)) return
    if (!isSet(csr.spec.usages)) csr.spec.usages = ['digital signature', 'key encipherment']
    if (!isSet(csr.spec.signerName)) csr.spec.signerName = inferLegacySigner(csr.spec, profile)
    for (const condition of csr.status?.conditions ?? []) if (isEmpty(condition.status)) condition.status = 'True'
  },
  prepareForCreate(csr, { user }) {
    const { request = null, signerName = '', expirationSeconds, usages: wanted } = csr.spec ?? {}
    csr.spec = { request, signerName }
    if (isSet(expirationSeconds)) csr.spec.expirationSeconds = expirationSeconds
    if (isSet(wanted)) csr.spec.usages = wanted
    if (user !== undefined) Object.assign(csr.spec, requesterMembers(user))
    csr.status = {}
  },
  prepareForUpdate(csr, old) {
    keepMembers(csr, old, 'spec', 'status')
  },
  validate(csr, context) {
    return validateStepsWith(context, (errors) => validateRequest(csr, undefined, errors))
  },
  validateUpdate(csr, old, context) {
    return validateStepsWith(context, (errors) => validateRequestUpdate(csr, old, errors, {}))
  },
  selectableFields: {
    'spec.signerName': (csr) => csr.spec?.signerName ?? '',
  },
  subresources: {
    status: {
      prepareForUpdate(csr, old, context) {
        keepMembers(csr, old, 'spec')
        preserveConditions(csr, old, 'Approved')
        preserveConditions(csr, old, 'Denied')
        setConditionTimes(csr, old, context)
      },
      validateUpdate(csr, old, context) {
        return validateStepsWith(context, (errors) => validateRequestUpdate(csr, old, errors, { sign: true }))
      },
    },
    approval: {
      prepareForUpdate(csr, old, context) {
        setConditionTimes(csr, old, context)
        keepMembers(csr, old, 'spec')
        csr.status ??= {}
        keep(csr.status, copy(old.status ?? {}), 'certificate')
      },
      validateUpdate(csr, old, context) {
        return validateStepsWith(context, (errors) => validateRequestUpdate(csr, old, errors, { approve: true }))
      },
    },
  },
  resetFields: {
    '': [['spec'], ['status']],
    status: [['spec'], ['status', 'conditions']],
    approval: [['spec'], ['status', 'certificate']],
  },
})

/** The members that record the requesting user. */
function requesterMembers(user: NonNullable<StrategyContext['user']>): Partial<Csr['spec']> {
  const { username, uid, groups, extra } = user
  return {
    username,
    ...(isEmpty(uid) ? {} : { uid }),
    ...(isEmpty(groups) ? {} : { groups: [...groups] }),
    ...(extra === undefined || Object.keys(extra).length === 0 ? {} : { extra: copy<Record<string, string[]>>(extra) }),
  }
}

/** Ingress. */

import { validateIP } from '@krmkit/base/ip'
import { type DeepReadonly, nameRules } from '@krmkit/meta'
import { goText } from '@krmkit/meta/go-text'
import { validateDns1123Subdomain, validatePortName, validateWildcardDns1123Subdomain } from '@krmkit/meta/names'
import type {
  HTTPIngressPath,
  Ingress,
  IngressBackend,
  IngressRule,
  IngressSpec,
  IngressTLS,
} from '../../../types/networking-v1.generated.ts'
import { loadBalancerWarnings } from '../../shared/address-warnings.ts'
import type { ContextErrorList, FieldPath } from '../../shared/field-path.ts'
import { keepMembers, raiseGeneration, startGeneration, validateMetadata, validateMetadataUpdate } from '../../shared/metadata.ts'
import { serviceNameRule, validateDnsSubdomain } from '../../shared/names.ts'
import { validatePortNumber } from '../../shared/numbers.ts'
import { keptTexts, validateIpAddress } from '../../shared/older-addresses.ts'
import { creationRules, defineStrategy, statusSubresource, updateRules } from '../../shared/strategy.ts'
import { isEmpty, isSet, own, type R } from '../../shared/values.ts'

const pathTypes = ['Exact', 'ImplementationSpecific', 'Prefix']
const forbiddenParts = ['//', '/./', '/../', '%2f', '%2F']
const forbiddenEnds = ['/..', '/.']

/** `parameters` of a class and `resource` of a backend: a reference to an object of an unknown kind. */
export function validateTypedReference(
  ref: { readonly apiGroup?: string | null; readonly kind?: string; readonly name?: string },
  at: FieldPath,
): void {
  if (isSet(ref.apiGroup)) at.child('apiGroup').invalidAll(ref.apiGroup, validateDns1123Subdomain(ref.apiGroup))
  if (isEmpty(ref.kind)) at.child('kind').required('kind is required')
  else at.child('kind').invalidAll(ref.kind, nameRules.pathSegment(ref.kind, false))
  if (isEmpty(ref.name)) at.child('name').required('name is required')
  else at.child('name').invalidAll(ref.name, nameRules.pathSegment(ref.name, false))
}

function validateHost(host: string, at: FieldPath): void {
  if (host.includes('*')) at.invalidAll(host, validateWildcardDns1123Subdomain(host))
  else at.invalidAll(host, validateDns1123Subdomain(host))
}

function validateBackend(backend: R<IngressBackend>, at: FieldPath): void {
  const { service, resource } = backend
  if (isSet(service) && isSet(resource)) at.invalid('', 'cannot set both resource and service backends')
  else if (isSet(resource)) validateTypedReference(resource, at.child('resource'))
  else if (isSet(service)) {
    const here = at.child('service')
    if (isEmpty(service.name)) here.child('name').required()
    else here.child('name').invalidAll(service.name, serviceNameRule(at.errors.context.features)(service.name, false))
    const { name, number } = service.port ?? {}
    if (!isEmpty(name) && number) at.invalid('', 'cannot set both port name & port number')
    else if (!isEmpty(name)) here.child('port').child('name').invalidAll(name, validatePortName(name))
    else if (number) validatePortNumber(number, here.child('port').child('number'))
    else at.required('port name or number is required')
  } else at.invalid('', 'resource or service backend is required')
}

function validatePath(path: R<HTTPIngressPath>, at: FieldPath): void {
  const text = path.path ?? ''
  const here = at.child('path')
  const type = path.pathType
  if (!isSet(type)) {
    at.child('pathType').required('pathType must be specified')
    return
  }
  if (type === 'ImplementationSpecific') {
    if (text !== '' && !text.startsWith('/')) here.invalid(text, 'must be an absolute path')
  } else if (type === 'Exact' || type === 'Prefix') {
    if (!text.startsWith('/')) here.invalid(text, 'must be an absolute path')
    for (const part of forbiddenParts) if (text.includes(part)) here.invalid(text, `must not contain '${part}'`)
    for (const end of forbiddenEnds) if (text.endsWith(end)) here.invalid(text, `cannot end with '${end}'`)
  } else at.child('pathType').notSupported(type, pathTypes)
  validateBackend(path.backend, at.child('backend'))
}

function validateRule(rule: R<IngressRule>, at: FieldPath): void {
  const { host } = rule
  if (!isEmpty(host)) {
    if (validateIP(host).length === 0) at.child('host').invalid(host, 'must be a DNS name, not an IP address')
    validateHost(host, at.child('host'))
  }
  if (!isSet(rule.http)) return
  const here = at.child('http').child('paths')
  if (isEmpty(rule.http.paths)) here.required()
  for (const [i, path] of (rule.http.paths ?? []).entries()) validatePath(path, here.index(i))
}

function validateTls(entry: R<IngressTLS>, at: FieldPath): void {
  for (const [i, host] of (entry.hosts ?? []).entries()) validateHost(host, at.child('hosts').index(i))
  if (!isEmpty(entry.secretName)) validateDnsSubdomain(entry.secretName, at.child('secretName'))
}

function validateSpec(spec: R<IngressSpec>, at: FieldPath): void {
  if (isEmpty(spec.rules) && !isSet(spec.defaultBackend)) {
    at.invalid(goText('[]networking.IngressRule(nil)'), 'either `defaultBackend` or `rules` must be specified')
  }
  if (isSet(spec.defaultBackend)) validateBackend(spec.defaultBackend, at.child('defaultBackend'))
  for (const [i, rule] of (spec.rules ?? []).entries()) validateRule(rule, at.child('rules').index(i))
  for (const [i, entry] of (spec.tls ?? []).entries()) validateTls(entry, at.child('tls').index(i))
  if (isSet(spec.ingressClassName)) validateDnsSubdomain(spec.ingressClassName, at.child('ingressClassName'))
}

const classKey = (errors: ContextErrorList): string => `${errors.context.profile.domain}/ingress.class`

function validateStatus(ingress: DeepReadonly<Ingress>, old: DeepReadonly<Ingress>, errors: ContextErrorList): void {
  const kept = keptTexts(old.status?.loadBalancer?.ingress?.flatMap(({ ip }) => ip ?? []))
  const at = errors.child('status').child('loadBalancer').child('ingress')
  for (const [i, { ip, hostname }] of (ingress.status?.loadBalancer?.ingress ?? []).entries()) {
    const here = at.index(i)
    if (!isEmpty(ip)) validateIpAddress(ip, here.child('ip'), kept)
    if (isEmpty(hostname)) continue
    here.child('hostname').invalidAll(hostname, validateDns1123Subdomain(hostname))
    if (validateIP(hostname).length === 0) here.child('hostname').invalid(hostname, 'must be a DNS name, not an IP address')
  }
}

export const ingressStrategy = defineStrategy<Ingress>({
  prepareForCreate(ingress) {
    ingress.status = {}
    startGeneration(ingress)
  },
  *prepareForUpdate(ingress, old) {
    yield* keepMembers(ingress, old, 'status')
    yield* raiseGeneration(ingress, old, 'spec')
  },
  validate: creationRules(function* (errors, ingress) {
    yield* validateMetadata(ingress, errors, { namespaced: true })
    validateSpec(ingress.spec ?? {}, errors.child('spec'))
    const annotation = own(ingress.metadata.annotations, classKey(errors))
    const name = ingress.spec?.ingressClassName
    if (annotation !== undefined && isSet(name) && annotation !== name) {
      const detail = 'must match `ingressClassName` when both are specified'
      errors.child('annotations').child(classKey(errors)).invalid(annotation, detail)
    }
  }),
  validateUpdate: updateRules(function* (errors, ingress, old) {
    yield* validateMetadataUpdate(ingress, old, errors)
    yield* validateMetadata(ingress, errors, { namespaced: true })
    validateSpec(ingress.spec ?? {}, errors.child('spec'))
  }),
  warnings(ingress, old, { profile }) {
    const key = `${profile.domain}/ingress.class`
    if (old !== undefined || own(ingress.metadata.annotations, key) === undefined) return []
    return [`annotation "${key}" is deprecated, please use 'spec.ingressClassName' instead`]
  },
  subresources: {
    status: {
      ...statusSubresource<Ingress>((ingress, errors, old) => validateStatus(ingress, old, errors)),
      warnings: ({ status }) => loadBalancerWarnings(status?.loadBalancer?.ingress),
    },
  },
  resetFields: { '': [['status']], status: [['spec']] },
})

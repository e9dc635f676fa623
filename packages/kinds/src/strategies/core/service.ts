/** Services. */
import { type DeepReadonly, validateDns1123Subdomain, validateIP } from '@krmkit/meta'
import type { Service } from '../../types/core-v1.generated.ts'
import type { FieldPath } from '../shared/field-path.ts'
import { checkMetadataUpdate, keepMembers } from '../shared/metadata.ts'
import { defineStrategy, findings } from '../shared/strategy.ts'
import { isEmpty, isSet } from '../shared/values.ts'
import { createServiceAllocator } from './service-allocator.ts'
import { dropUnused, isExternallyAccessible, isHeadless, joinClusterIps, keepAllocated } from './service-fields.ts'
import { checkService, checkServiceUpdate } from './service-rules.ts'

const affinitySeconds = 10_800

function defaults(service: Service): void {
  service.spec ??= {}
  const { spec } = service
  if (isEmpty(spec.sessionAffinity)) spec.sessionAffinity = 'None'
  if (spec.sessionAffinity === 'None') delete spec.sessionAffinityConfig
  if (spec.sessionAffinity === 'ClientIP') {
    const seconds = spec.sessionAffinityConfig?.clientIP?.timeoutSeconds ?? affinitySeconds
    spec.sessionAffinityConfig = { clientIP: { timeoutSeconds: seconds } }
  }
  if (isEmpty(spec.type)) spec.type = 'ClusterIP'
  for (const port of spec.ports ?? []) {
    if (isEmpty(port.protocol)) port.protocol = 'TCP'
    if (!port.targetPort) port.targetPort = port.port
  }
  if (isExternallyAccessible(spec) && isEmpty(spec.externalTrafficPolicy)) spec.externalTrafficPolicy = 'Cluster'
  const inside = spec.type === 'NodePort' || spec.type === 'LoadBalancer' || spec.type === 'ClusterIP'
  if (inside && !isSet(spec.internalTrafficPolicy)) spec.internalTrafficPolicy = 'Cluster'
  if (spec.type === 'LoadBalancer') {
    spec.allocateLoadBalancerNodePorts ??= true
    for (const ingress of service.status?.loadBalancer?.ingress ?? []) if (!isEmpty(ingress.ip)) ingress.ipMode ??= 'VIP'
  }
}

function checkStatus(service: DeepReadonly<Service>, at: FieldPath): void {
  const ingresses = service.status?.loadBalancer?.ingress ?? []
  const here = at.child('loadBalancer').child('ingress')
  if (service.spec?.type !== 'LoadBalancer' && ingresses.length > 0) {
    here.forbidden('may only be used when `spec.type` is "LoadBalancer"')
  }
  for (const [i, { ip, ipMode, hostname }] of ingresses.entries()) {
    const place = here.index(i)
    if (!isEmpty(ip)) place.child('ip').invalidAll(ip, validateIP(ip))
    if (isSet(ipMode) && isEmpty(ip)) place.child('ipMode').forbidden('may not be specified when `ip` is not set')
    else if (isSet(ipMode) && ipMode !== 'VIP' && ipMode !== 'Proxy') place.child('ipMode').notSupported(ipMode, ['Proxy', 'VIP'])
    if (isEmpty(hostname)) continue
    place.child('hostname').invalidAll(hostname, validateDns1123Subdomain(hostname))
    if (validateIP(hostname).length === 0) place.child('hostname').invalid(hostname, 'must be a DNS name, not an IP address')
  }
}

export const serviceStrategy = defineStrategy<Service>({
  createAllocator: createServiceAllocator,
  allowCreateOnUpdate: true,
  defaults,
  prepareForCreate(service) {
    service.status = { loadBalancer: {} }
    if (isSet(service.spec)) joinClusterIps(service.spec, undefined)
  },
  prepareForUpdate(service, old) {
    keepMembers(service, old, 'status')
    if (!isSet(service.spec) || !isSet(old.spec)) return
    keepAllocated(service.spec, old.spec)
    joinClusterIps(service.spec, old.spec)
    dropUnused(service.spec, old.spec)
  },
  validate(service, context) {
    return findings(context, (report) => checkService(service, report))
  },
  validateUpdate(service, old, context) {
    return findings(context, (report) => {
      checkMetadataUpdate(service, old, report)
      checkServiceUpdate(service.spec ?? {}, old.spec ?? {}, report.at('spec'))
      checkService(service, report)
    })
  },
  warnings(service, _old, { features }) {
    const { spec } = service
    if (!features.release.atLeast('1.34') || !isSet(spec) || !isHeadless(spec)) return []
    const texts: string[] = []
    if (!isEmpty(spec.loadBalancerIP)) texts.push('spec.loadBalancerIP is ignored for headless services')
    if (!isEmpty(spec.externalIPs)) texts.push('spec.externalIPs is ignored for headless services')
    if (spec.sessionAffinity === 'ClientIP') texts.push('spec.SessionAffinity is ignored for headless services')
    return texts
  },
  deleteAnswer: 'Object',
  selectableFields: {
    'spec.clusterIP': (service) => service.spec?.clusterIP ?? '',
    'spec.type': (service) => service.spec?.type ?? '',
  },
  subresources: {
    status: {
      prepareForUpdate(service, old) {
        keepMembers(service, old, 'spec')
      },
      validateUpdate(service, old, context) {
        return findings(context, (report) => {
          checkMetadataUpdate(service, old, report)
          checkStatus(service, report.at('status'))
        })
      },
    },
  },
  resetFields: { '': [['status']], status: [['spec']] },
})

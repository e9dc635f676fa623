/** Network policies. */
import { type DeepReadonly, goText, parseCIDR, validateCIDR, validatePortName } from '@krmkit/meta'
import type { IPBlock, NetworkPolicy, NetworkPolicyPeer, NetworkPolicyPort } from '../../types/networking-v1.generated.ts'
import type { FieldPath, Report } from '../shared/field-path.ts'
import { checkLabelSelector } from '../shared/labels.ts'
import { checkMetadata, checkMetadataUpdate, raiseGeneration, startGeneration } from '../shared/metadata.ts'
import { checkPortNumber } from '../shared/numbers.ts'
import { defineStrategy, findings } from '../shared/strategy.ts'
import { isEmpty, isSet, type R } from '../shared/values.ts'

const protocols = ['TCP', 'UDP', 'SCTP']
const directions = ['Ingress', 'Egress']

function checkPort(port: R<NetworkPolicyPort>, at: FieldPath): void {
  if (isSet(port.protocol) && !protocols.includes(port.protocol)) at.child('protocol').notSupported(port.protocol, protocols)
  const end = port.endPort
  if (typeof port.port === 'number') {
    if (isSet(end)) {
      if (end < port.port) at.child('endPort').invalid(port.port, 'must be greater than or equal to `port`')
      checkPortNumber(end, at.child('endPort'))
    }
    checkPortNumber(port.port, at.child('port'))
  } else if (isSet(port.port)) {
    if (isSet(end)) at.child('endPort').invalid(end, 'may not be specified when `port` is non-numeric')
    at.child('port').invalidAll(port.port, validatePortName(port.port))
  } else if (isSet(end)) at.child('endPort').invalid(end, 'may not be specified when `port` is not specified')
}

function checkBlock(block: R<IPBlock>, at: FieldPath): void {
  if (isEmpty(block.cidr)) {
    at.child('cidr').required()
    return
  }
  const range = parseCIDR(block.cidr)
  if (range === undefined) {
    at.child('cidr').invalidAll(block.cidr, validateCIDR(block.cidr))
    return
  }
  for (const [i, text] of (block.except ?? []).entries()) {
    const here = at.child('except').index(i)
    const except = parseCIDR(text)
    here.invalidAll(text, validateCIDR(text))
    if (except === undefined) continue
    const inside = except.address.family === range.address.family && except.prefixLength > range.prefixLength
    if (!inside || !samePrefix(except.address.bytes, range.address.bytes, range.prefixLength)) {
      here.invalid(text, 'must be a strict subset of `cidr`')
    }
  }
}

function samePrefix(a: Uint8Array, b: Uint8Array, bits: number): boolean {
  for (let bit = 0; bit < bits; bit++) {
    const mask = 0x80 >> (bit & 7)
    if (((a[bit >> 3] ?? 0) & mask) !== ((b[bit >> 3] ?? 0) & mask)) return false
  }
  return true
}

function checkPeer(peer: R<NetworkPolicyPeer>, at: FieldPath): void {
  checkLabelSelector(peer.podSelector, at.child('podSelector'))
  checkLabelSelector(peer.namespaceSelector, at.child('namespaceSelector'))
  if (isSet(peer.ipBlock)) checkBlock(peer.ipBlock, at.child('ipBlock'))
  const others = isSet(peer.podSelector) || isSet(peer.namespaceSelector)
  if (!others && !isSet(peer.ipBlock)) at.required('must specify a peer')
  else if (others && isSet(peer.ipBlock)) at.forbidden('may not specify both ipBlock and another peer')
}

function checkPolicy(policy: DeepReadonly<NetworkPolicy>, report: Report): void {
  checkMetadata(policy, report, { namespaced: true })
  const { podSelector, ingress, egress, policyTypes = [] } = policy.spec ?? {}
  const at = report.at('spec')
  checkLabelSelector(podSelector, at.child('podSelector'))
  for (const [name, rules] of [['ingress', ingress] as const, ['egress', egress] as const]) {
    for (const [i, rule] of (rules ?? []).entries()) {
      const here = at.child(name).index(i)
      for (const [j, port] of (rule.ports ?? []).entries()) checkPort(port, here.child('ports').index(j))
      const [member, peers] =
        'from' in rule ? (['from', rule.from] as const) : (['to', 'to' in rule ? rule.to : undefined] as const)
      for (const [j, peer] of (peers ?? []).entries()) checkPeer(peer, here.child(member).index(j))
    }
  }
  if (policyTypes.length > 2) {
    at.child('policyTypes').invalid(goText('&[]networking.PolicyType{}'), 'may not specify more than two policyTypes')
    return
  }
  for (const [i, type] of policyTypes.entries()) {
    if (!directions.includes(type)) at.child('policyTypes').index(i).notSupported(type, directions)
  }
}

export const networkPolicyStrategy = defineStrategy<NetworkPolicy>({
  defaults(policy) {
    const { spec } = policy
    if (!isSet(spec)) return
    for (const rule of [...(spec.ingress ?? []), ...(spec.egress ?? [])]) {
      for (const port of rule.ports ?? []) port.protocol ??= 'TCP'
    }
    if (isEmpty(spec.policyTypes)) spec.policyTypes = isEmpty(spec.egress) ? ['Ingress'] : ['Ingress', 'Egress']
  },
  prepareForCreate(policy) {
    startGeneration(policy)
  },
  prepareForUpdate(policy, old) {
    raiseGeneration(policy, old, 'spec')
  },
  validate(policy, context) {
    return findings(context, (report) => checkPolicy(policy, report))
  },
  validateUpdate(policy, old, context) {
    return findings(context, (report) => {
      checkPolicy(policy, report)
      checkMetadataUpdate(policy, old, report)
      // The specification is checked again, as on the stock server.
      const again = findings(context, (own) => checkPolicy(policy, own))
      report.add(again.filter((error) => error.field.startsWith('spec')))
    })
  },
})

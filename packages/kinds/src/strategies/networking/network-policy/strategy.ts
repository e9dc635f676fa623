/** NetworkPolicy. */

import { parseCIDR } from '@krmkit/base/ip'
import type { Work } from '@krmkit/base/work'
import type { DeepReadonly } from '@krmkit/meta'
import { validatePortName } from '@krmkit/meta/names'
import { done } from '../../../preparation.ts'
import type { IPBlock, NetworkPolicy, NetworkPolicyPeer, NetworkPolicyPort } from '../../../types/networking-v1.generated.ts'
import { isPlainRange, rangeWarnings } from '../../shared/address-warnings.ts'
import type { ContextErrorList, FieldPath } from '../../shared/field-path.ts'
import { forEachItem } from '../../shared/for-each.ts'
import { goTexts } from '../../shared/go-form.ts'
import { validateSelector } from '../../shared/labels.ts'
import { raiseGenerationExactly, startGeneration, validateMetadata, validateMetadataUpdate } from '../../shared/metadata.ts'
import { validatePortNumber } from '../../shared/numbers.ts'
import { keptTexts, validateIpRange } from '../../shared/older-addresses.ts'
import { creationRules, defineStrategy, updateRules, validateWith } from '../../shared/strategy.ts'
import { isEmpty, isSet, type R } from '../../shared/values.ts'
import { collectWarnings } from '../../shared/warning-list.ts'

const protocols = ['TCP', 'UDP', 'SCTP']
const directions = ['Ingress', 'Egress']

function validatePort(port: R<NetworkPolicyPort>, at: FieldPath): void {
  if (isSet(port.protocol) && !protocols.includes(port.protocol)) at.child('protocol').notSupported(port.protocol, protocols)
  const end = port.endPort
  if (typeof port.port === 'number') {
    validatePortNumber(port.port, at.child('port'))
    if (isSet(end)) {
      if (end < port.port) at.child('endPort').invalid(port.port, 'must be greater than or equal to `port`')
      validatePortNumber(end, at.child('endPort'))
    }
  } else if (isSet(port.port)) {
    if (isSet(end)) at.child('endPort').invalid(end, 'may not be specified when `port` is non-numeric')
    at.child('port').invalidAll(port.port, validatePortName(port.port))
  } else if (isSet(end)) at.child('endPort').invalid(end, 'may not be specified when `port` is not specified')
}

function validateBlock(block: R<IPBlock>, at: FieldPath, kept: ReadonlySet<string>): Work {
  if (isEmpty(block.cidr)) {
    at.child('cidr').required()
    return done
  }
  validateIpRange(block.cidr, at.child('cidr'), kept)
  const range = parseCIDR(block.cidr)
  if (range === undefined) return done
  return forEachItem(block.except, (text, i) => {
    const here = at.child('except').index(i)
    const except = parseCIDR(text)
    validateIpRange(text, here, kept)
    if (except === undefined) return
    const inside = except.address.family === range.address.family && except.prefixLength > range.prefixLength
    if (!inside || !samePrefix(except.address.bytes, range.address.bytes, range.prefixLength)) {
      here.invalid(text, 'must be a strict subset of `cidr`')
    }
  })
}

function samePrefix(a: Uint8Array, b: Uint8Array, bits: number): boolean {
  for (let bit = 0; bit < bits; bit++) {
    const mask = 0x80 >> (bit & 7)
    if (((a[bit >> 3] ?? 0) & mask) !== ((b[bit >> 3] ?? 0) & mask)) return false
  }
  return true
}

function* validatePeer(peer: R<NetworkPolicyPeer>, at: FieldPath, kept: ReadonlySet<string>): Work {
  yield* validateSelector(peer.podSelector, at.child('podSelector'))
  yield* validateSelector(peer.namespaceSelector, at.child('namespaceSelector'))
  if (isSet(peer.ipBlock)) yield* validateBlock(peer.ipBlock, at.child('ipBlock'), kept)
  const others = isSet(peer.podSelector) || isSet(peer.namespaceSelector)
  if (!others && !isSet(peer.ipBlock)) at.required('must specify a peer')
  else if (others && isSet(peer.ipBlock)) at.forbidden('may not specify both ipBlock and another peer')
}

/** @param old the stored policy, whose ranges stay valid. */
function* validatePolicy(policy: DeepReadonly<NetworkPolicy>, errors: ContextErrorList, old?: DeepReadonly<NetworkPolicy>): Work {
  const kept = keptTexts(old === undefined ? undefined : rangesOf(old))
  yield* validateMetadata(policy, errors, { namespaced: true })
  const { podSelector, ingress, egress, policyTypes = [] } = policy.spec ?? {}
  const at = errors.child('spec')
  yield* validateSelector(podSelector, at.child('podSelector'))
  for (const [name, rules] of [['ingress', ingress] as const, ['egress', egress] as const]) {
    for (const [i, rule] of (rules ?? []).entries()) {
      const here = at.child(name).index(i)
      yield* forEachItem(rule.ports, (port, j) => validatePort(port, here.child('ports').index(j)))
      const [member, peers] =
        'from' in rule ? (['from', rule.from] as const) : (['to', 'to' in rule ? rule.to : undefined] as const)
      for (const [j, peer] of (peers ?? []).entries()) {
        yield* validatePeer(peer, here.child(member).index(j), kept)
        yield
      }
      yield
    }
  }
  if (policyTypes.length > 2) {
    at.child('policyTypes').invalid(goTexts('networking.PolicyType', policyTypes), 'may not specify more than two policyTypes')
    return
  }
  for (const [i, type] of policyTypes.entries()) {
    if (!directions.includes(type)) at.child('policyTypes').index(i).notSupported(type, directions)
  }
}

function rangesOf({ spec }: DeepReadonly<NetworkPolicy>): string[] {
  const peers = [
    ...(spec?.ingress ?? []).flatMap(({ from }) => from ?? []),
    ...(spec?.egress ?? []).flatMap(({ to }) => to ?? []),
  ]
  return peers.flatMap(({ ipBlock }) => (isSet(ipBlock) ? [ipBlock.cidr, ...(ipBlock.except ?? [])] : []))
}

function blockWarnings(policy: DeepReadonly<NetworkPolicy>): string[] {
  return collectWarnings((texts) => addBlockWarnings(policy, texts))
}

function addBlockWarnings(policy: DeepReadonly<NetworkPolicy>, texts: string[]): void {
  const check = ({ cidr, except }: R<IPBlock>, path: string): void => {
    if (!isPlainRange(cidr)) texts.push(...rangeWarnings(`${path}.cidr`, cidr))
    for (const [k, range] of (except ?? []).entries()) {
      if (!isPlainRange(range)) texts.push(...rangeWarnings(`${path}.except[${k}]`, range))
    }
  }
  for (const [i, { from }] of (policy.spec?.ingress ?? []).entries())
    for (const [j, { ipBlock }] of (from ?? []).entries())
      if (isSet(ipBlock)) check(ipBlock, `spec.ingress[${i}].from[${j}].ipBlock`)
  for (const [i, { to }] of (policy.spec?.egress ?? []).entries())
    for (const [j, { ipBlock }] of (to ?? []).entries()) if (isSet(ipBlock)) check(ipBlock, `spec.egress[${i}].to[${j}].ipBlock`)
}

export const networkPolicyStrategy = defineStrategy<NetworkPolicy>({
  distinctEmpties: [['spec']],
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
  prepareForUpdate: (policy, old) => raiseGenerationExactly(policy, old, 'spec'),
  warnings: blockWarnings,
  validate: creationRules((errors, policy) => validatePolicy(policy, errors)),
  validateUpdate: updateRules(function* (errors, policy, old, context) {
    // kube-apiserver before 1.36 validates the object twice on update.
    if (!context.features.release.atLeast('1.36')) yield* validatePolicy(policy, errors, old)
    yield* validateMetadataUpdate(policy, old, errors)
    const again = yield* validateWith(context, (own) => validatePolicy(policy, own, old))
    errors.add(again.filter((error) => error.field.startsWith('spec')))
  }),
})

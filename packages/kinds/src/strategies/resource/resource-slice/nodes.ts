/** Nodes whose pods can use the devices of a slice. */

import type { Work } from '@krmkit/base/work'
import { nameRules } from '@krmkit/meta'
import type { ResourceSliceSpec } from '../../../types/resource-v1beta1.generated.ts'
import type { FieldPath } from '../../shared/field-path.ts'
import { validateNodeSelector } from '../../shared/node-selector.ts'
import { isSet, type R } from '../../shared/values.ts'
import { goNodeSelectorTerms } from '../go-form.ts'

const oneOf = 'exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required'

export function validateNodeName(name: string, at: FieldPath): void {
  at.invalidAll(name, nameRules.dns1123Subdomain(name, false))
}

/** @param zeroIsAbsent a node name that is empty, or `allNodes` that is false, is that of a version without absent values. */
export function* validateSliceNodes(spec: R<Partial<ResourceSliceSpec>>, at: FieldPath, zeroIsAbsent: boolean): Work {
  const { nodeName, nodeSelector, allNodes, perDeviceNodeSelection } = spec
  const given: string[] = []
  if (isSet(nodeName) && nodeName !== '') {
    given.push('`nodeName`')
    validateNodeName(nodeName, at.child('nodeName'))
  } else if (nodeName === '' && !zeroIsAbsent) {
    at.child('nodeName').invalid(nodeName, 'must be either unset or set to a non-empty string')
  }
  if (isSet(nodeSelector)) {
    given.push('`nodeSelector`')
    const here = at.child('nodeSelector')
    yield* validateNodeSelector(nodeSelector, here)
    const terms = nodeSelector.nodeSelectorTerms
    if (terms?.length !== 1) {
      here.child('nodeSelectorTerms').invalid(goNodeSelectorTerms(terms), 'must have exactly one node selector term')
    }
  }
  if (allNodes === true) given.push('`allNodes`')
  else if (allNodes === false && !zeroIsAbsent) at.child('allNodes').invalid(false, 'must be either unset or set to true')
  if (perDeviceNodeSelection === true) given.push('`perDeviceNodeSelection`')
  else if (perDeviceNodeSelection === false) {
    at.child('perDeviceNodeSelection').invalid(false, 'must be either unset or set to true')
  }
  if (given.length === 0) at.required(oneOf)
  else if (given.length > 1) at.invalid(`{${given.join(', ')}}`, `${oneOf}, but multiple fields are set`)
}

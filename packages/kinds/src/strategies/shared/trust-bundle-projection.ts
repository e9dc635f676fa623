/** Trust bundles in projected volumes. */
import { goQuote } from '@krmkit/meta/go-text'
import type { ClusterTrustBundleProjection } from '../../types/core-v1.generated.ts'
import type { FieldPath } from './field-path.ts'
import { goPointer, goSelector, goStruct } from './go-form.ts'
import { validateSelector } from './labels.direct.ts'
import { validateFreePath } from './paths.ts'
import { validateSignerName } from './signer-name.ts'
import { trustBundleName } from './trust-bundle-name.ts'
import { isEmpty, isSet, type R } from './values.ts'

type Projection = R<ClusterTrustBundleProjection>

export function validateTrustBundleProjection(projection: Projection, at: FieldPath): void {
  const { name, signerName, labelSelector, path } = projection
  if (isSet(name) && isSet(signerName)) at.invalidText(printProjection(projection), 'only one of name and signerName may be used')
  else if (isSet(name)) {
    const here = at.child('name')
    if (name === '') here.required('must be a valid object name')
    const faults = trustBundleName(signerOf(name))(name, false)
    here.invalidAll(
      name,
      faults.map((fault) => `not a valid clustertrustbundlename: ${fault}`),
    )
    if (isSet(labelSelector))
      at.child('labelSelector').invalid(goSelector(labelSelector), 'labelSelector must be unset if name is specified')
  } else if (isSet(signerName)) {
    const here = at.child('signerName')
    if (signerName === '') here.required('must be a valid signer name')
    validateSignerName(signerName, here)
    validateSelector(labelSelector, at.child('labelSelector'))
  } else at.required('either name or signerName must be specified')
  if (isEmpty(path)) at.child('path').required()
  validateFreePath(path ?? '', at.child('path'))
}

/** The signer that the name of a bundle begins with. */
function signerOf(name: string): string {
  const end = name.lastIndexOf(':')
  return end < 0 ? '' : name.slice(0, end).replaceAll(':', '/')
}

function printProjection({ name, signerName, labelSelector, optional, path }: Projection): string {
  return goStruct('core.ClusterTrustBundleProjection', {
    Name: goPointer(name, 'string'),
    SignerName: goPointer(signerName, 'string'),
    LabelSelector: goPointer(labelSelector, 'v1.LabelSelector'),
    Optional: goPointer(optional, 'bool'),
    Path: goQuote(path ?? ''),
  })
}

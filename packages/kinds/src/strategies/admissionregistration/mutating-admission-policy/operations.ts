import type { MatchResources } from '../../../types/admissionregistration-v1alpha1.generated.ts'
import { validateEnum } from '../../shared/enums.ts'
import type { FieldPath } from '../../shared/field-path.ts'
import type { R } from '../../shared/values.ts'

const operations = ['*', 'CONNECT', 'CREATE', 'UPDATE']

/** A deletion has no object to change. */
export function validateOperations({ resourceRules }: R<MatchResources>, at: FieldPath): void {
  for (const rule of resourceRules ?? []) {
    for (const operation of rule.operations ?? [])
      validateEnum(operation, at.child('resourceRules').child('operations'), operations)
  }
}

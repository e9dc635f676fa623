import type { DeepReadonly } from '@krmkit/meta'
import type { CertificateSigningRequest, CertificateSigningRequestCondition } from '../../../types/certificates-v1.generated.ts'
import type { R } from '../../shared/values.ts'

/** The conditions of a type. */
export function conditionsOf(
  csr: DeepReadonly<CertificateSigningRequest> | undefined,
  type: string,
): readonly R<CertificateSigningRequestCondition>[] {
  return (csr?.status?.conditions ?? []).filter((condition) => condition.type === type)
}

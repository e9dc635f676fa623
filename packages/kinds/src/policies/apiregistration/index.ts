import type { KindPolicy } from '../../interfaces.ts'
import { apiServicePolicy } from './api-service.ts'

/** Policies of the group, by `group/Kind`. */
export const apiRegistrationPolicies: Readonly<Record<string, KindPolicy>> = {
  'apiregistration.k8s.io/APIService': apiServicePolicy,
}

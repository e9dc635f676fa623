import type { Strategy } from '../../interfaces.ts'
import { apiServiceStrategy } from './api-service.ts'

/** Policies of the group, by `group/Kind`. */
export const apiRegistrationStrategies: Readonly<Record<string, Strategy>> = {
  'apiregistration.k8s.io/APIService': apiServiceStrategy,
}

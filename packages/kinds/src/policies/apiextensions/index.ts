import type { KindPolicy } from '../../interfaces.ts'
import { customResourceDefinitionPolicy } from './custom-resource-definition.ts'

export const apiextensionsPolicies: Readonly<Record<string, KindPolicy>> = {
  'apiextensions.k8s.io/CustomResourceDefinition': customResourceDefinitionPolicy,
}

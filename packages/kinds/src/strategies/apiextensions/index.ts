import type { Strategy } from '../../interfaces.ts'
import { customResourceDefinitionStrategy } from './custom-resource-definition.ts'

export const apiextensionsStrategies: Readonly<Record<string, Strategy>> = {
  'apiextensions.k8s.io/CustomResourceDefinition': customResourceDefinitionStrategy,
}

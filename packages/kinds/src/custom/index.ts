/** Custom resources: definitions of resources from a CustomResourceDefinition, and rules about the definition itself. */
export type { ConversionPurpose, ObjectConversion } from '../object-conversion.ts'
export { approvalOf, isProtectedGroup } from '../strategies/apiextensions/custom-resource-definition/approval.ts'
export { hasInvalidCaBundle } from '../strategies/apiextensions/custom-resource-definition/conversion.ts'
export { cleanupFinalizer, setDefinitionCondition } from '../strategies/apiextensions/custom-resource-definition/strategy.ts'
export { type CustomDefinitionOptions, customDefinitions } from './custom-definitions.ts'
export { type CustomResources, customResources, loadCustomResources } from './load-custom-resources.ts'
export type { ObjectConverter } from './object-converter.ts'

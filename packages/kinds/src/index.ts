export {
  builtInKinds,
  builtInTypes,
  type Catalog,
  type CatalogGroup,
  type CatalogOptions,
  createCatalog,
} from './catalog/catalog.ts'
export { deprecationWarning } from './catalog/deprecation.ts'
export { type KindLifecycle, type LifecycleChange, readLifecycle } from './catalog/lifecycle.ts'
export { compareGroups, compareVersions, groupPriority } from './catalog/priorities.ts'
export { profileGroup, stockGroup } from './catalog/profile.ts'
export { parseRuntimeConfig, type RuntimeConfig } from './catalog/runtime-config.ts'
export { type Convert, conversionBetween } from './conversions/index.ts'
export { type CustomDefinitionOptions, customDefinitions } from './custom/custom-definitions.ts'
export { type JsonPath, jsonPath } from './custom/json-path.ts'
export type { ObjectConverter } from './custom/object-converter.ts'
export { modelFiles } from './data/index.generated.ts'
export { defineResource } from './defined/define-resource.ts'
export type {
  DefinedKind,
  DraftOf,
  MemberSchema,
  ObjectOf,
  ResourceHandle,
  ResourceOptions,
  ResourceSource,
  ResourceStrategy,
  VersionConversion,
  VersionOptions,
} from './defined/interfaces.ts'
export { KindsError, type KindsErrorCode } from './errors.ts'
export type { KindHandle } from './handles/kind-handle.ts'
export type * from './interfaces.ts'
export { defaultPrinter } from './printers/default.ts'
export { humanDuration } from './printers/duration.ts'
export { printers } from './printers/index.ts'
export { approvalOf, isProtectedGroup } from './strategies/apiextensions/approval.ts'
export { hasBadBundle } from './strategies/apiextensions/conversion.ts'
export { cleanupFinalizer, setDefinitionCondition } from './strategies/apiextensions/custom-resource-definition.ts'
export {
  allocateService,
  type ServiceAllocation,
  type ServiceUse,
  serviceHoldings,
  serviceUse,
} from './strategies/core/service-allocation.ts'
export { mandatoryFlowSchemas, mandatoryPriorityLevels } from './strategies/flowcontrol/mandatory.ts'
export { policies } from './strategies/index.ts'
export { missingMembers } from './strategies/required-members.ts'

export type * from './allocation-types.ts'
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
export { printerOf } from './catalog/load-printer.ts'
export { parseRuntimeConfig, type RuntimeConfig } from './catalog/runtime-config.ts'
export { type Convert, conversionBetween } from './conversions/index.ts'
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
export type { KindHandle } from './group-versions/kind-handle.ts'
export type * from './interfaces.ts'
export { KindsError, type KindsErrorCode } from './kinds-error.ts'
export type * from './marker-rule-types.ts'
export { preparationWork, runPreparation } from './preparation.ts'
export { defaultPrinter } from './printers/default.ts'
export { runValidation, validationWork } from './validation.ts'

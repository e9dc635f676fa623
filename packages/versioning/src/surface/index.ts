/** Comparison of API surfaces: releases, OpenAPI documents, CustomResourceDefinitions, resource definitions and metrics. */
export { type CompareSurfacesOptions, compareSurfaces } from './compare-surfaces.ts'
export { isElementList, parseCalendar, surfaceOfElements, surfaceOfMetrics } from './elements.ts'
export {
  type ApiSurface,
  type SurfaceChange,
  type SurfaceElement,
  type SurfaceKind,
  type SurfaceMember,
  type SurfaceRule,
  type SurfaceSchema,
  surfaceRules,
} from './interfaces.ts'
export {
  joinSurfaces,
  surfaceOfCustomResources,
  surfaceOfDefinitions,
  surfaceOfOpenApi,
  surfaceOfRelease,
} from './sources.ts'

export { type FieldLifecycle, fieldLifecycles } from './fields.ts'
export { releases } from './release-names.ts'
export { groupsAt, type ReleaseGroup, type ReleaseResource, resourcesAt, storageVersionAt } from './resources.ts'

export { type Conflict, formatConflicts } from './conflict.ts'
export { type Converter, identityConverter, type TypedValue } from './converter.ts'
export type { Managers, VersionedSet } from './managers.ts'
export { type ApplyOutcome, applyManager, type UpdaterOptions, updateManagers, type Write } from './updater.ts'

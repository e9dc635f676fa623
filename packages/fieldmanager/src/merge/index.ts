export { type Conflict, conflictSet, conflictsOf, formatConflicts } from './conflict.ts'
export { type Converter, identityConverter, type TypedValue } from './converter.ts'
export { differentManagers, equalManagers, type Managers, type VersionedSet } from './managers.ts'
export { type ApplyOutcome, applyManager, type UpdaterOptions, updateManagers, type Write } from './updater.ts'

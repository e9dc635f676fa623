export {
  type ManifestDocument,
  type ManifestError,
  type ReadManifestOptions,
  type RepeatedMember,
  readManifest,
} from './manifest.ts'
export type { TextRange } from './text-lines.ts'

export {
  type ManifestDocument,
  type ManifestError as ManifestFault,
  type ReadManifestOptions,
  type RepeatedMember,
  readManifest,
} from './manifest.ts'
export type { TextRange } from './text-lines.ts'

export {
  type ManifestDocument,
  type ManifestError,
  type ManifestPlace,
  type ReadManifestOptions,
  type RepeatedMember,
  readManifest,
} from './manifest.ts'
export { type ChangeDocument, type RewrittenManifest, rewriteManifest } from './rewrite/rewrite-manifest.ts'
export type { TextRange } from './text-lines.ts'

import { createTypeSource, type TypeSource } from '@krmkit/schema'

/** The types of some groups, put together when first asked for. Only a cache: the same files always give the same types. */
export function lazyTypes(files: Readonly<Record<string, string>>): () => TypeSource {
  let source: TypeSource | undefined
  return () => {
    source ??= createTypeSource(files)
    return source
  }
}

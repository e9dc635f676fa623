import type { TestHost } from './host.ts'
import { TestingError } from './testing-error.ts'

/** A runtime without files, ports and certificates; operations that need them reject with `Unsupported`. */
export const webHost: TestHost = {
  manifestFiles: (path) => unsupported(`manifests are read from files only in Node: ${path}; give their objects`),
  saveState: () => unsupported('objects are saved only in Node'),
  savedTimeMs: () => unsupported('saved objects are read only in Node'),
  restoreState: () => unsupported('saved objects are read only in Node'),
  writeFile: (path) => unsupported(`files are written only in Node: ${path}`),
  createAuthority: () => undefined,
  createKubeconfigs: () => ({
    write: () => unsupported('kubeconfigs are written only in Node'),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  }),
}

function unsupported(message: string): Promise<never> {
  return Promise.reject(new TestingError({ code: 'Unsupported', message }))
}

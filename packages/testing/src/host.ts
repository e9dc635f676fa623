import type { CertificateSigners, SignerRules } from '@krmkit/certificates'
import type { Clock, NamingProfile, UserInfo } from '@krmkit/meta'
import type { Handler } from '@krmkit/protocol'
import type { Storage } from '@krmkit/storage'
import type { KubeconfigFile } from './kubeconfig.ts'
import type { ManifestFile } from './manifests.ts'

/** The runtime facilities of a test server: files, ports and certificates. */
export interface TestHost {
  /** Reads a file, or the manifests of a folder and its subfolders by name. */
  manifestFiles(path: string): Promise<readonly ManifestFile[]>
  /** @throws TestingError `InvalidState` when the folder holds other files */
  saveState(folder: string, state: { readonly storage: Storage; readonly nowMs: number }): Promise<void>
  /** @throws TestingError `InvalidState` */
  savedTimeMs(folder: string): Promise<number>
  /** @throws TestingError `InvalidState` */
  restoreState(folder: string, storage: Storage): Promise<void>
  /** Creates missing folders. */
  writeFile(path: string, text: string): Promise<void>
  /** Creates the authority of the signers; undefined if the runtime cannot sign certificates. */
  createAuthority(options: { readonly startAtMs: number; readonly profile: NamingProfile }): HostAuthority | undefined
  /** @param listen serves on a port until the test server closes */
  createKubeconfigs(listen: Listen): Kubeconfigs
}

/** The authority of the signers of a test server and its forks. */
export interface HostAuthority {
  get(): Promise<{ readonly certificate: string }>
  signers(clock: Pick<Clock, 'now'>, rules?: SignerRules): CertificateSigners
  /** Returns the user of valid certificates of this authority. */
  identify(certificates: readonly Uint8Array[] | undefined, clock: Pick<Clock, 'now'>): UserInfo | undefined
}

export type Listen = <L extends AsyncDisposable>(start: (server: { readonly handle: Handler }) => Promise<L>) => Promise<L>

export interface Kubeconfigs extends AsyncDisposable {
  write(options: { readonly token: string; readonly namespace: string | undefined }): Promise<KubeconfigFile>
}

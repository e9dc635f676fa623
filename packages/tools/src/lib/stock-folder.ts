/** Finds the programs of kube-apiserver. */
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

const programs = ['etcd', 'kube-apiserver']

/** Why tools that need kube-apiserver skip. */
export const withoutStock = 'KRMKIT_PEER names no folder with etcd and kube-apiserver, nor are they on the path'

/** The folder with etcd and kube-apiserver: that of the environment variable KRMKIT_PEER, or one of the path; undefined without either. */
export function stockFolder(): string | undefined {
  const folders = [process.env.KRMKIT_PEER, ...(process.env.PATH ?? '').split(delimiter)]
  return folders.find(
    (folder) => folder !== undefined && folder !== '' && programs.every((name) => existsSync(join(folder, name))),
  )
}

/** The release of kube-apiserver in a folder: `1.33`. */
export function stockRelease(folder: string): string {
  const printed = execFileSync(join(folder, 'kube-apiserver'), ['--version'], { encoding: 'utf8' })
  const release = /v(\d+\.\d+)/.exec(printed)?.[1]
  if (release === undefined) throw new Error(`kube-apiserver --version prints ${JSON.stringify(printed)}`)
  return release
}

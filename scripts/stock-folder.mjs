/** Finds the programs of the stock server. */
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

const programs = ['etcd', 'kube-apiserver']

/** Why tools that need the stock server skip. */
export const withoutStock = 'KRMKIT_PEER names no folder with etcd and kube-apiserver, nor are they on the path'

/** The folder with etcd and kube-apiserver: that of the environment variable KRMKIT_PEER, or one of the path; undefined without either. */
export function stockFolder() {
  const folders = [process.env.KRMKIT_PEER, ...(process.env.PATH ?? '').split(delimiter)]
  return folders.find((folder) => folder && programs.every((name) => existsSync(join(folder, name))))
}

import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { dirname, extname, join } from 'node:path'
import type { TestHost } from './host.ts'
import { KubeconfigFiles } from './kubeconfig.ts'
import type { ManifestFile } from './manifests.ts'
import { restoreState, savedTimeMs, saveState } from './saved-state.ts'
import { TestAuthority } from './test-authority.ts'

const extensions = new Set(['.yaml', '.yml', '.json'])

export const nodeHost: TestHost = {
  ...{ manifestFiles, saveState, savedTimeMs, restoreState },
  writeFile: writeInFolder,
  createAuthority: (options) => new TestAuthority(options),
  createKubeconfigs: (listen) => new KubeconfigFiles(listen),
}

async function writeInFolder(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, text)
}

async function manifestFiles(path: string): Promise<ManifestFile[]> {
  if (!(await stat(path)).isDirectory()) return [{ path, text: await readFile(path, 'utf8') }]
  const names = (await readdir(path, { withFileTypes: true })).sort((a, b) => (a.name < b.name ? -1 : 1))
  const files: ManifestFile[] = []
  for (const entry of names) {
    const isManifest = entry.isDirectory() || extensions.has(extname(entry.name))
    if (isManifest) files.push(...(await manifestFiles(join(path, entry.name))))
  }
  return files
}

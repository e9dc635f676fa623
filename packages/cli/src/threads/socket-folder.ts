import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const prefix = 'krmkit-writer-'

/** Creates the folder of the sockets between a writer and its workers. Removes those of writers that have been killed. */
export async function createSocketFolder(): Promise<string> {
  const parent = tmpdir()
  const folders = (await readdir(parent)).filter((name) => name.startsWith(prefix))
  await Promise.all(folders.map((name) => removeStale(join(parent, name))))
  return mkdtemp(join(parent, prefix))
}

/** A folder without sockets may be that of a writer that starts; those of other users cannot be read. */
async function removeStale(folder: string): Promise<void> {
  const sockets = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith('.sock'))
  const refused = await Promise.all(sockets.map((name) => refusesConnections(join(folder, name))))
  if (sockets.length > 0 && refused.every(Boolean)) await rm(folder, { recursive: true, force: true }).catch(() => undefined)
}

/** Whether no process listens on the socket. */
function refusesConnections(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ path })
    socket.once('connect', () => {
      socket.destroy()
      resolve(false)
    })
    socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code === 'ECONNREFUSED'))
  })
}

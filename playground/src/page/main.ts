import { readFragment } from '../link.ts'
import { EditorPanel } from './editor-panel.ts'
import { create, find, inputValue, messageOf, scrolling } from './elements.ts'
import { examples } from './examples.ts'
import { setUpAccess, setUpOwnership, setUpWatch } from './object-panels.ts'
import { TerminalPanel } from './terminal-panel.ts'
import { WorkerClient } from './worker-client.ts'

/** Starts the playground. */

const releases = Array.from({ length: 13 }, (_, index) => `1.${33 - index}`)

const worker = new WorkerClient('worker.js')
const status = find('status', HTMLOutputElement)
const release = find('release', HTMLSelectElement)
const nodes = find('nodes', HTMLInputElement)
/** Number of simulated nodes when there are any. */
const nodeCount = 3
const refreshOwnership = setUpOwnership(worker)
const editor = new EditorPanel(worker, () => {
  const force = find('force', HTMLInputElement).checked ? ' --force-conflicts' : ''
  void terminal.run(`apply --server-side -f editor --field-manager ${JSON.stringify(inputValue('manager') || 'kubectl')}${force}`)
})
const terminal = new TerminalPanel({
  worker,
  manifests: () => editor.text,
  onDone: () => {
    void refreshOwnership()
    // A new definition changes what is valid.
    void editor.validate()
  },
})

async function start(): Promise<void> {
  for (const id of ['output', 'watch', 'problems']) scrolling(find(id, HTMLElement))
  for (const each of releases) release.append(create('option', '', each))
  const state = await readFragment(location.hash).catch((error: unknown) => {
    status.textContent = messageOf(error)
    return undefined
  })
  const isDamaged = state === undefined && status.textContent !== 'Starting the server…'
  if (state !== undefined) find('namespace', HTMLInputElement).value = state.namespace
  const starting = worker.call('start', state === undefined ? {} : { state })
  editor.text = state?.manifests ?? Object.values(examples)[0] ?? ''
  const started = await starting
  release.value = started.release
  release.disabled = false
  terminal.enable()
  setUpAccess(worker)
  setUpWatch(worker)
  const problem = started.failed === 0 ? '' : `; ${started.failed} requests of the link failed`
  if (!isDamaged) status.textContent = `Serving Kubernetes ${started.release}${problem}`
  document.documentElement.dataset.ready = 'true'
  performance.mark('ready')
  await setNodes(state === undefined || (state.nodes ?? 0) > 0)
}

async function setNodes(isWanted: boolean): Promise<void> {
  nodes.disabled = true
  nodes.checked = (await worker.call('nodes', { count: isWanted ? nodeCount : 0 })) > 0
  nodes.disabled = false
}

nodes.addEventListener('change', () => {
  setNodes(nodes.checked).catch((error: unknown) => {
    status.textContent = messageOf(error)
  })
})

release.addEventListener('change', async () => {
  try {
    status.textContent = `Serving Kubernetes ${await worker.call('release', { release: release.value })}`
    await editor.validate()
  } catch (error) {
    status.textContent = messageOf(error)
  }
})

find('share', HTMLButtonElement).addEventListener('click', async () => {
  try {
    history.replaceState(null, '', await worker.call('share', { manifests: editor.text, namespace: inputValue('namespace') }))
    await navigator.clipboard.writeText(location.href)
    status.textContent = 'The link is in the clipboard'
  } catch (error) {
    status.textContent = location.hash === '' ? messageOf(error) : 'The link is in the address bar'
  }
})

start().catch((error: unknown) => {
  status.textContent = messageOf(error)
})

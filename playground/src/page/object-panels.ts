import type { OwnedLine } from '../ownership.ts'
import { appendLine, create, find, inputValue, messageOf, scrolling } from './elements.ts'
import type { RunningCall, WorkerClient } from './worker-client.ts'

/** The panels for ownership, watches and access. */

const colors = 6

/** Shows the owners of an object line by line. */
export function setUpOwnership(worker: WorkerClient): () => Promise<void> {
  const target = find('ownership', HTMLElement)
  const show = async () => {
    const reference = {
      type: inputValue('ownership-type'),
      name: inputValue('ownership-name'),
      namespace: inputValue('namespace') || 'default',
    }
    try {
      showLines(target, await worker.call('ownership', reference))
    } catch (error) {
      find('legend', HTMLDivElement).replaceChildren()
      target.replaceChildren(create('p', 'error', messageOf(error)))
    }
  }
  onSubmit('ownership-form', show)
  // Shown again after commands, but not before it was asked for.
  return async () => {
    if (target.childElementCount > 0) await show()
  }
}

function showLines(target: HTMLElement, lines: readonly OwnedLine[]): void {
  const owners = [...new Set(lines.flatMap((line) => line.owners))]
  const colorOf = (owner: string | undefined) => (owner === undefined ? '' : `owner-${owners.indexOf(owner) % colors}`)
  find('legend', HTMLDivElement).replaceChildren(...owners.map((owner) => create('span', colorOf(owner), owner)))
  const items = lines.map(({ text, owners: [first, ...others] }) => {
    const names = [first, ...others].filter((owner) => owner !== undefined).join(', ')
    return create('li', colorOf(first), text, create('span', 'owners', names))
  })
  target.replaceChildren(scrolling(create('ol', 'lines', ...items)))
}

/** Streams the rows of a resource as they change. */
export function setUpWatch(worker: WorkerClient): void {
  const log = find('watch', HTMLDivElement)
  const button = find('watch-button', HTMLButtonElement)
  let running: RunningCall<number> | undefined
  button.disabled = false
  onSubmit('watch-form', async () => {
    if (running !== undefined) return running.stop()
    log.replaceChildren()
    const given = { line: `get ${JSON.stringify(inputValue('watch-type'))} -A -w`, manifests: '', namespace: 'default' }
    running = worker.start('run', given, (text, isError) => appendLine(log, text, isError ? 'error' : ''))
    button.textContent = 'Stop'
    try {
      await running.result
    } catch (error) {
      appendLine(log, messageOf(error), 'error')
    }
    running = undefined
    button.textContent = 'Start'
  })
}

/** Explains whether a user may do something, and why. */
export function setUpAccess(worker: WorkerClient): void {
  const target = find('access', HTMLElement)
  onSubmit('access-form', async () => {
    const user = inputValue('access-user')
    const question = {
      user,
      groups: inputValue('access-groups')
        .split(/[\s,]+/)
        .filter((group) => group !== ''),
      verb: inputValue('access-verb'),
      resource: inputValue('access-resource'),
      namespace: inputValue('namespace'),
      name: '',
    }
    try {
      const { allowed, reasons, holders } = await worker.call('access', question)
      const list = (texts: readonly string[]) => create('ul', '', ...texts.map((text) => create('li', '', text)))
      target.replaceChildren(
        create(
          'p',
          allowed ? 'added' : 'error',
          create(
            'strong',
            '',
            `${allowed ? 'yes' : 'no'}: ${user} ${allowed ? 'may' : 'may not'} ${question.verb} ${question.resource}`,
          ),
        ),
        list(reasons.length > 0 ? reasons : ['No binding applies to this user here.']),
        create('h3', '', 'Allowed subjects'),
        list(holders.length > 0 ? holders : ['Only members of the group system:masters.']),
      )
    } catch (error) {
      target.replaceChildren(create('p', 'error', messageOf(error)))
    }
  })
}

function onSubmit(id: string, run: () => Promise<void> | void): void {
  find(id, HTMLFormElement).addEventListener('submit', (event) => {
    event.preventDefault()
    void run()
  })
}
